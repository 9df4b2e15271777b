# run-docs.py [--update] [--prepare=COMMAND] FILE.md...: does what a page shows, in one new folder
# where emitter, lit-tests, qemu-ci, stubs and build are the project's, and bin is searched for programs;
# COMMAND makes what the page takes for granted. A block whose
# first line names a file (```ocaml tree.ml) is written there. In ```console
# blocks the lines after "$ command" must be its output; a word after `console`
# says what the block needs (capstone). --update writes the output into the page.
import os, re, subprocess, sys, tempfile

update = "--update" in sys.argv
prepare = "".join(a[len("--prepare="):] for a in sys.argv if a.startswith("--prepare="))
top = os.path.abspath(os.path.join(os.path.dirname(__file__), ".."))
bad = 0
for path in [a for a in sys.argv[1:] if not a.startswith("--")]:
    text = open(path).read()
    with tempfile.TemporaryDirectory() as tmp:
        for name in ("emitter", "lit-tests", "qemu-ci", "stubs"):
            os.symlink(os.path.join(top, name), os.path.join(tmp, name))
        os.symlink(os.path.abspath(os.environ.get("BUILD", top + "/build")), tmp + "/build")

        os.mkdir(tmp + "/bin")
        env = dict(os.environ, PATH=tmp + "/bin:" + os.environ["PATH"])
        if prepare:
            subprocess.run(["bash", "-ec", prepare], cwd=tmp, env=env, check=True)

        def block(m):
            global bad
            if m.group(1) != "console":
                if m.group(2).strip():
                    open(os.path.join(tmp, m.group(2).strip()), "w").write(m.group(3))
                return m.group(0)
            if "capstone" in m.group(2) and "Capstone" not in subprocess.getoutput("ftdump --version"):
                return m.group(0)
            out = ""
            for command in re.findall(r"^\$ (.*)$", m.group(3), re.M):
                p = subprocess.run(["bash", "-c", command], cwd=tmp, env=env, text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
                out += "$ " + command + "\n" + p.stdout
            if out != m.group(3) and not update:
                bad += 1
                print("%s differs; it gives\n%s" % (path, out))
            return "```console%s\n%s```" % (m.group(2), out)

        new = re.sub(r"^```(\w*)([^\n]*)\n(.*?)^```", block, text, flags=re.S | re.M)
    if update:
        open(path, "w").write(new)
sys.exit(bad != 0)
