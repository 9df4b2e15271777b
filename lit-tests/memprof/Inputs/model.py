"""model.py ARCH BUILD TOP OUT [C FILE]: the model of runtime/memprof on framekit's runtime, OUT.model. The C
file takes the engine's place in the archive.

Shapes of combined allocations: one and two blocks of 1 to 12 fields, and 150 random ones (seed 1) of 3 to 5."""
import os
import random
import sys

import cmm_program as cmm

arch, build, top, out = sys.argv[1:5]
TRACKER = ["on_alloc_minor", "on_alloc_major", "on_promote", "on_dealloc_minor", "on_dealloc_major"]
FUNCTIONS = {"model_alloc_small": "make_small", "model_alloc_large": "make_large",
             "model_thread": "thread"}
SIZES = range(1, 13)

rng = random.Random(1)
shapes = [(a,) for a in SIZES] + [(a, b) for a in SIZES for b in SIZES]
shapes += [tuple(rng.choices(SIZES, k=rng.randint(3, 5))) for _ in range(150)]
with open(out + ".cmm", "w") as f:
    for i, s in enumerate(shapes):
        print(cmm.blocks("shape_%d" % i, s), cmm.closure("closure_%d" % i, "shape_%d" % i),
              sep="\n", file=f)
    for name in TRACKER:
        print(cmm.closure("closure_" + name, name), file=f)
    for name, code in FUNCTIONS.items():
        print(cmm.closure(name, code, True), file=f)
    print(cmm.closure_table("model_on", ["closure_" + name for name in TRACKER]), file=f)
    print(cmm.closure_table("model_shapes", ["closure_%d" % i for i in range(len(shapes))]), file=f)
    print(cmm.size_table("model_sizes", shapes), file=f)

memprof = os.path.join(top, "runtime", "memprof")
sources = [os.path.join(memprof, name) for name in ("test_model.c", "test_heap_framekit.c")]
callbacks = os.path.join(os.path.dirname(os.path.abspath(__file__)), "model-callbacks.cmm")
cmm.build(arch, build, top, out, "model", {"camlModel": out + ".cmm", "camlCallbacks": callbacks},
          sources + sys.argv[5:])
