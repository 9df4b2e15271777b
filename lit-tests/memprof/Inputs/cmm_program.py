"""Programs of Cmm functions that a C main calls on framekit's runtime."""
import os
import subprocess

STATIC_CLOSURE, ARITY_ONE = 2 << 10 | 3 << 8 | 247, 1 << 56 | 2 << 1 | 1
CC = {"amd64": "gcc", "arm64": "aarch64-linux-gnu-gcc", "power": "powerpc64le-linux-gnu-gcc",
      "s390x": "s390x-linux-gnu-gcc", "riscv64": "riscv64-linux-gnu-gcc"}
CPU = {"amd64": "x86_64", "arm64": "aarch64", "power": "ppc64le", "s390x": "s390x",
       "riscv64": "riscv64"}


def closure(name, code, visible=False):
    """A static closure of one argument."""
    label = 'global "%s" "%s"' % (name, name) if visible else '"%s"' % name
    return '(data int %d %s: addr "%s" int %d)' % (STATIC_CLOSURE, label, code, ARITY_ONE)


def blocks(name, sizes):
    """A function that makes one combined allocation and returns its last block. Each
    block holds the one before it in field 0; block i, in order, is on line i + 1."""
    body, last = [], "x"
    for i, w in enumerate(sizes):
        body.append("(let b%d (alloc{%s.ml:%d,0-1} %d %s%s)"
                    % (i, name, i + 1, w << 10, last, " 1" * (w - 1)))
        last = "b%d" % i
    return '(function "%s" (x:val) %s %s%s)' % (name, "\n ".join(body), last, ")" * len(sizes))


def closure_table(name, closures):
    """Addresses of static closures, and 0."""
    return '(data global "%s" "%s": %s int 0)' % (name, name, " ".join('addr "%s"' % c for c in closures))


def size_table(name, shapes):
    """For each shape: its number of blocks, then the fields of each."""
    rows = ["int %d %s" % (len(s), " ".join("int %d" % w for w in s)) for s in shapes]
    return '(data global "%s" "%s":\n %s)' % (name, name, "\n ".join(rows))


def build(arch, build_dir, top, out, program, units, sources):
    """Compiles `units` (name -> Cmm file) and the C `sources`, links them with the runtime: out.program."""
    cmmc = os.path.join(build_dir, "bin", "cmmc")
    runtime = os.path.join(build_dir, arch, "libframekit.a")
    objects = []
    for name, path in units.items():
        objects.append("%s.%s.o" % (out, name))
        subprocess.run([cmmc, "--target=" + arch, "-g", "--unit=" + name, "-c", "-o", objects[-1],
                        path], check=True)
    startup = out + ".startup.o"
    subprocess.run([cmmc, "--target=" + arch, "--startup", "-c", "-o", startup] + objects,
                   check=True)
    subprocess.run([CC[arch], "-std=c11", "-D_GNU_SOURCE", "-O1", "-g", "-Wall", "-Wextra",
                    "-Werror", "-I" + top, "-I" + os.path.join(top, "include"), "-DFK_ABI=503",
                    "-static", "-o", out + "." + program, *sources, startup, *objects, runtime,
                    "-lm", "-lpthread"], check=True)


def emulator(arch):
    """How its programs are run here: words of a command."""
    if os.uname().machine == CPU[arch]:
        return []
    return ["qemu-" + CPU[arch]] + (["-cpu", "max,pauth=off"] if arch == "arm64" else [])
