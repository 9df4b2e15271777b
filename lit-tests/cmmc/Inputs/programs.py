#!/usr/bin/env python3
"""programs.py [--arch=ARCH | --target=ARCH] [--keep] [--nursery=WORDS] [--update] FILE...

Runs Cmm programs against the expectations they carry, many in one process:

    (* CALL f 1 -2 3.5 : int = 42 *)      in the dialect
    ; CALL g : float = 0.25               in the lossless form
      CALL h 3 : raises                   any exception

Arguments with a point are floats. Without --arch the interpreter runs them; with
--target=ARCH (no emulator) it takes that machine's byte order and edge results. A
line `ONLY arm64 power` limits the expectations after it, `ONLY all` ends that.
--update writes the results into the files where an expectation says `= ?`.
"""
import math
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import cmm_run

CALL = re.compile(r"CALL\s+(\S+)((?:\s+[^\s:]+)*)\s*:\s*(int|float|raises)(?:\s*=\s*(\S+))?")
ONLY = re.compile(r"ONLY\s+([a-z0-9 ]+)")


class Call:
    def __init__(self, path, line, m):
        self.path, self.line, self.function = path, line, m.group(1)
        self.args, self.type, self.want = m.group(2).split(), m.group(3), m.group(4)

    def literal(self, text):
        if not text.startswith("0x") and re.search(r"[.en]", text):
            import struct
            return "0f%016x" % struct.unpack(">Q", struct.pack(">d", float(text)))[0]
        n = int(text, 0)
        return str(n - (1 << 64) if n >= 1 << 63 else n)

    def app(self):
        args = " ".join(self.literal(a) for a in self.args)
        type_ = "int" if self.type == "raises" else self.type
        return '(app "%s" %s %s)' % (self.function, args, type_)

    def code(self):
        if self.type == "raises":
            return ('(extcall noalloc "cmm_print_int" (try (seq %s 0) "e/1" 1) int->unit)'
                    % self.app())
        return '(extcall noalloc "cmm_print_%s" %s %s->unit)' % (self.type, self.app(), self.type)

    def matches(self, got):
        if self.type == "raises":
            return got == "1"
        if self.type == "int":
            return (int(got) - int(self.want, 0)) % (1 << 64) == 0
        a, b = float(got), float(self.want)
        return (math.isnan(a) and math.isnan(b)) or (a == b and math.copysign(1, a) == math.copysign(1, b))

    def name(self):
        return "%s:%d: %s %s" % (self.path, self.line, self.function, " ".join(self.args))


def read_calls(path, target):
    calls, on = [], True
    with open(path, encoding="latin-1") as f:
        for n, line in enumerate(f, 1):
            m = ONLY.search(line)
            if m:
                words = m.group(1).split()
                on = "all" in words or target in words
            for m in CALL.finditer(line):
                if m.group(3) != "raises" and m.group(4) is None:
                    raise cmm_run.Failure("%s:%d: no expected value" % (path, n))
                if on:
                    calls.append(Call(path, n, m))
    return calls


def entry_text(calls):
    """A unit whose entry makes all calls, one function a file to keep functions small."""
    out = ["; cmm lossless 1"]
    groups = []
    for c in calls:
        if not groups or groups[-1][0].path != c.path or len(groups[-1]) >= 50:
            groups.append([])
        groups[-1].append(c)
    for i, g in enumerate(groups):
        out.append('(function "camlTest.run_%d" () (reduce_code_size) poll_default\n (seq' % i)
        out += ["  " + c.code() for c in g]
        out.append("  1))")
    out.append('(function "camlTest.entry" () (reduce_code_size) poll_default\n (seq')
    # without the standard library nobody has told the runtime what a bound error is
    out.append('  (extcall noalloc "caml_register_named_value" "camlTest.name" "camlTest.bound" ->unit)')
    out += ['  (app "camlTest.run_%d" int)' % i for i in range(len(groups))]
    out.append("  1))")
    out.append('(data int 768 global "camlTest" "camlTest": global "camlTest.gc_roots" "camlTest.gc_roots": int 0)')
    out.append('(data int 2816 "camlTest.bound": addr "caml_exn_Invalid_argument" addr "camlTest.text")')
    out.append('(data int 4092 "camlTest.text": string "index out of bounds" skip 4 byte 4)')
    out.append('(data int 5116 "camlTest.name": string "Pervasives.array_bound_error" skip 3 byte 3)')
    return "\n".join(out) + "\n"


def fill_in(calls, got):
    for c, g in zip(calls, got):
        if c.want != "?":
            continue
        c.want = g
        with open(c.path, encoding="latin-1") as f:
            lines = f.read().split("\n")
        lines[c.line - 1] = lines[c.line - 1].replace("= ?", "= " + g, 1)
        with open(c.path, "w", encoding="latin-1") as f:
            f.write("\n".join(lines))


def compile_units(arch, files, work):
    objects = []
    for i, f in enumerate(files):
        o = os.path.join(work, "p%d.o" % i)
        unit = ["--unit=camlP%d" % i] if f != files[-1] else []
        arch.cmmc("-c", "-o", o, f, *unit)
        objects.append(o)
    return objects


def main(argv):
    arch = target = None
    keep, update, env, files = False, False, {}, []
    for a in argv:
        if a.startswith("--arch="):
            arch = target = a[7:]
        elif a.startswith("--target="):
            target = a[9:]
        elif a == "--keep":
            keep = True
        elif a == "--update":
            update = True
        elif a.startswith("--nursery="):
            env["OCAMLRUNPARAM"] = "s=" + a[10:]
        else:
            files.append(a)
    calls = [c for f in files for c in read_calls(f, target or "amd64")]
    work = cmm_run.workdir("cmm")
    entry = os.path.join(work, "entry.cmm")
    with open(entry, "w") as f:
        f.write(entry_text(calls))
    if arch is None:
        out = cmm_run.run([cmm_run.CMMC, "--interpret", "--entry=camlTest.entry",
                           "--target=" + (target or "amd64")] + files + [entry])
    else:
        a = cmm_run.Arch(arch)
        objects = compile_units(a, files + [entry], work)
        exe = os.path.join(work, "program")
        a.program(objects, exe, work)
        out = a.execute(exe, env=env)
    got = out.decode().split("\n")[:-1]
    bad = 0
    if update:
        fill_in(calls, got)
    for c, g in zip(calls, got):
        if not c.matches(g):
            bad += 1
            print("%s: got %s, expected %s" % (c.name(), g, c.want))
    if len(got) != len(calls):
        bad += 1
        print("%d results of %d calls" % (len(got), len(calls)))
    print("%d files, %d calls, %d wrong" % (len(files), len(calls), bad))
    if keep:
        print("kept in " + work)
    else:
        cmm_run.remove(work)
    return bad != 0 or not calls


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except cmm_run.Failure as e:
        sys.exit("error: %s" % e)
