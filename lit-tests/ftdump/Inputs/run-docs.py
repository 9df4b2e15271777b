# run-docs.py [--update] FILE.md...: runs the ```console blocks in one folder;
# the lines after "$ command" must be its output. A word after `console` names
# what the block needs (capstone). --update writes the output into the file.
import os, re, subprocess, sys, tempfile

update = "--update" in sys.argv
top = os.path.abspath(os.path.join(os.path.dirname(__file__), "../../.."))
bad = 0
for path in [a for a in sys.argv[1:] if not a.startswith("--")]:
    text = open(path).read()
    with tempfile.TemporaryDirectory() as tmp:
        os.symlink(top + "/lit-tests", tmp + "/lit-tests")
        os.symlink(top + "/qemu-ci", tmp + "/qemu-ci")

        def block(m):
            global bad
            if "capstone" in m.group(1) and "Capstone" not in subprocess.getoutput("ftdump --version"):
                return m.group(0)
            out = ""
            for command in re.findall(r"^\$ (.*)$", m.group(2), re.M):
                p = subprocess.run(["bash", "-c", command], cwd=tmp, stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT, text=True)
                out += "$ " + command + "\n" + p.stdout
            if out != m.group(2) and not update:
                bad += 1
                print("%s differs; it gives\n%s" % (path, out))
            return "```console%s\n%s```" % (m.group(1), out)

        new = re.sub(r"```console([^\n]*)\n(.*?)```", block, text, flags=re.S)
    if update:
        open(path, "w").write(new)
sys.exit(bad != 0)
