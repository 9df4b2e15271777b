"""bench.py BUILD TOP [ROUNDS]: framekit's profiler against the real OCaml 5.3 engine, in one run.

The two programs take turns; of each the best time counts, of ratios within a program the
median. Prints a table of ratios and the limit that each is held to; the exit code says how many
are above theirs."""
import os
import statistics
import subprocess
import sys
import tempfile

build, top = map(os.path.abspath, sys.argv[1:3])
rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 5
LINE = 64
LIMITS = {1e-4: 1.00, 1e-3: 1.00, 1e-2: 0.90, 1e-1: 0.80}
ocaml = os.path.join(top, "qemu-ci", "ocaml")
here = os.path.dirname(os.path.abspath(__file__))


def make(work):
    subprocess.run(["cp", os.path.join(here, "bench.ml"), work], check=True)
    ours = os.path.join(build, "amd64", "framekit_memprof_ocaml53.o")
    place = link(work, "ours", [ours])
    for pad in range(0, LINE, 4):
        with open(os.path.join(work, "pad.s"), "w") as f:
            f.write(".section .text.unlikely,\"ax\"\n.skip %d\n.section .note.GNU-stack\n"
                    % (LINE + pad))
        subprocess.run(["as", "-o", "pad.o", "pad.s"], cwd=work, check=True)
        if link(work, "real", ["pad.o"]) == place:
            return
    sys.exit("bench: the loop is not in the same place in both programs")


def link(work, name, extra):
    """Where in a cache line the loop of conses is: half a nanosecond depends on it."""
    subprocess.run([ocaml, "ocamlopt", "amd64", "-w", "-a", "-o", name] + extra + ["bench.ml"],
                   cwd=work, check=True)
    symbols = subprocess.run(["nm", name], cwd=work, check=True, capture_output=True,
                             text=True).stdout
    return next(int(line.split()[0], 16) % LINE for line in symbols.splitlines()
                if ".cons_" in line)


def run(work, program, workload, best):
    out = subprocess.run([ocaml, "run", "amd64", "./" + program, workload], cwd=work, check=True,
                         capture_output=True, text=True)
    for line in out.stdout.splitlines():
        name, rate, ns = line.split()
        key = (name, float(rate))
        best[program].setdefault(key, []).append(float(ns))


def rows(best):
    real, ours = ({k: statistics.median(v) if k[0] == "tree-ratio" else min(v)
                   for k, v in best[p].items()}
                  for p in ("real", "ours"))
    for (name, rate), ns in sorted(ours.items()):
        if name.startswith("cons") and rate:
            yield "%s %g" % (name, rate), real[name, rate], ns, ns / real[name, rate], LIMITS[rate]
    assert ours["tree", 0.0] >= 10, "the trees are too fast to tell"
    ratio = ours["tree-ratio", 1e-4]
    yield "tree 1e-4 over off", ours["tree", 0.0], ours["tree", 0.0] * ratio, ratio, 1.02
    yield ("minor with 1e6 old, us", real["minor-with-old", 1.0] / 1000,
           ours["minor-with-old", 1.0] / 1000,
           (ours["minor-with-old", 1.0] + 1000) / (real["minor-with-old", 1.0] + 1000), 1.10)
    yield ("major cycle, an entry", real["cycle-entry", 1.0], ours["cycle-entry", 1.0],
           ours["cycle-entry", 1.0] / real["cycle-entry", 1.0], 0.5)
    size = ours["bytes-per-entry", 1.0]
    yield "bytes per entry", real["bytes-per-entry", 1.0], size, size, 32


with tempfile.TemporaryDirectory() as work:
    make(work)
    best = {"real": {}, "ours": {}}
    for _ in range(rounds):
        for workload in ("loops", "tree", "cycle", "memory"):
            for program in ("real", "ours"):
                run(work, program, workload, best)
over = 0
print("%-24s %10s %10s %8s %8s" % ("", "real, ns", "ours, ns", "ratio", "limit"))
for name, real, ours, ratio, limit in rows(best):
    over += ratio > limit
    print("%-24s %10.3f %10.3f %8.3f %8.2f%s"
          % (name, real, ours, ratio, limit, "  above" if ratio > limit else ""))
sys.exit(over)
