#!/usr/bin/env python3
"""operators.py --arch=ARCH | --target=ARCH: every operator on every pair of edge values.

Each operator is compiled with both operands in variables, with each constant on the left
and on the right, and as the condition of an if, with a constant too, and runs over a table of edge values; the
interpreter, told the target, gives the expected results. Only what the language leaves
undefined on the target is left out (docs/cmm.md, "Outside the domain").
"""
import os
import re
import struct
import sys

here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, here)
import cmm_run

MIN, MAX = -(1 << 63), (1 << 63) - 1
INTS = [0, 1, -1, 2, 3, -3, 7, 8, 10, 63, 64, 127, 128, -128, -129, 255, 256, 4095, 4096, -4096,
        32767, 32768, -32768, -32769, 65535, 65536, 1 << 31, (1 << 31) - 1, -(1 << 31),
        -(1 << 31) - 1, (1 << 32) - 1, 1 << 32, 0x123456789abcdef, 1 << 62, MAX, MIN, MIN + 1]
# Constants only: around what immediates hold.
EDGES = [-2047, -2048, -2049, -2050, 2046, 2047, 2048, 2049, 4094, 4097, -4095, -4097, 65537,
         0xfff000, 0xfff001, 1 << 24, -(1 << 24), 0x7fff0000, 0x7fff7fff, 0x7fff8000, -(1 << 32),
         -(1 << 32) - 1, -(1 << 32) + 1, (1 << 32) + 1]
FLOATS = [0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 3.0, 1e10, -1e10, 9.2e18, 9.3e18,
          -9.223372036854775808e18, 1e300, -1e300, 5e-324, 2.2250738585072014e-308, float("inf"),
          float("-inf"), float("nan")]


def bits(f):
    return "0f%016x" % struct.unpack(">Q", struct.pack(">d", f))[0]


def operators():
    """(name, arity, argument letters, result letter) from the one table of the compiler."""
    text = open(os.path.join(cmm_run.TOP, "emitter", "cmm.h")).read()
    text = text[text.index("#define CMM_OPERATORS"):]
    for m in re.finditer(r'X\((\w+),\s*"[^"]*",\s*"([^"]*)",\s*"([wf]+)",\s*\'(\w)\'', text):
        yield m.group(1), m.group(2), m.group(3), m.group(4)


def allowed(op, b_const, traps):
    """May this constant be the right operand?"""
    if op in ("/", "mod"):
        return b_const not in ((0, -1) if traps else ())
    return op not in ("<<", ">>u", ">>s") or 0 <= b_const <= 63


def show(result, e):
    # a NaN has many bit patterns: only that it is one counts
    if result == "f":
        return ('(let "r/9" %s (extcall noalloc "cmm_print_bits" (if (!=f "r/9" "r/9") 0f7ff8000000000000 "r/9")'
                ' float->unit))' % e)
    return '(extcall noalloc "cmm_print_int" %s int->unit)' % e


def guard(op, a, b, traps, e):
    """Division only where it is defined; shifts only by what every port agrees on."""
    if op in ("/", "mod") and traps:
        return "(if (if (== %s 0) 1 (if (== %s -1) (== %s %d) 0)) 99 %s)" % (b, b, a, MIN, e)
    if op in ("<<", ">>u", ">>s"):
        return "(if (>a %s 127) 99 %s)" % (b, e)
    return e


def loop(var, label, table, count, load, body):
    """Runs body with `var` going over a table."""
    return ('(let_mut "i%d/1" int 0 (catch (catch rec (exit %d) (with (%d) (if (< "i%d/1" %d) (seq '
            '(let "%s" (%s (+a "%s" (<< "i%d/1" 3))) %s) (assign "i%d/1" (+ "i%d/1" 1)) (exit %d)) (exit %d)))) '
            '(with (%d) [])))' % (label, label, label, label, count, var, load, table, label, body,
                                  label, label, label, label + 1, label + 1))


TABLE = {"w": ("op_ints", len(INTS), "load_mut int"),
         "f": ("op_floats", len(FLOATS), "load_mut float64")}


def binary(name, op, kind, result, traps):
    consts = INTS + EDGES if kind == "w" else FLOATS
    table, count, load = TABLE[kind]
    word = (lambda c: str(c)) if kind == "w" else bits
    body = [show(result, guard(op, '"a/2"', '"b/3"', traps, '(%s "a/2" "b/3")' % op))]
    compares = result == "i" and op[0] in "=!<>" and op not in ("<<", ">>u", ">>s")
    if compares:
        body.append(show("i", '(if (%s "a/2" "b/3") 5 6)' % op))
    inner = loop("b/3", 3, table, count, load, "(seq %s [])" % " ".join(body))
    out = ['(function "op_%s" () () poll_default %s)'
           % (name, loop("a/2", 1, table, count, load, inner))]
    for k, c in enumerate(consts):
        parts = []
        if kind == "f" or allowed(op, c, traps):
            parts.append(show(result, '(%s "a/2" %s)' % (op, word(c))))
        if compares or op == "and":
            parts.append(show("i", '(if (%s "a/2" %s) 5 6)' % (op, word(c))))
        parts.append(show(result,
                          guard(op, word(c), '"a/2"', traps, '(%s %s "a/2")' % (op, word(c)))))
        out.append('(function "op_%s_%d" () () poll_default %s)'
                   % (name, k, loop("a/2", 1, table, count, load, "(seq %s [])" % " ".join(parts))))
    return out


def unary(name, op, kind, result):
    table, count, load = TABLE[kind]
    return ['(function "op_%s" () () poll_default %s)'
            % (name, loop("a/2", 1, table, count, load, show(result, '(%s "a/2")' % op)))]


def program(target):
    traps = target in ("amd64", "power", "s390x")
    out = ["; cmm lossless 1", '(data "op_ints": %s)' % " ".join("int %d" % i for i in INTS),
           '(data "op_floats": %s)' % " ".join("double " + bits(f) for f in FLOATS)]
    for name, op, args, result in operators():
        out += (binary(name, op, args[0], result, traps) if len(args) == 2
                else unary(name, op, args[0], result))
    calls = re.findall(r'\(function "(op_[^"]*)"', "\n".join(out))
    out.append('(function "camlOps.entry" () (reduce_code_size) poll_default (seq %s 1))'
               % " ".join('(app "%s" unit)' % c for c in calls))
    out.append('(data int 768 global "camlOps" "camlOps": global "camlOps.gc_roots" "camlOps.gc_roots": int 0)')
    return "\n".join(out) + "\n"


def main(argv):
    name = argv[0].split("=")[1]
    work = cmm_run.workdir("ops")
    source = os.path.join(work, "ops.cmm")
    with open(source, "w") as f:
        f.write(program(name))
    want = cmm_run.run([cmm_run.CMMC, "--interpret", "--target=" + name, "--entry=camlOps.entry",
                        source]).split()
    a = cmm_run.Arch(name)
    obj, exe = os.path.join(work, "ops.o"), os.path.join(work, "ops")
    a.cmmc("-c", "-o", obj, source)
    a.program([obj], exe, work)
    got = a.execute(exe).split()
    bad = [i for i in range(max(len(want), len(got))) if want[i:i + 1] != got[i:i + 1]]
    for i in bad[:10]:
        print("result %d: got %s, expected %s" % (i, got[i:i + 1], want[i:i + 1]))
    print("%d results, %d wrong" % (len(want), len(bad)))
    if "--keep" in argv:
        print("kept in " + work)
    else:
        cmm_run.remove(work)
    return bad != [] or len(want) < 50000


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except cmm_run.Failure as e:
        sys.exit("error: %s" % e)
