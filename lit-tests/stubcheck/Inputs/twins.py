"""twins.py ARCH BUILD CC [OBJECT]: for each register a copy of the stubs (of OBJECT: the
real ones of an OCaml 4) whose caml_call_gc first changes that one register, which must
give exactly one violation, naming it, besides those that the object has anyway.

A register with a word in the save area: roots.visible. Any other that must be kept:
registers.kept. Dead at every allocation (amd64 r11, arm64 x8, riscv64 t2): none."""
import json, os, subprocess, sys, tempfile

arch, build, cc = sys.argv[1:4]
plain = sys.argv[4] if len(sys.argv) > 4 else "%s/%s/stubs.o" % (build, arch)
old = len(sys.argv) > 4
tool = lambda name: (cc[:-3] + name) if cc != "gcc" else name

PORTS = {
    "amd64": dict(ints="rax rbx rdi rsi rdx rcx r8 r9 r12 r13 r10 r11 rbp".split(), dead=["r11"],
                  floats=["xmm%d" % i for i in range(16)], int="add $8, %%%s",
                  float="xorps %%%s, %%%s", jump="jmp real_gc", double=True),
    "arm64": dict(ints=["x%d" % i for i in list(range(16)) + list(range(19, 26))], dead=["x8"],
                  floats=["d%d" % i for i in range(32)], int="add %s, %s, 8", float="fneg %s, %s",
                  jump="b real_gc"),
    "power": dict(ints=["r%d" % i for i in list(range(3, 11)) + list(range(14, 29))], dead=[],
                  floats=["f%d" % i for i in range(32)], int="addi %s, %s, 8", float="fneg %s, %s",
                  jump="b real_gc", strip=True,
                  entry="0: addis 2,12,.TOC.-0b@ha; addi 2,2,.TOC.-0b@l; .localentry caml_call_gc,.-caml_call_gc;"),
    "s390x": dict(ints="r2 r3 r4 r5 r6 r7 r8 r9 r12".split(), dead=[],
                  floats=["f%d" % i for i in range(15)], int="aghi %%%s, 8",
                  float="lcdfr %%%s, %%%s", jump="jg real_gc"),
    "riscv64": dict(ints="a0 a1 a2 a3 a4 a5 a6 a7 s2 s3 s4 s5 s6 s7 s8 s9 t2 t3 t4 t5 t6 s0".split(), dead=["t2"],
                    floats=["f%s%d" % (c, i) for c, n in (("t", 12), ("s", 12), ("a", 8))
                            for i in range(n)],
                    int="addi %s, %s, 8", float="fneg.d %s, %s", jump="j real_gc"),
}
p = PORTS[arch]
dir = tempfile.mkdtemp()
renamed = os.path.join(dir, "renamed.o")
subprocess.check_call([tool("objcopy"), "--redefine-sym", "caml_call_gc=real_gc",
                       plain, renamed])


def check(path):
    out = subprocess.run(["stubcheck", "--no-trace", "--output-style=json", path],
                         capture_output=True)
    (o,) = json.loads(out.stdout)["objects"]
    return [(v["stub"], v["rule"], v["subject"]) for v in o["violations"]
            if not v["note"] and v["rule"] != "frametable.code-range"]


def violations(reg, template):
    """Stubs of the twin with `reg` changed -> [(stub, rule, subject)]."""
    name = reg[1:] if p.get("strip") else reg
    code = template % ((name,) * template.replace("%%", "").count("%s"))
    source, own, twin = (os.path.join(dir, n) for n in ("t.S", "t.o", "twin.o"))
    with open(source, "w") as f:
        f.write('.section .note.GNU-stack,"",%%progbits; .section .text.twin,"ax"; .globl caml_call_gc; .type caml_call_gc,%%function;'
                ' caml_call_gc: .cfi_startproc; %s %s; %s; .cfi_endproc; .size caml_call_gc,.-caml_call_gc\n'
                % (p.get("entry", ""), code, p["jump"]))
    subprocess.check_call([cc, "-c", source, "-o", own])
    subprocess.check_call([tool("ld"), "-r", renamed, own, "-o", twin])
    return check(twin)


bad = caught = 0
known = check(plain)
if old and arch == "power":
    p["floats"].remove("f0") # 4.13 does not allocate it
for kind, regs in (("int", p["ints"]), ("float", p["floats"])):
    for reg in regs:
        rule = "roots.visible" if kind == "int" else "registers.kept"
        want = [] if reg in p["dead"] else [("caml_call_gc", rule, reg)]
        got = violations(reg, p[kind])
        want, got = [w for w in want if w not in known], [g for g in got if g not in known]
        caught += len(got)
        if got != want:
            bad += 1
            print("%s: %s, must be %s" % (reg, got, want))
subprocess.call(["rm", "-rf", dir])
print("%s: %d registers changed, %d violations, %d not as they must be"
      % (arch, len(p["ints"]) + len(p["floats"]), caught, bad))
sys.exit(bad != 0)
