#!/usr/bin/env python3
"""faults.py --arch=ARCH [--count=N] [--seed=N] [--programs=a,b] [--jobs=N] [--folder=DIR] [--verbose]

How many wrong frametables does the checking runtime find? Programs of this folder are linked
with framekit's runtime, one fault is put into the frametables of a copy (framekit-seed), and
the copy runs under every check. N faults per kind and architecture are drawn from the places
that the unedited program meets in a collection (FRAMEKIT_CHECK=sites=...).

Whether a fault matters is not asked of the checks:

  slots, registers  the *unedited* program runs with kill=SITE/LOCATION: after each collection
                    the block in that location is replaced by an address that faults, nothing
                    is checked. It matters when output or exit code change, or when the edited
                    program misbehaves without checks, as below.
  lengths           the return address was the entry of a collection
  frame sizes       the edited program misbehaves without checks, when every point collects and
                    the nursery moves (a walk may by luck miss no root that matters)

A fault counts as reported when the program ends with code 97 and the report names the return
address that was edited: as the one concerned, or as the one through whose frame size the walk came
to a frame with a bad root. Exit code 1: fewer than 98 % of those that matter, or a report or a
difference without a fault.
"""
import argparse
import collections
import concurrent.futures
import os
import random
import re
import shutil
import subprocess
import sys
import time

here = os.path.dirname(os.path.abspath(__file__))
top = os.path.join(here, "..", "..", "..")
BUILD = os.path.abspath(os.environ.get("BUILD", os.path.join(top, "build")))
OCAML = os.path.join(top, "qemu-ci", "ocaml")
SEED = os.path.join(BUILD, "bin", "framekit-seed")
SLOT_KINDS = ("drop-slot", "drop-register", "retype", "wrong-slot")
KINDS = SLOT_KINDS + ("length", "swap-lengths", "frame-size")

Fault = collections.namedtuple("Fault", "program kind site where")
Result = collections.namedtuple("Result", "fault matters reported report about origin")


class Program:
    def __init__(self, arch, name, folder):
        self.arch, self.name = arch, name
        self.folder = os.path.join(folder, name)
        os.makedirs(self.folder, exist_ok=True)
        shutil.copy(os.path.join(here, name + ".ml"), self.folder)
        runtime = os.path.join(BUILD, arch, "asmrun-5.3")
        subprocess.run([OCAML, "ocamlopt", arch, "-g", "-w", "-a", "-runtime-variant", "_fk", "-I",
                        runtime, name + ".ml", "-o", "prog"], cwd=self.folder, check=True)
        self.path = os.path.join(self.folder, "prog")
        self.patience = 300
        began = time.monotonic()
        self.want, err = self.run("")
        if self.want[0] != 0:
            sys.exit("%s: exit code %s unedited and unchecked: %s" % (name, self.want[0], err))
        self.run("all")
        self.patience = 5 + 10 * (time.monotonic() - began)

    def run(self, checks, path=None):
        """(exit code, stdout), stderr"""
        env = dict(os.environ, FRAMEKIT_CHECK=checks)
        if not checks:
            del env["FRAMEKIT_CHECK"]
        try:
            r = subprocess.run([OCAML, "run", self.arch, path or self.path], env=env,
                               cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               timeout=self.patience)
        except subprocess.TimeoutExpired:
            return ("timeout", b""), ""
        return (r.returncode, r.stdout), r.stderr.decode(errors="replace")

    def same(self, checks, path=None):
        return self.run(checks, path)[0] == self.want

    def census(self):
        """{site: {"entered": n, "frames": n, location: n}}"""
        log = os.path.join(self.folder, "sites")
        if not self.same("gc,sites=" + log):
            sys.exit("%s: differs when its sites are counted" % self.name)
        table = {}
        for line in open(log):
            site, *counts = line.split()
            table[site] = {k: int(n) for k, n in (c.rsplit("=", 1) for c in counts)}
        return table

    def faults(self, census):
        found = {}
        for kind in KINDS:
            out = subprocess.run([SEED, "--list", self.path, kind], stdout=subprocess.PIPE,
                                 check=True)
            places = [line.split() for line in out.stdout.decode().splitlines()]
            found[kind] = [Fault(self, kind, site, where) for site, where in places
                           if met(kind, census.get(site), where)]
        return found


def met(kind, counts, where):
    if not counts:
        return False
    key = where if kind in SLOT_KINDS else "frames" if kind == "frame-size" else "entered"
    return counts.get(key, 0) > 0


def try_fault(number, fault):
    p = fault.program
    edited = os.path.join(p.folder, "edited-%d" % number)
    subprocess.run([SEED, "--at=%s/%s" % (fault.site, fault.where), p.path, fault.kind, edited],
                   stdout=subprocess.DEVNULL, check=True)
    os.chmod(edited, 0o755)
    matters = True
    harmful = not p.same("gc,move", edited)
    if fault.kind in SLOT_KINDS:
        matters = harmful or not p.same("gc,kill=%s/%s" % (fault.site, fault.where))
    elif fault.kind == "frame-size":
        matters = harmful
    (code, _), err = p.run("all", edited)
    os.unlink(edited)
    named = [n.rstrip(",") for n in re.findall(r"(?:return address|reached through): 0x[0-9a-f]+ (\S+)", err)]
    first = re.search(r"framekit check: .*", err)
    about = code == 97 and re.search(r"framekit check: (unlisted-root|stale-pointer):", err)
    origin = re.search(r"\n    allocated (at: 0x|by C code, called at: 0x|by the runtime)", err)
    return Result(fault, matters, code == 97 and fault.site in named,
                  "exit code %s, %s: %s" % (code, " ".join(named), first and first.group(0)),
                  bool(about), bool(about and origin))


def unedited(p):
    ok = p.run("all")
    if ok[0] != p.want:
        print("%s: under every check, unedited: %s\n%s" % (p.name, ok[0][0], ok[1]))
    return ok[0] == p.want


def draw(per_program, count, rng):
    chosen = []
    for kind in KINDS:
        pool = sorted((f for found in per_program for f in found[kind]),
                      key=lambda f: (f.program.name,) + f[1:])
        rng.shuffle(pool)
        chosen += pool[:count]
    return chosen


def summary(arch, results):
    bad = 0
    for kind in KINDS:
        of_kind = [r for r in results if r.fault.kind == kind]
        matter = [r for r in of_kind if r.matters]
        reported = sum(r.reported for r in matter)
        print("%s: %s: %d seeded, %d matter, %d reported"
              % (arch, kind, len(of_kind), len(matter), reported))
        bad += len(matter) - reported
    print("%s: %d reports of a block that moved or died, %d say who made it" %
          (arch, sum(r.about for r in results), sum(r.origin for r in results)))
    total = sum(r.matters for r in results)
    rate = 100.0 * (total - bad) / max(total, 1)
    print("%s: total: %d seeded, %d matter, %d reported, %.1f %%"
          % (arch, len(results), total, total - bad, rate))
    return rate


def main():
    args = argparse.ArgumentParser()
    args.add_argument("--arch", required=True)
    args.add_argument("--count", type=int, default=2)
    args.add_argument("--seed", type=int, default=1)
    args.add_argument("--programs", default="seed,seed_data,seed_control")
    args.add_argument("--jobs", type=int, default=2)
    args.add_argument("--folder", required=True)
    args.add_argument("--verbose", action="store_true")
    a = args.parse_args()
    programs = [Program(a.arch, n, os.path.abspath(a.folder)) for n in a.programs.split(",")]
    clean = [unedited(p) for p in programs]
    print("%s: unedited: %d programs, %d reports" % (a.arch, len(clean), clean.count(False)))
    chosen = draw([p.faults(p.census()) for p in programs], a.count, random.Random(a.seed))
    with concurrent.futures.ThreadPoolExecutor(a.jobs) as pool:
        results = list(pool.map(try_fault, range(len(chosen)), chosen))
    for r in results:
        missed = r.matters and not r.reported
        if missed or a.verbose:
            print("%s: %s %s %s/%s: matters %s, %s"
                  % ("MISSED" if missed else "seen", r.fault.program.name,
                  r.fault.kind, r.fault.site, r.fault.where, r.matters, r.report))
    rate = summary(a.arch, results)
    sys.exit(0 if rate >= 98 and all(clean) else 1)


if __name__ == "__main__":
    main()
