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

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from mutants import Elf, UNIT, run  # noqa: E402

MOST = 1500


class Frames:
    """.eh_frame: for each FDE its rows and where the operands of their rules lie."""

    def __init__(self, elf):
        self.elf, self.fdes = elf, []
        data, shoff = elf.data, struct.unpack_from(elf.end + "Q", elf.data, 40)[0]
        shentsize, shnum, shstrndx = struct.unpack_from(elf.end + "HHH", data, 58)
        headers = [struct.unpack_from(elf.end + "IIQQQQ", data, shoff + i * shentsize) for i in range(shnum)]
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
                    pc += int.from_bytes(data[p:p + size], "little" if self.elf.end == "<" else "big") * align
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
    """Adds 1 << 3 (or 1) to a ULEB of one byte; False when it has more."""
    if at is None or elf.data[at] & 128 or elf.data[at] >= 120:
        return False
    elf.data[at] += 8 if elf.data[at] >= 8 else 1
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


def call_word(elf, arch, d):
    """(position, target) of the direct call before a return address."""
    ret = int(d["retaddr"], 16)
    if arch == "amd64" and elf.read("B", ret - 5) == 0xe8:
        return ret - 4, ret + elf.read("i", ret - 4)
    if arch == "arm64" and elf.read("I", ret - 4) >> 26 == 0x25:
        n = elf.read("I", ret - 4) & 0x3ffffff
        return ret - 4, ret - 4 + 4 * (n - (1 << 26) if n >> 25 else n)
    if arch == "s390x" and elf.read("H", ret - 6) == 0xc0e5:
        return ret - 4, ret - 6 + 2 * elf.read("i", ret - 4)
    return None


def aim(elf, arch, at, to):
    """The call whose field is at `at` goes to `to`."""
    if arch == "amd64":
        elf.write("i", at, to - at - 4)
    elif arch == "arm64":
        elf.write("I", at, 0x94000000 | (to - at) // 4 & 0x3ffffff)
    else:
        elf.write("i", at, (to - at + 2) // 2)


def seed_callees(elf, arch, points):
    """Each call goes where the last one of the other kind went."""
    last, seeded = {}, set()
    for d in points:
        call = call_word(elf, arch, d)
        if not call or (d["allocs"] is None and d["frame_size"] is None):
            continue
        kind = d["allocs"] is not None
        if kind not in last:
            last[kind] = call[1]
        if (not kind) not in last:
            continue
        aim(elf, arch, call[0], last[not kind])
        seeded.add(d["address"])
        last[kind] = last[kind] if kind else call[1]
    return seeded


def offset_at(d):
    """Where the first debug offset of a descriptor lies, and what it counts from."""
    at = int(d["address"], 16) + 12 + 2 * len(d["live"])
    if d["allocs"] is not None:
        at += 1 + len(d["allocs"])
    return (at + 3) & ~3


def seed_locations(elf, points):
    seeded, before = set(), None
    for d in points:
        if not d.get("debuginfo") or d["debuginfo"][-1] is None:
            continue
        at = offset_at(d) + 4 * (len(d["debuginfo"]) - 1)
        here = at + elf.read("i", at), d["function"], d["debuginfo"][-1][0]
        if before and before[1] != here[1] and (before[2]["line"], before[2]["file"]) != (here[2]["line"], here[2]["file"]):
            elf.write("i", at, before[0] - at)
            seeded.add(d["address"])
        before = here
    return seeded


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
    rows = random.sample(rows, min(MOST, len(rows) // 8))  # most of a module must be left to judge it
    some = random.sample(points, min(MOST, len(points)))
    good, elf = True, Elf(clean)
    good &= judge(ftdump, elf, "row", seed_rows(elf, rows, 1), "cfi", 0.99)
    elf = Elf(clean)
    good &= judge(ftdump, elf, "return", seed_rows(elf, rows, 2), "cfi", 0.99)
    elf = Elf(clean)
    good &= judge(ftdump, elf, "frame", seed_frame(elf, rows, 16 if UNIT[arch] == 4 else 8), "cfi", 0.99)
    elf = Elf(clean)
    good &= judge(ftdump, elf, "callee", seed_callees(elf, arch, some), "calls", 0.99)
    elf = Elf(clean)
    good &= judge(ftdump, elf, "location", seed_locations(elf, points), "debug", 0.9 if b".debug_line\0" in clean else 0.3)
    print("seed %s: %s" % (seed, "all classes caught" if good else "FAIL"))
    return not good


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
