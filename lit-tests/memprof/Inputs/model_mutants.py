"""model_mutants.py ARCH BUILD TOP OUT [N]: does the model on framekit's runtime notice a broken engine? Each
of the first N mutants is the engine with one text of it replaced; the model must fail. Prints one line each."""
import os
import shutil
import subprocess
import sys

import cmm_program as cmm

arch, build, top, out = sys.argv[1:5]
MUTANTS = [  # file, text, replacement, what is wrong
    ("table.c", "if (i < t->young && fk_host_is_young(v))", "if (0)", "a young datum is no root of a minor collection"),
    ("table.c", "f(data, t->block[i], &t->block[i]);", "(void)0;", "tracked blocks do not follow a compaction"),
    ("domain.c", "orphan_globally(t);\n    }", "(void)t;\n    }", "what a dead domain tracked is lost"),
    ("control.c", "cancel_offset(t, i);\n}", "(void)cancel_offset;\n}", "an undone request is still followed"),
    ("table.c", "f(data, t->tracker, &t->tracker);", "(void)0;", "the tracker is no root"),
    ("sample.c", "fk_host_young(d->host).ptr + h->offset + 1", "fk_host_young(d->host).ptr + h->offset + 2",
     "a block of a combined allocation is followed one word off"),
    ("table.c", "t->state[i] |= FK_MP_PROMOTED | FK_MP_MAJOR;", "t->state[i] |= FK_MP_PROMOTED;",
     "a promoted block dies in the nursery"),
    ("run.c", "return said.res.is_exception ? said.res : ok;", "continue;", "an exception does not end the pass"),
    ("table.c", "t->block[i] = moved;\n", "", "a promoted block keeps its old address"),
    ("domain.c", "fk_mp_update_pending(d);\n}\n\nstatic void major_table", "}\n\nstatic void major_table",
     "fates of a minor collection are not announced"),
    ("sample.c", "h->index);\n}", "0);\n}", "the callstack is always that of the lowest block"),
]
CFLAGS = ["-std=c11", "-D_GNU_SOURCE", "-O1", "-g", "-w", "-ffp-contract=off", "-DFK_ABI=503",
          '-DFK_ARCH="%s"' % arch, "-I" + top, "-I" + os.path.join(top, "include")]


def mutate(number, name, old, new):
    """The broken engine as an object."""
    folder = "%s.mutant%d" % (out, number)
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(os.path.join(top, "runtime", "memprof"), folder)
    path = os.path.join(folder, name)
    with open(path) as f:
        text = f.read()
    if text.count(old) != 1:
        sys.exit("mutant %d: %s has %d times: %s" % (number, name, text.count(old), old))
    with open(path, "w") as f:
        f.write(text.replace(old, new))
    subprocess.run([cmm.CC[arch], *CFLAGS, "-c", "-o", folder + ".o", os.path.join(folder, "unit_framekit.c")], check=True)
    shutil.rmtree(folder)
    return folder + ".o"


def outcome(program):
    """How it ends: "no difference", or what was noticed."""
    run = subprocess.run([*cmm.emulator(arch), program, "1", "20000", "3"], stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE, text=True, env=dict(os.environ, FRAMEKIT_CHECK="move"))
    if run.returncode == 0:
        return "no difference"
    return (run.stderr.splitlines() or ["exit code %d" % run.returncode])[0]


here = os.path.dirname(os.path.abspath(__file__))
missed = 0
mutants = MUTANTS[:int(sys.argv[5])] if len(sys.argv) > 5 else MUTANTS
for i, (name, old, new, wrong) in enumerate(mutants):
    subprocess.run([sys.executable, os.path.join(here, "model.py"), arch, build, top, out, mutate(i, name, old, new)],
                   check=True)
    said = outcome(out + ".model")
    missed += said == "no difference"
    print("%s: %s" % (wrong, said))
print("%d mutants, %d missed" % (len(mutants), missed))
