"""place.py ARCH BUILD TOP OUT: combined allocations of many shapes, compiled by cmmc, on framekit's
runtime. place.c checks that every sampled block's address is the one the code initialised.

Shapes: every sequence of block sizes of at most 13 words in all; every pair and every row of equal
blocks that fill the limit of one reservation; random sequences (seed 1) up to the limit."""
import os
import random
import sys

import cmm_program as cmm

arch, build, top, out = sys.argv[1:]
LIMIT = 256  # words of one combined allocation, headers included
# What the profiler calls (place-callbacks.cmm): two callbacks of allocation, one of promotion, two of death.
TRACKER = ["on_alloc", "on_alloc", "on_promote", "on_dealloc", "on_dealloc"]


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


all_shapes = shapes()
with open(out + ".cmm", "w") as f:
    for i, s in enumerate(all_shapes):
        print(cmm.blocks("place_%d" % i, s), cmm.closure("closure_%d" % i, "place_%d" % i),
              sep="\n", file=f)
    for name in sorted(set(TRACKER)):
        print(cmm.closure("closure_" + name, name), file=f)
    print('(data int %d global "place_tracker" "place_tracker":' % (len(TRACKER) << 10 | 3 << 8),
          file=f)
    print("\n".join(' addr "closure_%s"' % name for name in TRACKER), ")", file=f)
    print(cmm.closure_table("place_closures", ["closure_%d" % i for i in range(len(all_shapes))]),
          file=f)
    print(cmm.size_table("place_sizes", all_shapes), file=f)

inputs = os.path.dirname(os.path.abspath(__file__))
cmm.build(arch, build, top, out, "place",
          {"camlPlace": out + ".cmm", "camlCallbacks": os.path.join(inputs, "place-callbacks.cmm")},
          [os.path.join(inputs, "place.c")])
