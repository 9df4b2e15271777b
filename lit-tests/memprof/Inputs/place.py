"""place.py ARCH BUILD TOP OUT: combined allocations of many shapes, compiled by cmmc, on framekit's
runtime. place.c checks that every sampled block's address is the one the code initialised.

Shapes: every sequence of block sizes of at most 13 words in all; every pair and every row of equal
blocks that fill the limit of one reservation; random sequences (seed 1) up to the limit."""
import os
import random
import subprocess
import sys

arch, build, top, out = sys.argv[1:]
LIMIT = 256  # words of one combined allocation, headers included
# What the profiler calls (place-callbacks.cmm): two callbacks of allocation, one of promotion, two of death.
TRACKER = ["on_alloc", "on_alloc", "on_promote", "on_dealloc", "on_dealloc"]
STATIC_CLOSURE, ARITY_ONE = 2 << 10 | 3 << 8 | 247, 1 << 56 | 2 << 1 | 1


def sequences(words):
    yield ()
    for w in range(1, words):
        for rest in sequences(words - w - 1):
            yield (w,) + rest


def random_sequence(rng):
    out, left = [], rng.randint(2, LIMIT)
    while left >= 2:
        w = min(left - 1, rng.choice((1, 2, 3, rng.randint(1, 40), rng.randint(1, 255))))
        out.append(w)
        left -= w + 1
    return tuple(out)


def shapes():
    rng = random.Random(1)
    all_ = {s for s in sequences(13) if s}
    all_ |= {(w, LIMIT - 2 - w) for w in range(1, LIMIT - 2)} | {(LIMIT - 1,)}
    all_ |= {(w,) * (LIMIT // (w + 1)) for w in range(1, LIMIT)}
    all_ |= {random_sequence(rng) for _ in range(100)}
    return sorted(all_)


def function(name, sizes):
    """Each block holds the one before it in field 0."""
    body, last = [], "x"
    for i, w in enumerate(sizes):
        body.append("(let b%d (alloc %d %s%s)" % (i, w << 10, last, " 1" * (w - 1)))
        last = "b%d" % i
    return '(function "%s" (x:val) %s %s%s)' % (name, "\n ".join(body), last, ")" * len(sizes))


def closure(name, code):
    return '(data int %d "%s": addr "%s" int %d)' % (STATIC_CLOSURE, name, code, ARITY_ONE)


all_shapes = shapes()
with open(out + ".cmm", "w") as f:
    for i, s in enumerate(all_shapes):
        print(function("place_%d" % i, s), file=f)
        print(closure("closure_%d" % i, "place_%d" % i), file=f)
    for name in sorted(set(TRACKER)):
        print(closure("closure_" + name, name), file=f)
    print('(data int %d global "place_tracker" "place_tracker":' % (len(TRACKER) << 10 | 3 << 8), file=f)
    print("\n".join(' addr "closure_%s"' % name for name in TRACKER), ")", file=f)
    print('(data global "place_closures" "place_closures":', file=f)
    print("\n".join(' addr "closure_%d"' % i for i in range(len(all_shapes))), "int 0)", file=f)
    print('(data global "place_sizes" "place_sizes":', file=f)
    for s in all_shapes:
        print(" int", len(s), " ".join("int %d" % w for w in s), file=f)
    print(")", file=f)

cmmc, runtime = os.path.join(build, "bin", "cmmc"), os.path.join(build, arch, "libframekit.a")
cc = {"amd64": "gcc", "arm64": "aarch64-linux-gnu-gcc", "power": "powerpc64le-linux-gnu-gcc",
      "s390x": "s390x-linux-gnu-gcc", "riscv64": "riscv64-linux-gnu-gcc"}[arch]


def run(*command):
    subprocess.run(command, check=True)


inputs = os.path.dirname(os.path.abspath(__file__))
run(cmmc, "--target=" + arch, "--unit=camlPlace", "-c", "-o", out + ".o", out + ".cmm")
run(cmmc, "--target=" + arch, "--unit=camlCallbacks", "-c", "-o", out + ".callbacks.o",
    os.path.join(inputs, "place-callbacks.cmm"))
run(cmmc, "--target=" + arch, "--startup", "-c", "-o", out + ".startup.o", out + ".o",
    out + ".callbacks.o")
run(cc, "-std=c11", "-D_GNU_SOURCE", "-O1", "-g", "-Wall", "-Wextra", "-Werror",
    "-I" + top, "-I" + os.path.join(top, "include"), "-DFK_ABI=503", "-static", "-o", out + ".place",
    os.path.join(inputs, "place.c"), out + ".startup.o", out + ".o", out + ".callbacks.o", runtime, "-lm", "-lpthread")
