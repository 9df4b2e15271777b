#!/usr/bin/env python3
"""checked.py --arch=ARCH [--version=5.4] [--only=NAME,...] [--modes=GLOB] [--slice=K/N] [--jobs=N] [--times]

Every program of this folder, compiled by cmmc, linked with framekit's runtime and run under every
checking mode at full stress: it must print what the real ocamlopt's code prints on the real
runtime, with the same exit code and without a report.

At full stress a collection happens at every allocation and poll. Where a program's stacks are so
deep, or its heap so large, that this is quadratic, it happens at every Nth: PERIODS says which.
--slice=K/N: of all pairs of program and mode those with number K modulo N.
"""
import argparse
import concurrent.futures
import fnmatch
import os
import resource
import subprocess
import sys

here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, here)
import compare
from compare import cmm_run

# Each check alone, then together; N is the period.
MODES = ("gc=N", "major=N", "compact=N", "gc=N,move", "gc=N,roots", "gc=N,heap", "gc=N,lengths",
         "gc=N,stubs", "gc=N,seed=1", "all=N", "all=N,seed=2", "major=N,roots,heap",
         "compact=N,move,roots,lengths,stubs")

# Program: period of minor collections, and of those that look at the whole heap; (1, 1) if not here.
# Each collection walks p_deep's 200,000 frames; the others allocate 20,000 to 2,000,000 times.
PERIODS = {"p_deep": (1009, 20011), "p_lists": (7, 1009), "p_trees": (7, 1009),
           "p_arrays": (1, 101), "p_domains": (1, 29), "p_fused": (3, 307), "p_gc": (1, 101),
           "p_maps": (1, 101)}

ENVIRONMENT = {"OCAMLRUNPARAM": "s=256,l=4M"}


def checks(program, mode):
    minor, whole = PERIODS.get(program, (1, 1))
    heavy = "heap" in mode or "major" in mode or "compact" in mode
    return mode.replace("N", str(whole if heavy else minor))


def build(arch, names, work):
    """For each program NAME.real and NAME.ours."""
    compare.compile_real(arch, names, work)
    for n in names:
        arch.tool("ocamlopt", "-g", "-o", n + ".real", n + ".cmx", cwd=work)
    compare.compile_ours(arch, names, work)
    folder = os.path.join(cmm_run.BUILD, arch.name, "asmrun-" + arch.version)
    for n in names:
        arch.tool("ocamlopt", "-g", "-runtime-variant", "_fk", "-I", folder, "-o", n + ".ours",
                  n + ".cmx", cwd=work)


def used():
    u = resource.getrusage(resource.RUSAGE_CHILDREN)
    return u.ru_utime + u.ru_stime


def run(arch, program, mode=None):
    """(exit code, stdout), stderr, seconds of processor (right with one job)"""
    env = dict(os.environ, **ENVIRONMENT)
    if mode:
        env["FRAMEKIT_CHECK"] = mode
    began = used()
    try:
        r = subprocess.run(arch.ocaml + ["run", "--version=" + arch.version, arch.name, program],
                           env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=600)
    except subprocess.TimeoutExpired:
        return ("timeout", b""), "", used() - began
    return (r.returncode, r.stdout), r.stderr.decode(errors="replace"), used() - began


def main():
    args = argparse.ArgumentParser()
    args.add_argument("--arch", required=True)
    args.add_argument("--version", default="5.3")
    args.add_argument("--only", default=None)
    args.add_argument("--modes", default="*")
    args.add_argument("--slice", default="0/1")
    args.add_argument("--jobs", type=int, default=2)
    args.add_argument("--times", action="store_true")
    a = args.parse_args()
    arch = cmm_run.Arch(a.arch, a.version)
    k, n = map(int, a.slice.split("/"))
    pairs = [(p, m) for p in compare.program_names(None, []) for m in MODES][k::n]
    only = a.only.split(",") if a.only else None
    pairs = [(p, m) for p, m in pairs if fnmatch.fnmatch(m, a.modes)
             and (not only or p[2:] in only)]
    names = sorted({p for p, _ in pairs})
    work = cmm_run.workdir("checked")
    build(arch, names, work)
    want = {p: run(arch, os.path.join(work, p + ".real"))[0] for p in names}

    def one(pair):
        p, m = pair
        got, err, seconds = run(arch, os.path.join(work, p + ".ours"), checks(p, m))
        if a.times:
            print("%6.2f s %s %s" % (seconds, p, checks(p, m)), flush=True)
        if got == want[p]:
            return True
        print("%s under %s: exit code %s, real %s\n%s"
              % (p, checks(p, m), got[0], want[p][0], err[:2000]))
        return False

    with concurrent.futures.ThreadPoolExecutor(a.jobs) as pool:
        same = list(pool.map(one, pairs))
    print("%d programs, %d runs under checks, %d differences"
          % (len(names), len(same), same.count(False)))
    cmm_run.remove(work)
    return same.count(False) != 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except cmm_run.Failure as e:
        sys.exit("error: %s" % e)
