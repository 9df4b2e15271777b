#!/usr/bin/env python3
"""random_programs.py --arch=ARCH[,ARCH] --seed=N --count=K [--batch=200] [--nursery=WORDS] [--size=S] [--keep]

Random Cmm programs (cmm-gen), K from seed N on: the interpreter and the compiled code must
print the same. Prints the seeds of programs that differ; one alone runs again with
--seed=SEED --count=1 --keep.
"""
import os
import sys

here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, here)
import cmm_run
from cmm_run import Failure

GEN = os.path.join(cmm_run.BUILD, "bin", "cmm-gen")
LINES = 6  # a program prints its seed, four results and its table


def by_seed(text):
    lines = text.decode().split()
    return {lines[i]: lines[i:i + LINES] for i in range(0, len(lines) - LINES + 1, LINES)}


def broken(source):
    """A copy of the source with the fault of CMM_BREAK (s/FROM/TO/), for the test of the test."""
    fault = os.environ.get("CMM_BREAK")
    if not fault:
        return source
    _, old, new, _ = fault.split("/")
    with open(source) as f, open(source + ".broken.cmm", "w") as g:
        g.write(f.read().replace(old, new))
    return source + ".broken.cmm"


def batch(archs, seed, count, options, env, keep):
    """Runs one unit everywhere; the list of what went wrong."""
    work = cmm_run.workdir("gen")
    source, entry = os.path.join(work, "gen.cmm"), "camlGen%d.entry" % seed
    with open(source, "wb") as f:
        f.write(cmm_run.run([GEN, "--seed=%d" % seed, "--count=%d" % count] + options))
    bad = []
    try:
        for a in archs:
            # byte order is the machine's: each has its own reference
            want = by_seed(cmm_run.run([cmm_run.CMMC, "--interpret", "--target=" + a.name,
                                        "--entry=" + entry, source]))
            if len(want) != count:
                bad.append("interpreter: seeds %d to %d: %d programs"
                           % (seed, seed + count - 1, len(want)))
                continue
            obj, exe = os.path.join(work, a.name + ".o"), os.path.join(work, a.name)
            a.cmmc("-c", "-o", obj, broken(source))
            sub = os.path.join(work, "link-" + a.name)
            os.mkdir(sub)
            a.program([obj], exe, sub)
            try:
                got = by_seed(a.execute(exe, env=env, timeout=300))
            except Failure as e:
                got = {}
                bad.append("%s: seeds %d to %d: %s"
                           % (a.name, seed, seed + count - 1, str(e)[:300]))
            for s in want:
                if got and got.get(s) != want[s]:
                    bad.append("%s: seed %s: got %s, expected %s"
                               % (a.name, s, got.get(s), want[s]))
    finally:
        if keep:
            print("kept in " + work)
        else:
            cmm_run.remove(work)
    return bad


def main(argv):
    archs, seed, count, size, options, env, keep = [], 1, 200, 200, [], {}, False
    for a in argv:
        if a.startswith("--arch="):
            archs = [cmm_run.Arch(n) for n in a[7:].split(",")]
        elif a.startswith("--seed="):
            seed = int(a[7:])
        elif a.startswith("--count="):
            count = int(a[8:])
        elif a.startswith("--batch="):
            size = int(a[8:])
        elif a.startswith("--nursery="):
            env["OCAMLRUNPARAM"] = "s=" + a[10:]
        elif a.startswith("--size="):
            options.append(a)
        elif a == "--keep":
            keep = True
        else:
            sys.exit(__doc__)
    print("seeds %d to %d on %s" % (seed, seed + count - 1, " ".join(a.name for a in archs)))
    bad = []
    for s in range(seed, seed + count, size):
        found = batch(archs, s, min(size, seed + count - s), options, env, keep)
        for b in found[:max(0, 20 - len(bad))]:
            print(b, flush=True)
        bad += found
    print("%d programs, %d differences" % (count, len(bad)))
    return bad != []


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except Failure as e:
        sys.exit("error: %s" % e)
