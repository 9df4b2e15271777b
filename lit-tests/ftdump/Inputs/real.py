# real.py TIER SUITE ARCH: ftdump on every file of one Debian set of OCaml code.
#   totals     every figure equals the record in lit-tests/corpus/totals.txt,
#              which the second decoder wrote
#   roundtrip  every table comes back byte for byte
#   stripped   strip, and a copy without section headers: the same descriptors
#   scan       found without symbols: the same descriptors, none too many
# The last two on a few files, in tier long on all.
import csv, io, os, subprocess, sys, tempfile

tier, suite, arch = sys.argv[1:]
top = os.path.abspath(os.path.join(os.path.dirname(__file__), "../../.."))
faults = []


def run(*command):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


folder = run(top + "/qemu-ci/ocaml", "have", suite, arch).stdout.strip()
debian = dict(power="ppc64el").get(arch, arch)
triplet = [l.split()[2] for l in open(top + "/qemu-ci/arches") if l.split()[:1] == [arch]][0]


def short(path):  # as in totals.txt
    path = os.path.relpath(path, folder)
    if path.startswith("usr/bin/"):
        return path[4:]
    parts = path.split("/")
    if "ocaml" not in parts:
        return path
    rest = parts[parts.index("ocaml") + 1:]
    if rest and rest[0][:1].isdigit():
        rest = rest[1:]
    return "/".join(["lib"] + rest)


record = {}
for line in open(top + "/lit-tests/corpus/totals.txt"):
    f = line.split()
    if f[:1] == [suite] and f[1] in (arch, debian):
        record[f[2]] = {k: int(v) for k, v in (x.split("=") for x in f[3:])}
files = {}
for base, _, names in os.walk(folder):
    for n in names:
        p = os.path.join(base, n)
        if not os.path.islink(p) and short(p) in record:
            files[short(p)] = p
for name in sorted(set(record) - set(files)):
    faults.append(name + ": on record, but not in the set")

RECORDED = dict(modules="modules", empty="empty", descriptors="descriptors", debug="debug",
                alloc="alloc", both="debug_alloc", polls="polls", combined="combined",
                max_allocs="max_blocks", live="live", max_live="max_live", max_frame="max_frame",
                chains="chains", records="records", wide="wide",
                descriptor_bytes="descriptor_bytes")
order = sorted(files)
p = run("ftdump", "--totals", "--output-style=csv", *[files[n] for n in order])
rows = {r["file"]: r for r in csv.DictReader(io.StringIO(p.stdout))}
if p.returncode or p.stderr:
    faults.append("totals: exit %d: %s" % (p.returncode, p.stderr))
for n in order:
    row = rows.get(files[n])
    for a, b in RECORDED.items():
        # The record counts a pad behind the last return to C that the runtime's
        # archives do not have: their data ends before it.
        pad = 4 if a == "descriptor_bytes" and n.startswith("lib/libasmrun") else 0
        if row is None or int(row[b]) not in (record[n][a], record[n][a] - pad):
            faults.append("%s: %s is %s, on record %d" % (n, a, row and row[b], record[n][a]))
    debug = int(row["debuginfo_bytes"]) + int(row["name_bytes"]) if row else -1
    if debug != record[n]["debuginfo_bytes"]:
        faults.append("%s: debuginfo_bytes is %d, on record %d"
                      % (n, debug, record[n]["debuginfo_bytes"]))
tables = sum(r["modules"] for r in record.values())

p = run("ftdump", "--roundtrip", *[files[n] for n in order])
same = 0
for line in p.stdout.splitlines():
    w = line.rsplit(": ", 1)[-1].split()
    same += int(w[0]) if w[1:2] == ["of"] else 0
if p.returncode or same != tables:
    faults.append("roundtrip: exit %d, %d of %d tables\n%s%s"
                  % (p.returncode, same, tables, p.stdout, p.stderr))


def descriptors(path, *options):
    p = run("ftdump", "--output-style=csv", *options, path)
    if p.returncode and "no frametable" not in p.stderr:
        faults.append("%s %s: exit %d: %s" % (options, path, p.returncode, p.stderr))
    rows = csv.reader(io.StringIO(p.stdout))
    next(rows)
    # without the names of files, modules and functions
    return [(r[2], r[3]) + tuple(r[6:]) for r in rows]


def differ(what, a, b):
    if sorted(a) != sorted(b):
        faults.append("%s: %d descriptors, %d by symbols; first difference: %s" % (
            what, len(b), len(a), sorted(set(a) ^ set(b))[:2]))


def without_sections(path):
    d = bytearray(open(path, "rb").read())
    d[0x28:0x30] = bytes(8)       # e_shoff
    d[0x3c:0x40] = bytes(4)       # e_shnum, e_shstrndx
    open(path, "wb").write(d)


compared = 0
few = ("bin/ocamlopt.opt", "bin/ocamllex.opt", "lib/stdlib.a", "lib/str.cmxs", "lib/std_exit.o")
with tempfile.TemporaryDirectory() as tmp:
    for n in order if tier == "long" else [n for n in order if n in few]:
        symbols = descriptors(files[n])
        differ("--scan " + n, symbols, descriptors(files[n], "--scan"))
        compared += 1
        if not n.startswith("bin/"):
            continue
        copy = os.path.join(tmp, "copy")
        tool = "strip" if os.uname().machine + "-linux-gnu" == triplet else triplet + "-strip"
        run(tool, "-s", "-o", copy, files[n])
        differ("stripped " + n, symbols, descriptors(copy))
        without_sections(copy)
        differ("without sections " + n, symbols, descriptors(copy))
        differ("without sections --scan " + n, symbols, descriptors(copy, "--scan"))

for f in faults[:20]:
    print(f)
print("%d files, %d tables, %d compared without symbols, %d faults"
      % (len(order), tables, compared, len(faults)))
sys.exit(bool(faults))
