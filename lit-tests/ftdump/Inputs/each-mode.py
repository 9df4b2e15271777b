# each-mode.py FILE...: no mode takes these inputs: exit 3, one line on standard
# error, nothing on standard output, at most 64 MiB and 10 seconds.
import resource, subprocess, sys

MODES = ["--descriptors", "--summary", "--debuginfo", "--histogram", "--sizes", "--roundtrip",
         "--recode=A", "--lookup=1", "--disassemble", "--scan", "--output-style=csv"]
for name in sys.argv[1:]:
    for mode in MODES:
        p = subprocess.run(["ftdump", mode, name], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                           timeout=10)
        err = p.stderr.decode()
        head = p.stdout.count(b"\n")  # --output-style=csv has its heading
        if p.returncode != 3 or err.count("\n") != 1 or not err.startswith("ftdump: " + name + ":") or \
                head != (mode == "--output-style=csv"):
            sys.exit("%s %s: exit %d\n%s%s" % (mode, name, p.returncode, p.stdout.decode(), err))
if resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss > 64 * 1024:
    sys.exit("more than 64 MiB")
