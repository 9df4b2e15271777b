#!/usr/bin/env python3
"""random_verify.py OCAML FTDUMP ARCH --seed=N --count=N: compiles random programs with both real
compilers, each with other flags, and lets ftdump --verify look at the objects, and at every eighth
program linked. Whatever it finds is a false finding, but for what docs/findings.md has. The number
N of a program decides all of it: --seed=N --count=1 makes it again."""
import argparse
import collections
import pathlib
import re
import subprocess
import sys
import tempfile

import random_ocaml

VERSIONS = ["5.3", "5.4"]
FLAGS = ["-g", "-unsafe -inline 100", "-g -function-sections", "", "-g -unsafe", "-g -inline 1000"]
GROUPS = "structure,calls,alloc,frame,live,abi,debug"


def arguments():
    p = argparse.ArgumentParser()
    p.add_argument("ocaml")
    p.add_argument("ftdump")
    p.add_argument("arch")
    p.add_argument("--seed", type=int, required=True)
    p.add_argument("--count", type=int, required=True)
    p.add_argument("--functions", type=int, default=40)
    p.add_argument("--keep", help="folder for the programs")
    return p.parse_args()


def build(args, seed, where):
    """The files to look at, or what the compiler said."""
    version, flags = VERSIONS[seed % 2], FLAGS[seed // 2 % len(FLAGS)].split()
    name = "r%d" % seed
    (where / (name + ".ml")).write_text(random_ocaml.program(seed, args.functions))
    output = ["-o", name] if seed % 8 == 0 else ["-c"]
    run = subprocess.run(
        [args.ocaml, "ocamlopt", "--version=" + version, args.arch, "-w", "-a"] + flags + output +
        [name + ".ml"], cwd=where, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if run.returncode != 0:
        return None, run.stdout[:300]
    return [name + ".o"] + ([name] if seed % 8 == 0 else []), "%s %s" % (version, " ".join(flags))


def findings(text):
    """The first lines of each finding."""
    return re.findall(r"^(?:wrong|suspect) .*\n.*", text, re.M)


def is_known(args, said, finding):
    """Without -g failed bound checks share a call and one frame size (docs/findings.md)."""
    return args.arch in ("arm64", "riscv64") and "-g" not in said and " frame-size " in finding


def verify(args, where, file, decided):
    run = subprocess.run([args.ftdump, "--verify=" + GROUPS, file], cwd=where,
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    for rule, ok, skipped in re.findall(r"^  ([a-z-]+) +(\d+) +\d+ +\d+ +(\d+)$", run.stdout, re.M):
        decided[rule].update(ok=int(ok), skipped=int(skipped))
    found = findings(run.stdout)
    return found[:3] if found or run.returncode == 0 else [run.stdout[:300]]


def sweep(args, where):
    decided, bad, failed = collections.defaultdict(collections.Counter), 0, 0
    for seed in range(args.seed, args.seed + args.count):
        files, said = build(args, seed, where)
        if files is None:
            failed += 1
            print("%s: seed %d does not compile: %s" % (args.arch, seed, said), flush=True)
            continue
        for file in files:
            for f in verify(args, where, file, decided):
                if is_known(args, said, f):
                    continue
                bad += 1
                print("%s: seed %d (%s), %s:\n%s" % (args.arch, seed, said, file, f), flush=True)
        if args.keep is None:
            for f in where.glob("r%d*" % seed):
                f.unlink()
    return decided, bad, failed


def main():
    args = arguments()
    with tempfile.TemporaryDirectory() as t:
        decided, bad, failed = sweep(args, pathlib.Path(args.keep or t))
    for rule in ("frame-size", "live-agree"):
        n = decided[rule]
        print("%s: %s %d of %d" % (args.arch, rule, n["ok"], n["ok"] + n["skipped"]))
    print("%s: seeds %d to %d: %d do not compile, %d findings" % (
        args.arch, args.seed, args.seed + args.count - 1, failed, bad))
    return bad > 0 or failed * 20 > args.count


if __name__ == "__main__":
    sys.exit(main())
