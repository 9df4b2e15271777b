#!/usr/bin/env python3
"""compare.py --arch=ARCH [--version=5.4] [--runtime] [--keep] [--only=NAME,...] [--without=NAME,...]

Compiles the OCaml programs of this folder with the real ocamlopt (5.3) and, from its lossless
dump, with cmmc; links both with the real runtime and standard library and compares what
they print: with the normal and with a 256-word nursery, and once more with cmmc's start-up
unit in place of ocamlopt's. Every program is a module of one executable. --runtime: cmmc's
objects once more, on framekit's runtime in place of OCaml's.
"""
import glob
import os
import shutil
import sys

here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(here, "..", "..", "cmmc", "Inputs"))
import cmm_run
from cmm_run import Failure

DUMP = os.path.join(cmm_run.TOP, "emitter", "dump", "cmm-dump")


def compile_real(arch, names, work):
    for n in names:
        shutil.copy(os.path.join(here, n + ".ml"), work)
    arch.tool("ocamlopt", "-g", "-w", "-a", "-c", *[n + ".ml" for n in names], cwd=work)
    arch.tool("ocamlopt", "-g", "-o", "real", *[n + ".cmx" for n in names], cwd=work)


def compile_ours(arch, names, work):
    """Replaces every object by cmmc's; the .cmx files stay, so the real linker links them."""
    for n in names:
        scratch = os.path.join(work, "dump")
        os.makedirs(scratch, exist_ok=True)
        shutil.copy(os.path.join(here, n + ".ml"), scratch)
        cmm = os.path.join(work, n + ".cmm")
        cmm_run.run([DUMP, "--version=" + arch.version, arch.name, cmm, "-g", "-w", "-a", "-c",
                     n + ".ml"], cwd=scratch)
        arch.cmmc("-g", "-c", "-o", os.path.join(work, n + ".o"), cmm)


def link_ours(arch, names, work):
    arch.tool("ocamlopt", "-g", "-o", "ours", *[n + ".cmx" for n in names], cwd=work)
    objects = [os.path.join(work, n + ".o") for n in names]
    std = [os.path.join(arch.lib, "stdlib.a")]
    exit_ = [os.path.join(arch.lib, "std_exit.o")]
    startup = os.path.join(work, "startup.o")
    arch.cmmc("--startup", "-c", "-o", startup, *(std + objects + exit_))
    arch.link([startup] + objects + exit_ + std, os.path.join(work, "ours-startup"))


def link_runtime(arch, names, work):
    folder = os.path.join(cmm_run.BUILD, arch.name, "asmrun-" + arch.version)
    arch.tool("ocamlopt", "-g", "-runtime-variant", "_fk", "-I", folder, "-o", "ours-runtime",
              *[n + ".cmx" for n in names], cwd=work)


def output(arch, work, program, runparam):
    # a stack of 32 MB: p_deep overflows it on purpose, and sooner than the default 1 GB
    env = {"OCAMLRUNPARAM": "l=4M" + ("," + runparam if runparam else "")}
    out = arch.execute(os.path.join(work, program), env=env, timeout=1200, ok=range(-64, 256))
    return out.decode("latin-1").split("\n")


def compare(label, want, got):
    for i, (a, b) in enumerate(zip(want, got)):
        if a != b:
            print("%s: line %d differs\n  real: %s\n  ours: %s" % (label, i + 1, a[:300], b[:300]))
            return 1
    if len(want) != len(got):
        print("%s: %d lines, the real program has %d" % (label, len(got), len(want)))
        return 1
    print("%s: %d lines, identical" % (label, len(want) - 1))
    return 0


def compare_all(arch, work):
    want = output(arch, work, "real", "")
    bad = compare("ours", want, output(arch, work, "ours", ""))
    bad += compare("our start-up unit", want, output(arch, work, "ours-startup", ""))
    return bad + compare("small nursery", output(arch, work, "real", "s=256"),
                         output(arch, work, "ours", "s=256"))


def program_names(only, without):
    names = sorted(os.path.basename(f)[:-3] for f in glob.glob(os.path.join(here, "p_*.ml")))
    names = [n for n in names if only is None or n in only or n[2:] in only]
    return [n for n in names if n[2:] not in without]


def compare_runtime(arch, names, work):
    link_runtime(arch, names, work)
    bad = 0
    for runparam in ("", "s=256"):
        want = output(arch, work, "real", runparam)
        bad += compare("framekit's runtime" + (", small nursery" if runparam else ""), want,
                       output(arch, work, "ours-runtime", runparam))
    return bad


def main(argv):
    runtime = False
    keep, only, without, name, version = False, None, [], None, "5.3"
    for a in argv:
        if a.startswith("--arch="):
            name = a[7:]
        elif a.startswith("--only="):
            only = a[7:].split(",")
        elif a.startswith("--without="):
            without = a[10:].split(",")
        elif a.startswith("--version="):
            version = a[10:]
        elif a == "--runtime":
            runtime = True
        elif a == "--keep":
            keep = True
        else:
            sys.exit(__doc__)
    names = program_names(only, without)
    arch = cmm_run.Arch(name, version)
    work = cmm_run.workdir("ocaml")
    compile_real(arch, names, work)
    compile_ours(arch, names, work)
    link_ours(arch, names, work)
    bad = compare_runtime(arch, names, work) if runtime else compare_all(arch, work)
    print("%d programs, %d differences" % (len(names), bad))
    if keep:
        print("kept in " + work)
    else:
        cmm_run.remove(work)
    return bad != 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except Failure as e:
        sys.exit("error: %s" % e)
