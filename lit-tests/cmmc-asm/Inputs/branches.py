#!/usr/bin/env python3
"""branches.py ARCH CC: branches over a little more code than their short form reaches.

For every kind of statement its size is measured, then as many of them stand between a branch
and its target as make one and a half percent more than the reach. A bound of a size that is too
low, or a reach that is too high, gives code that the assembler or the linker refuses. Prints
what was refused.
"""
import os
import re
import subprocess
import sys
import tempfile

BODIES = {
    "xor": '(assign "a/3" (xor "a/3" "n/1"))',
    "add": '(assign "a/3" (+ "a/3" 1193046))',
    "const": '(store int "p/2" 1311768467463790321)',
    "set": '(assign "a/3" (<= "a/3" "n/1"))',
    "setf": '(store int "p/2" (<=f "f/4" 0f3ff8000000000000))',
    "float": '(store float32 "p/2" (*f "f/4" (load_mut float32 (+a "p/2" 8))))',
    "mulh": '(store int "p/2" (*h "a/3" "n/1"))',
    "mod": '(store int "p/2" (mod "a/3" "n/1"))',
    "load": '(store int "p/2" (+ (load_mut_atomic int "p/2") (load_mut unsigned int8 (+a "p/2" 1000000))))',
    "symbol": '(store int "elsewhere" (load_mut int (+a "somewhere" 1000000)))',
    "alloc": '(store val(heap-init) "p/2" (alloc 1024 "a/3"))',
    "call": '(app "g" "a/3" unit)',
    "calls": '(app (load_mut int "p/2") "a/3" unit)',
    "extcall": '(extcall alloc "h" "a/3" ->unit)',
    "args": '(extcall alloc "h" %s->unit)' % ('"a/3" ' * 12),
    "ccall": '(extcall noalloc "h" "a/3" ->unit)',
    "bound": '(checkbound "a/3" "n/1")',
    "if": '(if (< "a/3" "n/1") (assign "a/3" "n/1") [])',
    "bits": '(if (and "a/3" 4) (assign "a/3" "n/1") [])',
    "iff": '(if (<=f "f/4" 0f3ff8000000000000) (assign "a/3" "n/1") [])',
    "switch": '(switch 4 "n/1" (case 0: (assign "a/3" 5)) (case 1: (assign "a/3" "n/1")) (case 2: []) (case 3: (assign "a/3" 1)))',
    "try": '(try (app "g" "a/3" unit) "e/9" (assign "a/3" 3))',
    "raise": '(if (== "a/3" 3) (raise_notrace "p/2") [])',
}
OVER = {
    "branch": '(if (< "n/1" 5) (seq BODY []) [])',
    "bits": '(if (and "n/1" 2) (seq BODY []) [])',
    "float": '(if (<f "f/4" 0f3ff0000000000000) (seq BODY []) [])',
    "loop": '(catch rec (exit 1) (with (1) (if (< "a/3" 9) (seq BODY (exit 1)) [])))',
    "gc": '(store val "p/2" (alloc 1024 "n/1")) BODY',
    "bound": '(checkbound "n/1" 4) BODY',
    "trap": '(try (seq BODY []) "e/5" [])',
    "switch": '(switch 2 "n/1" (case 0: BODY []) (case 1: (assign "a/3" 7)))',
}
MIB, KIB = 1 << 20, 1 << 10
# What is near, what far: the reach of each way over, and where all kinds of statements are tried.
REACH = {
    "arm64": ({"bits": 32 * KIB, "branch": MIB, "float": MIB, "loop": MIB, "gc": MIB, "bound": MIB,
               "trap": MIB}, "bits"),
    "power": (dict.fromkeys(["bits", "branch", "float", "loop", "gc", "bound"], 32 * KIB),
              "branch"),
    "s390x": ({"branch": 64 * KIB, "loop": 64 * KIB}, "branch"),
    # nothing short is near, and a MiB of each kind takes minutes
    "riscv64": (dict.fromkeys(["branch", "bits", "gc", "switch"], MIB), None),
}


def function(over, body, n):
    text = OVER[over].replace("BODY", "\n".join([BODIES[body]] * n))
    return ('(function "%s.%s" ("n/1" int "p/2" val "f/4" float) () poll_default (let_mut "a/3" int "n/1"\n'
            '(seq %s "a/3")))\n' % (over, body, text))


def refused(arch, cc, work, functions):
    """Compiles and links; what the tools say, or the sizes of the functions."""
    base = os.path.join(work, "x")
    with open(base + ".cmm", "w") as f:
        f.write('; cmm lossless 1\n(data "somewhere": int 1)\n' + "".join(functions))
    for cmd in (["cmmc", "--target=" + arch, "-c", "-o", base + ".o", base + ".cmm"],
                [cc, "-nostdlib", "-static", "-Wl,--unresolved-symbols=ignore-all", "-Wl,-e0",
                 *(["-Wl,--no-relax"] if arch == "riscv64" else []), "-o", base, base + ".o"]):
        p = subprocess.run(cmd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        text = p.stdout.decode("utf-8", "replace")
        if p.returncode:
            return (re.findall(r".*(?:rror|truncated|range).*", text) or [text])[0][:200], {}
    sizes = subprocess.run(["nm", "-S", base + ".o"], stdout=subprocess.PIPE).stdout.decode()
    return None, {m[1]: int(m[0], 16) for m in re.findall(r"\S+ (\S+) [Tt] (\S+\.\S+)", sizes)}


def main(arch, cc):
    reach, everywhere = REACH[arch]
    pairs = [(everywhere, b) for b in BODIES if everywhere]
    pairs += [(o, b) for o in reach if o != everywhere for b in ("xor", "add")]
    bad = 0
    with tempfile.TemporaryDirectory() as work:
        sizes = [refused(arch, cc, work, [function(o, b, n) for o, b in pairs])[1]
                 for n in (40, 80)]
        for over, body in pairs:
            name = "%s.%s" % (over, body)
            each = (sizes[1][name] - sizes[0][name]) / 40
            says, _ = refused(arch, cc, work,
                              [function(over, body, int(reach[over] * 1.015 / each) + 2)])
            if says:
                bad += 1
                print("%s %s: %s" % (arch, name, says))
    print("%s: %d branches, %d refused" % (arch, len(pairs), bad))


main(sys.argv[1], sys.argv[2])
