#!/usr/bin/env python3
"""random_tables.py [--seed=N] [--ftdump=PROGRAM] --as=ASSEMBLER --object=FILE GENERATION ARCH

Assembles random tables of a generation and checks that the second decoder (and
with --ftdump the first) finds in them what was put in. Prints its seed."""
import argparse
import subprocess
import sys

from compare import compare_file
from elf import Elf
from generate import program
from tables import detect, read_tables


def frame_fields(f):
    keys = "file line start_char end_char raised wide end_line end_offset defname".split()
    return {k: getattr(f, k) for k in keys if getattr(f, k) is not None}


def found(elf, table, d):
    chains = None
    if d.debug is not None and not table.opaque:
        chains = [[frame_fields(f) for f in table.debuginfo.chain(r)] if r else None
                  for r in d.debug]
    start = elf.functions_at(d.retaddr - 1)[1]
    return (d.retaddr - start, d.frame_size, d.flags, list(d.live), d.allocs, chains, d.form)


def meant(t, opaque):
    return (t.retaddr, t.frame_size, t.flags, list(t.live), t.allocs, None if opaque else t.chains,
            t.form)


def check_second(elf, tables, truth, generation):
    wrong = 0
    if sorted(t.symbol for t in tables) != sorted(truth):
        print("tables: %s" % [t.symbol for t in tables])
        wrong += 1
    if generation in "ABC" and detect(elf) != generation:
        print("detected as %s, is %s" % (detect(elf), generation))
        wrong += 1
    for table in tables:
        for i, (d, t) in enumerate(zip(table.descriptors, truth[table.symbol])):
            if found(elf, table, d) != meant(t, table.opaque):
                print("%s %d:\n  meant %s\n  found %s" % (table.symbol, i, meant(t, table.opaque),
                                                      found(elf, table, d)))
                wrong += 1
        if table.num != len(truth[table.symbol]) or table.symbol_size != table.end - table.address:
            print("%s: %d descriptors, %d bytes of %d"
                  % (table.symbol, table.num, table.end - table.address,
                                                      table.symbol_size))
            wrong += 1
    return wrong


def main():
    p = argparse.ArgumentParser(usage=__doc__)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--ftdump")
    p.add_argument("--as", dest="assembler", required=True)
    p.add_argument("--object", required=True)
    p.add_argument("generation")
    p.add_argument("arch")
    args = p.parse_args()
    print("seed %d" % args.seed)
    text, truth = program(args.seed, args.generation, args.arch)
    subprocess.run([args.assembler, "-o", args.object, "-"], input=text.encode(), check=True)
    with open(args.object, "rb") as f:
        elf = Elf(f.read())
    tables = read_tables(elf, args.generation)
    wrong = check_second(elf, tables, truth, args.generation)
    if args.ftdump:
        wrong += compare_file(args.ftdump, args.object, [("", elf, tables)], args.generation,
                              ["--format=" + args.generation])
    print("%d descriptors, %d differences" % (sum(t.num for t in tables), wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
