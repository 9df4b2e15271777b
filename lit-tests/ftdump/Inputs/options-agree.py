# options-agree.py FOLDER: the options of --help, the man page, the completion
# and the option table are the same.
import os, re, subprocess, sys

folder = sys.argv[1]
read = lambda name: open(os.path.join(folder, name)).read()
found = lambda text: set(re.findall(r"--[a-z][a-z-]*[a-z]", text))
sets = {
    "--help": found(subprocess.run(["ftdump", "--help"], stdout=subprocess.PIPE, text=True).stdout),
    "ftdump.1": found(read("ftdump.1").replace("\\-", "-")),
    "ftdump.bash-completion": found(read("ftdump.bash-completion")),
    "options.c": {"--" + n for n in re.findall(r'^    \{"([a-z-]+)",', read("options.c"), re.M)},
}
want = sets["options.c"]
bad = False
for name, have in sets.items():
    for o in sorted(want ^ have):
        bad = True
        print("%s: %s %s" % (name, o, "missing" if o in want else "unknown to the program"))
sys.exit(bad)
