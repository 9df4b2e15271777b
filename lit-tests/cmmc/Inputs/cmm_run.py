"""Compile, link and run Cmm programs on an architecture, with the real OCaml runtime."""
import os
import re
import shutil
import subprocess
import sys
import tempfile

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
BUILD = os.environ.get("BUILD", os.path.join(TOP, "build"))
CMMC = os.path.join(BUILD, "bin", "cmmc")
SUPPORT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "support.c")


class Failure(Exception):
    pass


def run(cmd, env=None, timeout=600, ok=(0,), cwd=None):
    """Runs a command; its standard output as bytes. Failure with what it said otherwise."""
    try:
        p = subprocess.run(cmd, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env,
                           timeout=timeout, cwd=cwd)
    except subprocess.TimeoutExpired:
        raise Failure("timeout: " + " ".join(cmd))
    if p.returncode not in ok:
        text = (p.stdout[-300:] + p.stderr[-3000:]).decode("utf-8", "replace")
        raise Failure("%s: exit %d\n%s" % (" ".join(cmd)[:400], p.returncode, text))
    return p.stdout


class Arch:
    """One line of qemu-ci/arches, and the sysroot of the real OCaml for it."""

    def __init__(self, name, version="5.3"):
        for line in open(os.path.join(TOP, "qemu-ci", "arches")):
            f = line.split("#")[0].split()
            if f and f[0] == name:
                self.name, _, self.triplet, self.cpu, _, self.interpreter = f[:6]
                break
        else:
            raise Failure("unknown architecture " + name)
        self.version = version
        self.native = os.uname().machine == self.cpu
        self.cc = "gcc" if self.native else self.triplet + "-gcc"
        self.ocaml = [os.path.join(TOP, "qemu-ci", "ocaml")]
        self.root = self.tool("root").decode().strip()
        self.lib = self.tool("lib").decode().strip()
        self.libc = os.path.join(self.root, "usr", "lib", self.triplet)

    def tool(self, command, *args, **kw):
        return run(self.ocaml + [command, "--version=" + self.version, self.name] + list(args),
                   **kw)

    def cmmc(self, *args, **kw):
        return run([CMMC, "--target=" + self.name, "--abi=" + self.version] + list(args), **kw)

    def compile_c(self, source, out):
        run([self.cc, "--sysroot=" + self.root, "-B" + self.libc, "-O1", "-I" + self.lib,
             "-idirafter", os.path.join(self.root, "usr", "include"), "-c", source, "-o", out])

    def link(self, objects, out):
        """objects in front of the real libasmrun.a."""
        cmd = [self.cc, "--sysroot=" + self.root, "-B" + self.libc, "-L" + self.libc]
        bin_ = os.path.join(os.path.dirname(self.root), "bin")
        if os.path.exists(os.path.join(bin_, "ld")):
            cmd += ["-B" + bin_]
        if self.native:
            cmd += ["-Wl,--dynamic-linker=" + os.path.join(self.root, self.interpreter),
                    "-Wl,-rpath," + self.libc]
        run(cmd + ["-o", out] + objects + [os.path.join(self.lib, "libasmrun.a"), "-lm",
                                           "-lpthread"])

    def execute(self, program, *args, env=None, timeout=600, ok=(0,)):
        cmd = [program]
        if not self.native:
            qemu = ["qemu-" + self.cpu]
            if self.name == "arm64":  # pointer authentication costs 8x under QEMU
                qemu += ["-cpu", "max,pauth=off"]
            cmd = qemu + ["-L", self.root, program]
        e = dict(os.environ)
        e.update(env or {})
        return run(cmd + list(args), env=e, timeout=timeout, ok=ok)

    def program(self, objects, out, work):
        """Links units compiled by cmmc with a start-up unit of cmmc's and the support functions."""
        startup, support = os.path.join(work, "startup.o"), os.path.join(work, "support.o")
        self.cmmc("--startup", "-c", "-o", startup, *objects)
        if not os.path.exists(support):
            self.compile_c(SUPPORT, support)
        self.link([startup] + objects + [support], out)


def parallel(jobs, work):
    """Maps work over jobs with as many processes as there are processors."""
    from concurrent.futures import ThreadPoolExecutor
    with ThreadPoolExecutor(max_workers=int(os.environ.get("CMM_JOBS", "1"))) as pool:
        return list(pool.map(work, jobs))


def workdir(prefix):
    return tempfile.mkdtemp(prefix=prefix, dir=os.environ.get("TMPDIR"))


def remove(path):
    shutil.rmtree(path, ignore_errors=True)
