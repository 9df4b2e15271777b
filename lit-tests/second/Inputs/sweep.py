#!/usr/bin/env python3
"""sweep.py [--tier=full|long] [--ftdump=PROGRAM] [--update] [--totals=FILE] SUITE ARCH

Every native file of a Debian set (qemu-ci/ocaml fetch SUITE ARCH) through the
second decoder: its figures are compared with the lines of FILE
(lit-tests/corpus/totals.txt), and with --ftdump every field of every
descriptor with what PROGRAM says. --tier=full: small files of every kind only.
--update writes the set's lines into FILE instead of comparing them."""
import argparse
import difflib
import os
import re
import subprocess
import sys

from compare import compare_file
from decode import FIELDS, totals
from elf import Bad, Elf, members
from tables import read_tables

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
# The generation of each suite is known, so nothing is left to detection here.
GENERATION = {"bullseye": "B", "bookworm": "B", "trixie": "C", "forky": "C"}
SLICE = {"stdlib.a", "std_exit.o", "unix.cmxs", "str.cmxs", "str.a", "libasmrun.a", "dynlink.a",
         "ocamlbytecomp.a", "ocamllex.opt"}


def set_folder(suite, arch):
    done = subprocess.run([os.path.join(TOP, "qemu-ci", "ocaml"), "have", suite, arch],
                          stdout=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit("sweep.py: %s %s is not in the cache (qemu-ci/ocaml fetch)" % (suite, arch))
    return done.stdout.strip()


def native_files(folder):
    """(path, short name) of every ELF file and archive, links left out."""
    for where, folders, files in os.walk(folder):
        folders.sort()
        for f in sorted(files):
            path = os.path.join(where, f)
            if os.path.islink(path):
                continue
            with open(path, "rb") as file:
                if file.read(8)[:4] in (b"\x7fELF", b"!<ar"):
                    yield path, short_name(os.path.relpath(path, folder))


def short_name(path):
    return re.sub(r"^usr/lib/([a-z0-9_]+-linux-gnu/)?ocaml/([0-9.]+/)?", "lib/",
                  re.sub("^usr/bin/", "bin/", path))


def decode(path, generation):
    """[(member, Elf, [Table])]"""
    with open(path, "rb") as f:
        data = f.read()
    out = []
    for name, body in members(data):
        elf = Elf(body)
        out.append((name, elf, read_tables(elf, generation)))
    return out


def line_of(suite, arch, name, n):
    return " ".join(["%-8s %-7s %-40s" % (suite, arch, name)]
                    + ["%s=%d" % (f, n[f]) for f in FIELDS]) + "\n"


def sweep(args):
    """The set's lines of figures, and what differs from ftdump."""
    lines, wrong = [], 0
    for path, name in native_files(set_folder(args.suite, args.arch)):
        if args.tier == "full" and os.path.basename(path) not in SLICE:
            continue
        try:
            decoded = decode(path, GENERATION[args.suite])
        except Bad as e:
            sys.exit("sweep.py: %s: %s" % (path, e))
        n = totals(t for _, _, tables in decoded for t in tables)
        if not n["modules"]:
            continue
        lines.append(line_of(args.suite, args.arch, name, n))
        if args.ftdump:
            wrong += compare_file(args.ftdump, path, decoded, GENERATION[args.suite])
    return lines, wrong


def expected_lines(args):
    with open(args.totals) as f:
        every = f.readlines()
    return every, [l for l in every if l.split()[:2] == [args.suite, args.arch]]


def update(args, lines):
    every, old = expected_lines(args)
    kept = [l for l in every if l not in old and not l.startswith("#")]
    with open(args.totals, "w") as f:
        f.writelines([l for l in every if l.startswith("#")] + sorted(kept + lines))


def main():
    p = argparse.ArgumentParser(usage=__doc__)
    p.add_argument("--tier", choices=("full", "long"), default="long")
    p.add_argument("--update", action="store_true")
    p.add_argument("--ftdump")
    p.add_argument("--totals", default=os.path.join(TOP, "lit-tests", "corpus", "totals.txt"))
    p.add_argument("suite")
    p.add_argument("arch")
    args = p.parse_args()
    lines, wrong = sweep(args)
    if args.update:
        update(args, lines)
        return 0
    old = expected_lines(args)[1]
    if args.tier == "full":
        old = [l for l in old if os.path.basename(l.split()[2]) in SLICE]
    diff = list(difflib.unified_diff(sorted(old), sorted(lines), args.totals, "now", n=0))
    sys.stdout.writelines(diff)
    n = sum(int(re.search(r" descriptors=(\d+)", l).group(1)) for l in lines)
    print("%d files, %d descriptors%s, %d differences" % (
        len(lines), n, ", compared with ftdump" if args.ftdump else "", wrong + len(diff)))
    return 1 if diff or wrong or not lines else 0


if __name__ == "__main__":
    sys.exit(main())
