#!/usr/bin/env python3
"""limits.py KIND N: a function that is too large in one respect, or nearly.

frame  N values live over calls      alloc  a block of N words      params  N parameters
sum if let try catch                 N levels of nesting
"""
import sys


def frame(n):
    lets = "".join("(let v%d (load val (+a x %d))\n" % (i, 8 * i) for i in range(n))
    uses = "".join("(store val x v%d)\n" % i for i in range(n))
    return '(function "f" (x:val)\n%s(seq (app "f" x val) %sx)%s)' % (lets, uses, ")" * n)


def alloc(n):
    return '(function "f" (x:val)\n(alloc %d%s))' % (n << 10, " x" * n)


def params(n):
    return '(function "f" (%s)\nv%d)' % (" ".join("v%d:int" % i for i in range(n)), n - 1)


def nest(before, middle, after, n):
    return '(function "f" (x:val)\n%s%s%s)' % (before * n, middle, after * n)


def catch(n):
    heads = "".join("(catch (seq (if x (exit l%d) []) " % i for i in range(n))
    tails = "".join(") with (l%d) x)" % i for i in reversed(range(n)))
    return '(function "f" (x:int)\n%s1%s)' % (heads, tails)


KINDS = {
    "frame": frame, "alloc": alloc, "params": params, "catch": catch,
    "sum": lambda n: nest("(+ 1 ", "x", ")", n),
    "if": lambda n: nest("(if x (+ x 1) ", "x", ")", n),
    "let": lambda n: nest("(let x (+ x 1) ", "x", ")", n),
    "try": lambda n: nest("(try ", '(app "f" x val)', " with e x)", n),
}
print(KINDS[sys.argv[1]](int(sys.argv[2])))
