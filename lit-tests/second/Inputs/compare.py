"""Compares what ftdump says in JSON with what the second decoder found: every
field of every descriptor. Addresses of relocatable objects are each reader's
own, so there a place is compared as function + offset, and an address as its
distance from its table."""
import json
import subprocess

from elf import ET_REL
from tables import ALLOC, DEBUG, REGISTERS

SHOWN = 5  # differences printed for one file


class Differ:
    def __init__(self, path):
        self.path, self.count = path, 0

    def check(self, where, what, ours, theirs):
        if ours == theirs:
            return
        self.count += 1
        if self.count <= SHOWN:
            print("%s: %s: %s: second decoder %r, ftdump %r"
                  % (self.path, where, what, ours, theirs))


def images_of(document):
    """ftdump's JSON of one file: one image, or one per archive member."""
    if "modules" in document:
        return [document]
    return document.get("images") or document.get("members") or document.get("files") or []


def number(text):
    return int(text, 16) if isinstance(text, str) else text


def live_of(elf, d):
    names = REGISTERS[elf.arch]
    return [{"stack": n} if kind == "stack" else {"reg": n, "name": names[n]} for kind, n in d.live]


def frame_of(f):
    out = {"file": f.file, "line": f.line, "start_char": f.start_char, "end_char": f.end_char,
           "raise": f.raised}
    for key in ("end_line", "end_offset", "defname"):
        if getattr(f, key) is not None:
            out[key] = getattr(f, key)
    return out


def flags_of(d):
    if d.frame_size is None:
        return {"return_to_c"}
    out = {d.form} if d.form else set()
    if d.flags & DEBUG:
        out.add("debug")
    if d.flags & ALLOC:
        out.add("alloc")
    return out


def debuginfo_of(table, d):
    if d.debug is None:
        return None
    chains = (table.debuginfo.chain(r) if r else None for r in d.debug)
    return [c and [frame_of(f) for f in c] for c in chains]


def compare_place(differ, where, elf, d, theirs):
    names, start = elf.functions_at(d.retaddr - 1)
    if names:
        if theirs.get("function") not in names:
            differ.check(where, "function", names[0], theirs.get("function"))
        differ.check(where, "offset", d.retaddr - start, theirs.get("offset"))
    else:
        differ.check(where, "function", None, theirs.get("function"))


def compare_descriptor(differ, where, elf, table, d, theirs, base):
    relative = elf.type == ET_REL
    if not relative:
        differ.check(where, "retaddr", d.retaddr, number(theirs["retaddr"]))
    differ.check(where, "address", d.address - table.address, number(theirs["address"]) - base)
    compare_place(differ, where, elf, d, theirs)
    differ.check(where, "flags", flags_of(d), set(theirs["flags"]))
    differ.check(where, "frame size", d.frame_size, theirs["frame_size"])
    if d.frame_size is None:
        return
    differ.check(where, "live", live_of(elf, d), theirs["live"])
    differ.check(where, "allocs", d.allocs, theirs.get("allocs"))
    if not table.opaque:
        differ.check(where, "debuginfo", debuginfo_of(table, d), theirs.get("debuginfo"))


def compare_table(differ, member, elf, table, theirs):
    where = "%s%s" % (member and member + " ", table.symbol)
    base = number(theirs["address"])
    differ.check(where, "name", table.name, theirs["name"])
    if elf.type != ET_REL:
        differ.check(where, "address", table.address, base)
    differ.check(where, "num_descriptors", table.num, theirs["num_descriptors"])
    differ.check(where, "descriptor_bytes", table.descr_bytes, theirs["descriptor_bytes"])
    if not table.opaque:
        differ.check(where, "debuginfo_bytes", table.record_bytes, theirs["debuginfo_bytes"])
        differ.check(where, "name_bytes", table.name_bytes, theirs["name_bytes"])
    if not elf.relr:
        count = elf.relocations_in(table.address, table.end)
        differ.check(where, "relocation_bytes", count * 3 * elf.word, theirs["relocation_bytes"])
    differ.check(where, "descriptors", len(table.descriptors), len(theirs["descriptors"]))
    for i, (d, t) in enumerate(zip(table.descriptors, theirs["descriptors"])):
        compare_descriptor(differ, "%s %d" % (where, i), elf, table, d, t, base)


def compare_image(differ, member, elf, tables, generation, image):
    differ.check(member, "arch", elf.arch, image["arch"])
    differ.check(member, "endian", {"<": "little", ">": "big"}[elf.order], image["endian"])
    if any(t.num for t in tables):
        differ.check(member, "format", generation, image["format"])
    theirs = {m["symbol"]: m for m in image["modules"]}
    differ.check(member, "modules", sorted(t.symbol for t in tables), sorted(theirs))
    for t in tables:
        if t.symbol in theirs:
            compare_table(differ, member, elf, t, theirs[t.symbol])


def compare_file(ftdump, path, decoded, generation, options=()):
    """Number of differences between `decoded` ([(member, Elf, [Table])]) and
    what the program ftdump prints for the file."""
    differ = Differ(path)
    done = subprocess.run([ftdump, "--output-style=json", *options, path], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE)
    differ.check("", "exit code", 0, done.returncode)
    if not done.stdout:
        differ.check("", "output", "JSON", done.stderr.decode()[:200])
        return differ.count
    images = images_of(json.loads(done.stdout.decode("utf-8", "surrogateescape")))
    wanted = [(m, e, t) for m, e, t in decoded if t]
    images = [i for i in images if i["modules"]]
    differ.check("", "members with tables", len(wanted), len(images))
    for (member, elf, tables), image in zip(wanted, images):
        compare_image(differ, member, elf, tables, generation, image)
    if differ.count > SHOWN:
        print("%s: and %d more differences" % (path, differ.count - SHOWN))
    return differ.count
