#!/usr/bin/env python3
"""far.py N: a function whose loop body has N statements, of all kinds that branch."""
import sys

KINDS = [
    "(if (> a %d) (assign a (+ a (load int (+a (alloc 2048 a y) 8)))) (assign a ( * a y)))",
    "(checkbound a i)",
    "(if (and a 4) (assign a (+ a 3)) [])",
    "(if (<f (floatofint a) 3.5) (assign a (app \"g\" a y int)) [])",
    "(switch 4 (and a 3) case 0: (assign a 5) case 1: (assign a i) case 2: [] case 3: (assign a y))",
    "(try (assign a (app \"g\" a i int)) with e (assign a (+ e %d)))",
]
print('(function "far" (x:int y:int)\n (letmut (i int 0 a int 1) (while (< i x)')
for k in range(int(sys.argv[1])):
    kind = KINDS[k % len(KINDS)]
    print(" " + (kind % k if "%d" in kind else kind))
print(" (assign i (+ i 1))) a))")
