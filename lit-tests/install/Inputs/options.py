#!/usr/bin/env python3
"""options.py PREFIX: every option in a tool's --help is in its man page and in each shell's
completion, and the man page and the completions know no other."""
import glob
import os
import re
import subprocess
import sys

prefix = sys.argv[1]
COMMANDS = {"qemu-ci": ("run", "probe", "count", "ocaml", "setup")}
bad = 0


def long_options(text):
    return set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", text)) - {"--help"}


def said(tool):
    path = os.path.join(prefix, "bin", tool)
    calls = [[path, "--help"]] + [[path, c, "--help"] for c in COMMANDS.get(tool, ())]
    return "".join(subprocess.run(c, stdout=subprocess.PIPE, text=True, check=True).stdout
                   for c in calls)


def read(*parts):
    with open(os.path.join(prefix, "share", *parts)) as f:
        return f.read()


def compare(tool, where, found, wanted):
    global bad
    for what, names in (("lacks", wanted - found), ("knows of", found - wanted)):
        if names:
            bad = 1
            print("%s: %s %s %s" % (tool, where, what, " ".join(sorted(names))))


for path in sorted(glob.glob(os.path.join(prefix, "bin", "*"))):
    tool = os.path.basename(path)
    help_text = said(tool)
    wanted = long_options(help_text)
    page = os.path.join("man", "man1", tool + ".1")
    if os.path.exists(os.path.join(prefix, "share", page)):
        roff = re.sub(r"\\f[A-Z]", "", read(page).replace("\\-", "-"))
        # What the page says of another tool's options is in parentheses.
        compare(tool, "man page", long_options(re.sub(r"^\(--.*", "", roff, flags=re.M)), wanted)
    compare(tool, "bash", long_options(read("bash-completion", "completions", tool)), wanted)
    zsh = read("zsh", "site-functions", "_" + tool)
    compare(tool, "zsh", set(re.findall(r"^ *'(--[a-z][a-z-]*)", zsh, re.M)) - {"--help"}, wanted)
    compare(tool, "fish", {"--" + o for o in re.findall(r" -l ([a-z-]+)", read(
        "fish", "vendor_completions.d", tool + ".fish"))} - {"--help"}, wanted)
    print("%s: %d options" % (tool, len(wanted)))
sys.exit(bad)
