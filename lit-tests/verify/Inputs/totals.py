#!/usr/bin/env python3
"""totals.py [--update] FTDUMP SET SUITE-ARCH: what ftdump --verify says of the two compilers and of
all library objects of a Debian set, compared with totals/SUITE-ARCH.txt.

One line for each rule and kind of file: how often ok, wrong, suspect, not checked; then the reasons.
A finding that comes or goes is a difference of that file: look at it, then --update."""
import concurrent.futures
import difflib
import os
import re
import subprocess
import sys

GROUPS = "calls,alloc,frame,live,cfi,abi,debug"
HERE = os.path.dirname(os.path.abspath(__file__))


def kind(path):
    name = os.path.basename(path)
    return name if name in ("ocamlopt.opt", "ocamlc.opt") else "objects"


def files(root):
    for folder, _, names in os.walk(root):
        for name in sorted(names):
            path = os.path.join(folder, name)
            if os.path.islink(path) or not os.path.isfile(path):
                continue
            if name in ("ocamlopt.opt", "ocamlc.opt") or name.endswith((".a", ".o", ".cmxs")):
                yield path


def run(ftdump, path):
    p = subprocess.run([ftdump, "--verify=" + GROUPS, "--error-display=summary", path],
                       stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True)
    if p.returncode not in (0, 1, 2) and "no frametable" not in p.stderr:
        raise SystemExit("%s: exit %d: %s" % (path, p.returncode, p.stderr))
    return kind(path), p.stdout


def add(total, of, text):
    for line in text.splitlines():
        m = re.fullmatch(r"  ([a-z-]+) +(\d+) +(\d+) +(\d+) +(\d+)", line)
        if m:
            row = total.setdefault((of, m[1], ""), [0, 0, 0, 0])
            for i in range(4):
                row[i] += int(m[i + 2])
            continue
        m = re.fullmatch(r"  ([a-z-]+) +(\d+)  (.*)", line)
        if m:
            total.setdefault((of, m[1], m[3]), [0])[0] += int(m[2])


def text(total):
    out = ["# file         rule                 ok    wrong  suspect  not checked\n"]
    for (of, rule, reason), row in sorted(total.items()):
        if reason:
            out.append("%-14s %-16s %-8s not checked: %d %s\n" % (of, rule, "", row[0], reason))
        else:
            out.append("%-14s %-16s %8d %8d %8d %12d\n" % (of, rule, *row))
    return out


def main(args):
    update = args[0] == "--update"
    ftdump, root, name = args[1:] if update else args
    total = {}
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for of, out in pool.map(lambda p: run(ftdump, p), sorted(files(root))):
            add(total, of, out)
    path = os.path.join(HERE, "totals", name + ".txt")
    now = text(total)
    if update:
        with open(path, "w") as f:
            f.writelines(now)
        return 0
    with open(path) as f:
        diff = list(difflib.unified_diff(f.readlines(), now, "recorded", "now"))
    sys.stdout.writelines(diff or ["%s: %d lines as recorded\n" % (name, len(now) - 1)])
    return 1 if diff else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
