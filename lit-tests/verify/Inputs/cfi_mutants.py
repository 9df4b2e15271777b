#!/usr/bin/env python3
"""cfi_mutants.py FTDUMP FILE [SEED]: changes unwinding rows, frame sizes, callees and locations in copies
of FILE, and counts how many ftdump --verify reports at the descriptor that is concerned.

  row       the operand of the CFA rule that holds at a call
  return    the operand of the rule of the return address
  frame     the frame size of a descriptor by one unit (only the group cfi looks)
  callee    a direct call of an OCaml function goes to caml_call_gc, and the other way round
  location  a descriptor's location is that of another function's descriptor

Every class is one copy. Prints `CLASS caught/seeded`; classes that a file does not have (s390x: no rows that agree;
no direct calls by distance) print `CLASS none`. Exit 1 when less than 99 % are caught. Of locations 90 %
with a line table (the others are on the same line of a file of the same name, or at a bound error), else 30 %:
only a record that another function owns gives itself away."""
import bisect
import os
import random
import struct
import subprocess
import sys
import tempfile
from collections import Counter

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from mutants import Elf, UNIT, run  # noqa: E402

MOST = 1500


class Frames:
    """.eh_frame: for each FDE its rows and where the operands of their rules lie."""

    def __init__(self, elf):
        self.elf, self.fdes = elf, []
        data, shoff = elf.data, struct.unpack_from(elf.end + "Q", elf.data, 40)[0]
        shentsize, shnum, shstrndx = struct.unpack_from(elf.end + "HHH", data, 58)
        headers = [struct.unpack_from(elf.end + "IIQQQQ", data, shoff + i * shentsize)
                   for i in range(shnum)]
        for name, _, _, addr, off, size in headers:
            at = headers[shstrndx][4] + name
            if data[at:data.index(0, at)] == b".eh_frame":
                self.read(off, addr - off, off + size)
        self.fdes.sort(key=lambda f: f[0])
        self.starts = [f[0] for f in self.fdes]

    def leb(self, p, signed=False):
        v = shift = 0
        while True:
            b = self.elf.data[p]
            p, v, shift = p + 1, v | (b & 127) << shift, shift + 7
            if not b & 128:
                return (v - (1 << shift) if signed and b & 64 else v), p

    def read(self, p, bias, end):
        data, cies = self.elf.data, {}
        while p + 4 <= end:
            start, n = p, struct.unpack_from(self.elf.end + "I", data, p)[0]
            if n == 0:
                break
            p, stop = p + 8, p + 4 + n
            ident = struct.unpack_from(self.elf.end + "I", data, p - 4)[0]
            if ident == 0:
                q = data.index(0, p + 1) + 1
                code, q = self.leb(q)
                _, q = self.leb(q, True)
                q += 1
                size, q = self.leb(q)
                cies[start] = (code, data[p + 1:data.index(0, p + 1)], data[q], q + size, stop)
            else:
                cie = cies[p - 4 - ident]
                if cie[2] == 0x1b or cie[2] == 0x1a:
                    pc = p + bias + struct.unpack_from(self.elf.end + "i", data, p)[0]
                    size = struct.unpack_from(self.elf.end + "I", data, p + 4)[0]
                    aug, q = self.leb(p + 8)
                    self.fdes.append((pc, pc + size, cie[0], cie[3], cie[4], q + aug, stop))
            p = stop

    def rows(self, fde):
        """[(from, position of the CFA's operand, position of the RA rule's operand)]"""
        pc, _, align, c0, c1, p0, p1 = fde
        data, out, cfa, ra, kept = self.elf.data, [], None, None, []
        for p, end in ((c0, c1), (p0, p1)):
            while p < end:
                op, p = data[p], p + 1
                if op >> 6 == 1:
                    out.append((pc, cfa, ra))
                    pc += (op & 63) * align
                elif op >> 6 == 2:
                    ra = p
                    _, p = self.leb(p)
                elif op >> 6 == 3:
                    ra = None
                elif op in (2, 3, 4):
                    out.append((pc, cfa, ra))
                    size = {2: 1, 3: 2, 4: 4}[op]
                    order = "little" if self.elf.end == "<" else "big"
                    pc += int.from_bytes(data[p:p + size], order) * align
                    p += size
                elif op == 0x0a:
                    kept.append((cfa, ra))
                elif op == 0x0b:
                    cfa, ra = kept.pop()
                elif op == 0x0c:
                    _, p = self.leb(p)
                    cfa, (_, p) = p, self.leb(p)
                elif op == 0x0e:
                    cfa, (_, p) = p, self.leb(p)
                elif op in (0x05, 0x11):
                    _, p = self.leb(p)
                    ra, (_, p) = p, self.leb(p)
                elif op in (0x06, 0x07, 0x08, 0x0d):
                    _, p = self.leb(p)
                elif op == 0x09:
                    _, p = self.leb(self.leb(p)[1])
                elif op != 0:
                    return []
        return out + [(pc, cfa, ra)]

    def at(self, pc):
        i = bisect.bisect(self.starts, pc) - 1
        if i < 0 or pc >= self.fdes[i][1]:
            return None
        rows = self.rows(self.fdes[i])
        k = bisect.bisect([r[0] for r in rows], pc) - 1
        return rows[k] if k >= 0 else None


def operand(elf, at):
    """Changes a LEB of one byte by a word (small ones by 1); False when it has more bytes."""
    if at is None or elf.data[at] & 128:
        return False
    value = elf.data[at]
    elf.data[at] += 1 if value < 8 else 8 if value < 120 else -8
    return True


def seed_rows(elf, points, which):
    frames, seeded, used = Frames(elf), set(), set()
    for d in points:
        row = frames.at(int(d["retaddr"], 16) - 1)
        if row and row[which] not in used and operand(elf, row[which]):
            used.add(row[which])
            seeded.add(d["address"])
    return seeded


def seed_frame(elf, points, unit):
    for d in points:
        at = int(d["address"], 16) + 8
        elf.write("H", at, elf.read("H", at) + unit)
    return {d["address"] for d in points}


def signed(value, bits):
    return value - (1 << bits) if value >> (bits - 1) & 1 else value


def call_word(elf, arch, d):
    """(position, target) of the direct call before a return address; None: it is none."""
    ret = int(d["retaddr"], 16)
    if arch == "amd64" and elf.read("B", ret - 5) == 0xe8:
        return ret - 4, ret + elf.read("i", ret - 4)
    if arch == "s390x" and elf.read("H", ret - 6) == 0xc0e5:
        return ret - 4, ret - 6 + 2 * elf.read("i", ret - 4)
    word = elf.read("I", ret - 4)
    if arch == "arm64" and word >> 26 == 0x25:
        return ret - 4, ret - 4 + 4 * signed(word & 0x3ffffff, 26)
    if arch == "power" and word >> 26 == 18 and word & 3 == 1:
        return ret - 4, ret - 4 + signed(word & 0x3fffffc, 26)
    if arch == "riscv64" and word & 0xfffff == 0x080e7 and elf.read("I", ret - 8) & 0xfff == 0x97:
        high = signed(elf.read("I", ret - 8) & 0xfffff000, 32)
        return ret - 8, ret - 8 + high + signed(word >> 20, 12)
    return None


def aim(elf, arch, at, to):
    """The call whose field is at `at` goes to `to`."""
    if arch == "amd64":
        elf.write("i", at, to - at - 4)
    elif arch == "s390x":
        elf.write("i", at, (to - at + 2) // 2)
    elif arch == "arm64":
        elf.write("I", at, 0x94000000 | (to - at) // 4 & 0x3ffffff)
    elif arch == "power":
        elf.write("I", at, 0x48000001 | (to - at) & 0x3fffffc)
    else:
        elf.write("I", at, (to - at + 0x800) & 0xfffff000 | 0x97)
        elf.write("I", at + 4, ((to - at) & 0xfff) << 20 | 0x080e7)


def symbol(elf, name):
    """Address of a symbol that the file exports."""
    shoff, = struct.unpack_from(elf.end + "Q", elf.data, 40)
    shentsize, shnum = struct.unpack_from(elf.end + "HH", elf.data, 58)
    for i in range(shnum):
        at = shoff + i * shentsize
        _, kind, _, _, off, size, link = struct.unpack_from(elf.end + "IIQQQQI", elf.data, at)
        if kind != 11:
            continue
        strings, = struct.unpack_from(elf.end + "Q", elf.data, shoff + link * shentsize + 24)
        for sym in range(off, off + size, 24):
            first = strings + struct.unpack_from(elf.end + "I", elf.data, sym)[0]
            if elf.data[first:first + len(name) + 1] == name + b"\0":
                return struct.unpack_from(elf.end + "Q", elf.data, sym + 8)[0]
    raise SystemExit("no symbol %s" % name)


def seed_callees(elf, arch, points):
    """Calls of functions go to the collector; calls of the collector go where the last other went."""
    collector, seeded, last = symbol(elf, b"caml_call_gc"), set(), None
    collector += 8 if arch == "power" else 0  # its local entry
    for d in points:
        call = call_word(elf, arch, d)
        if not call:
            continue
        allocates = d["allocs"] is not None
        if not allocates or last:
            aim(elf, arch, call[0], last if allocates else collector)
            seeded.add(d["address"])
        last = last if allocates else call[1]
    return seeded


# --- locations -------------------------------------------------------------------------------

class Location:
    """The first block's location of a descriptor: the line table has it too."""

    def __init__(self, elf, d):
        self.d = d
        self.at = int(d["address"], 16) + 12 + 2 * len(d["live"])
        if d["allocs"] is not None:
            self.at += 1 + len(d["allocs"])
        self.at = (self.at + 3 & ~3) + 4 * (len(d["debuginfo"]) - 1)
        self.record = self.at + elf.read("I", self.at)
        self.place = d["debuginfo"][-1][0]["line"], d["debuginfo"][-1][0]["file"]

    def lead_to(self, elf, record):
        elf.write("i", self.at, record - self.at)


def functions(elf, points):
    """Locations of each function of each module: {module: {function: [Location]}}."""
    found = {}
    for d in points:
        if d.get("debuginfo") and d["debuginfo"][-1]:
            of = found.setdefault(module_of[d["address"]], {})
            of.setdefault(d["function"], []).append(Location(elf, d))
    return found


def seed_locations(elf, points):
    """In one function of three, so that the record's owner still says whose it is."""
    seeded = set()
    for of in functions(elf, points).values():
        neighbours = list(of.values())
        for one, two in list(zip(neighbours, neighbours[1:]))[::3]:
            here, other = random.choice(two), random.choice(one)
            if here.place != other.place:
                here.lead_to(elf, other.record)
                seeded.add(here.d["address"])
    return seeded


def seed_offsets(elf, points):
    """One word further than the record's beginning."""
    seeded = set()
    for of in functions(elf, points).values():
        for found in list(of.values())[::3]:
            here = random.choice(found)
            here.lead_to(elf, here.record + 4)
            seeded.add(here.d["address"])
    return seeded


def seed_lines(elf, points):
    """The line of a record that only one descriptor leads to is one more."""
    all_of = [x for of in functions(elf, points).values() for found in of.values() for x in found]
    uses, seeded = Counter(x.record for x in all_of), set()
    for x in random.sample(all_of, len(all_of) // 3):
        if uses[x.record] == 1:
            wide = elf.read("I", x.record + 4) >> 31
            elf.write("I", x.record + 4, elf.read("I", x.record + 4) + (1 << (12 if wide else 19)))
            seeded.add(x.d["address"])
    return seeded


# --- all -------------------------------------------------------------------------------------

module_of = {}


def judge(ftdump, elf, name, seeded, groups, least):
    if not seeded:
        print("%s none" % name)
        return True
    fd, copy = tempfile.mkstemp(dir=os.environ.get("TMPDIR"))
    with os.fdopen(fd, "wb") as f:
        f.write(elf.data)
    found = run(ftdump, "--verify=" + groups, copy)["findings"]
    os.unlink(copy)
    hit = {x["descriptor"]["address"] for x in found if "descriptor" in x}
    modules = {x["place"] for x in found if x["rule"] == "cfi-tracked"}
    hit |= {a for a in seeded if module_of[a] in modules}  # the last row of a module that agreed
    caught = len(seeded & hit)
    print("%s %d/%d" % (name, caught, len(seeded)))
    return caught >= least * len(seeded)


def main(ftdump, path, seed="1"):
    random.seed(int(seed))
    with open(path, "rb") as f:
        clean = f.read()
    doc = run(ftdump, "--descriptors", path)
    arch = doc["arch"]
    points = [d for m in doc["modules"] for d in m["descriptors"] if d["frame_size"]]
    module_of.update((d["address"], m["name"]) for m in doc["modules"] for d in m["descriptors"])
    found = run(ftdump, "--verify=cfi", path)["findings"]
    bad = {x["descriptor"]["address"] if "descriptor" in x else x["place"] for x in found}
    rows = [d for d in points if d["address"] not in bad and module_of[d["address"]] not in bad]
    # most of a module must be left to judge it
    rows = random.sample(rows, min(MOST, len(rows) // 8))
    some = random.sample(points, min(MOST, len(points)))
    unit = 16 if UNIT[arch] == 4 else 8
    lines = b".debug_line\0" in clean
    classes = (  # name, who seeds, groups, least share
        ("row", lambda elf: seed_rows(elf, rows, 1), "cfi", 0.99),
        ("return", lambda elf: seed_rows(elf, rows, 2), "cfi", 0.99),
        ("frame", lambda elf: seed_frame(elf, rows, unit), "cfi", 0.99),
        ("callee", lambda elf: seed_callees(elf, arch, some), "calls", 0.99),
        ("location", lambda elf: seed_locations(elf, points), "debug", 0.98 if lines else 0.6),
        ("offset", lambda elf: seed_offsets(elf, points), "structure,debug", 0.95),
        ("line", lambda elf: seed_lines(elf, points) if lines else None, "debug", 0.95))
    good = True
    for name, seed_class, groups, least in classes:
        elf = Elf(clean)
        good &= judge(ftdump, elf, name, seed_class(elf), groups, least)
    print("seed %s: %s" % (seed, "all classes caught" if good else "FAIL"))
    return not good


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
