#!/usr/bin/env python3
"""quality.py [--arch=ARCH,...] [--only=NAME,...] [--keep]

Instructions that the OCaml programs of this folder execute and bytes of code they have,
compiled by cmmc against compiled by the real ocamlopt 5.3. Each is linked alone with the
real runtime and run once under QEMU, which counts; the same figures come out every time.

  whole  the program from its start to its end, runtime and C library included
  own    only what is executed in the code of the program's own module
  size   bytes of that code

Exit 1 when a limit is broken: geometric mean of instructions 1.10, one program 1.35, size 1.15.
"""
import math
import os
import re
import sys

here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, here)
import compare
from compare import cmm_run
from cmm_run import Failure

COUNT = os.path.join(cmm_run.TOP, "qemu-ci", "count")
ALL = ["amd64", "arm64", "power", "s390x", "riscv64"]
MEAN, SINGLE, SIZE = 1.10, 1.35, 1.15
# domains wait for each other in the runtime: how long depends on the machine's load
UNSTEADY = {"p_domains"}


def code_range(program, module):
    """Addresses of a module's code, from the linked program."""
    found = {}
    for line in cmm_run.run(["nm", program]).decode().split("\n"):
        m = re.match(r"([0-9a-f]+) . caml%s\.(code_begin|code_end)$" % module.capitalize(), line)
        if m:
            found[m.group(2)] = int(m.group(1), 16)
    return found["code_begin"], found["code_end"]


def measure(arch, work, name, program):
    """(instructions of the whole program, of the module's own code, bytes of that code)"""
    path = os.path.join(work, program)
    arch.tool("ocamlopt", "-g", "-ccopt", "-no-pie", "-o", program, name + ".cmx", cwd=work)
    low, high = code_range(path, name)
    ranges = path + ".ranges"
    with open(ranges, "w") as f:
        f.write("%x %x\n" % (low, high))
    out = cmm_run.run([COUNT, "--quiet", "--sysroot=" + arch.root, "--env=OCAMLRUNPARAM=l=4M",
                       "--ranges=" + ranges, arch.name, path], timeout=1200, ok=range(256))
    whole, own = [int(n) for n in out.split()]
    return whole, own, high - low


def mean(values):
    return math.exp(sum(math.log(v) for v in values) / len(values))


def report(name, rows):
    """Prints the table of an architecture; the list of broken limits."""
    print("%-8s %-14s %7s %7s %7s   instructions of ocamlopt's own code"
          % (name, "", "whole", "own", "size"))
    for n, r, real in rows:
        print("%-8s %-14s %7.3f %7.3f %7.3f   %d" % (name, n, *r, real[1]))
    bad = []
    steady = [row for row in rows if row[0] not in UNSTEADY]
    for k, (what, limit, single) in enumerate((("whole", MEAN, SINGLE), ("own", MEAN, SINGLE), ("size", SIZE, None))):
        of = steady if what == "whole" else rows
        m, (top, where) = mean([r[k] for _, r, _ in of]), max((r[k], n) for n, r, _ in of)
        print("%-8s %-5s geometric mean %.3f, largest %.3f (%s)" % (name, what, m, top, where))
        if m > limit or (single and top > single):
            bad.append("%s: %s: over the limit" % (name, what))
    return bad


def run_arch(name, names, keep):
    arch = cmm_run.Arch(name)
    work = cmm_run.workdir("quality")
    compare.compile_real(arch, names, work)
    real = {n: measure(arch, work, n, n + ".real") for n in names}
    compare.compile_ours(arch, names, work)
    rows = []
    for n in names:
        ours = measure(arch, work, n, n + ".ours")
        rows.append((n, [a / b for a, b in zip(ours, real[n])], real[n]))
    if keep:
        print("kept in " + work)
    else:
        cmm_run.remove(work)
    return report(name, rows)


def main(argv):
    archs, only, keep = ALL, None, False
    for a in argv:
        if a.startswith("--arch="):
            archs = a[7:].split(",")
        elif a.startswith("--only="):
            only = a[7:].split(",")
        elif a == "--keep":
            keep = True
        else:
            sys.exit(__doc__)
    bad = []
    for a in archs:
        bad += run_arch(a, compare.program_names(only, []), keep)
        sys.stdout.flush()
    for b in bad:
        print(b)
    return bad != []


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except Failure as e:
        sys.exit("error: %s" % e)
