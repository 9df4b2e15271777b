# Every test of framekit. One file each: its RUN lines, its input, its CHECKs.
#
# Features: tier-quick|full|long (tier matrix is full without the long-running tests,
# which require !tier-matrix; what it runs is what full runs, so it has tier-full
# too and %tier is full there), cc-ARCH (cross compiler present),
# qemu-ARCH (the programs of ARCH can run), and what qemu-ci/fetch put into the
# cache: ocaml-SUITE-ARCH (native code of a Debian release), real-ocaml-ARCH and
# real-ocaml-5.4-ARCH (the compilers 5.3.0 and 5.4.1), capstone; plugin-ARCH
# (qemu-ci/count can count instructions), python-MODULE, go, private-mounts
# (unshare may give a test file systems and a network of its own).
# `--param arch=ARCH` takes cc-, qemu- and ocaml features of all others away.
# Substitutions: %build, %top, %tier, %python, %ocaml (qemu-ci/ocaml), %arches,
# %cc_ARCH, %as_ARCH, %qemu_ARCH ("" on the machine's own architecture).
import glob, importlib.util, os, re, shutil, subprocess, sys
import lit.formats

top = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
build = os.environ.get("BUILD", os.path.join(top, "build"))
if " " in top + build:
    lit_config.fatal("the tests need a folder without spaces: %s" % (top if " " in top else build))
tier = lit_config.params.get("tier", "full")

config.name = "framekit"
config.test_format = lit.formats.ShTest(True)
config.suffixes = [".test", ".s", ".S", ".cmm"]
config.excludes = ["Inputs"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(build, "lit")
config.available_features.add("tier-" + tier)
if tier == "matrix":
    tier = "full"
    config.available_features.add("tier-full")


def version(path):
    return int(re.search(r"llvm-(\d+)", path).group(1))


llvm = max(glob.glob("/usr/lib/llvm-*/bin/FileCheck"), key=version)
config.environment["PATH"] = os.pathsep.join(
    [os.path.join(build, "bin"), os.path.dirname(llvm), os.environ["PATH"]])
for v in ("HOME", "FRAMEKIT_CACHE", "FRAMEKIT_MIRROR", "LC_ALL"):
    if v in os.environ:
        config.environment[v] = os.environ[v]
config.environment["PYTHONDONTWRITEBYTECODE"] = "1"

cache = os.environ.get("FRAMEKIT_CACHE") or os.path.expanduser("~/.cache/framekit")
only = lit_config.params.get("arch", "").split(",") if "arch" in lit_config.params else None
names = []
subs = [("%build", build), ("%top", top), ("%tier", tier)]
for line in open(os.path.join(top, "qemu-ci", "arches")):
    f = line.split("#")[0].split()
    if not f:
        continue
    name, debian, triplet, cpu = f[:4]
    native = os.uname().machine == cpu
    cc = "gcc" if native else triplet + "-gcc"
    qemu = "" if native else "qemu-" + cpu
    if name == "arm64" and qemu:  # pointer authentication costs 8x under QEMU
        qemu += " -cpu max,pauth=off"
    as_ = "as" if native else triplet + "-as"
    subs += [("%cc_" + name, cc), ("%as_" + name, as_), ("%qemu_" + name, qemu)]
    if only and name not in only:
        continue
    names.append(name)
    if shutil.which(cc):
        config.available_features.add("cc-" + name)
    if native or shutil.which(qemu.split()[0]):
        config.available_features.add("qemu-" + name)
    if subprocess.run([os.path.join(top, "qemu-ci", "count"), "--probe", name],
                      stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0:
        config.available_features.add("plugin-" + name)
    for suite in ("bullseye", "bookworm", "trixie", "forky"):
        if os.path.exists("%s/ocaml-sets/%s-%s/ok" % (cache, suite, debian)):
            config.available_features.add("ocaml-%s-%s" % (suite, name))
    for feature, version in (("ocaml-libs-", "5.3.0"), ("ocaml-libs-5.4-", "5.4.1")):
        if os.path.exists("%s/real-ocaml-%s/libs-%s/ok" % (cache, version, debian)):
            config.available_features.add(feature + name)
    for feature, version in (("real-ocaml-", "5.3.0"), ("real-ocaml-5.4-", "5.4.1")):
        if os.path.exists("%s/real-ocaml-%s/%s/ok" % (cache, version, debian)):
            config.available_features.add(feature + name)
subs += [("%python", sys.executable), ("%arches", " ".join(names)),
         ("%ocaml", os.path.join(top, "qemu-ci", "ocaml"))]
if subprocess.run([os.path.join(top, "qemu-ci", "capstone"), "--check"],
                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0:
    config.available_features.add("capstone")
if subprocess.run(["unshare", "-rmn", "mount", "-t", "tmpfs", "none", "/mnt"],
                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0:
    config.available_features.add("private-mounts")
for module in ("yaml", "jsonschema"):
    if importlib.util.find_spec(module):
        config.available_features.add("python-" + module)
if shutil.which("go"):
    config.available_features.add("go")
# Longest first: %as_amd64 must not be cut by a shorter name.
config.substitutions += sorted(subs, key=lambda s: -len(s[0]))
