#!/usr/bin/env python3
"""mutants.py FTDUMP FILE [SEED]: seeds faults into descriptors of a copy of FILE and
counts how many ftdump --verify reports at the descriptor that was changed.

Every class changes other descriptors, all in one copy, so one run judges thousands.
A class prints `CLASS caught/seeded`; exit 1 when one is not caught."""
import json
import os
import random
import struct
import subprocess
import sys
import tempfile


class Elf:
    """Enough of a 64-bit ELF file to find the byte of an address."""

    def __init__(self, data):
        self.data = bytearray(data)
        self.end = ">" if data[5] == 2 else "<"
        phoff, shoff = struct.unpack_from(self.end + "QQ", data, 32)
        phentsize, phnum, shentsize, shnum = struct.unpack_from(self.end + "HHHH", data, 54)
        self.loads = []
        for i in range(phnum):
            kind, _, off, va, _, filesz = struct.unpack_from(self.end + "IIQQQQ", data, phoff + i * phentsize)
            if kind == 1:
                self.loads.append((va, va + filesz, off))
        self.rela = {}
        for i in range(shnum):
            _, kind, _, _, off, size = struct.unpack_from(self.end + "IIQQQQ", data, shoff + i * shentsize)
            if kind == 4:
                for at in range(off, off + size, 24):
                    self.rela[struct.unpack_from(self.end + "Q", data, at)[0]] = at + 16

    def at(self, addr):
        for lo, hi, off in self.loads:
            if lo <= addr < hi:
                return addr - lo + off
        raise SystemExit("address 0x%x is not in the file" % addr)

    def read(self, fmt, addr):
        return struct.unpack_from(self.end + fmt, self.data, self.at(addr))[0]

    def write(self, fmt, addr, value):
        struct.pack_into(self.end + fmt, self.data, self.at(addr), value)


def move_retaddr(elf, d, unit):
    """By one instruction unit: into or behind the next instruction."""
    at = int(d["address"], 16)
    new = int(d["retaddr"], 16) + unit
    elf.write("Q", at, new)
    if at in elf.rela:
        struct.pack_into(elf.end + "q", elf.data, elf.rela[at], new)
    return True


def odd_frame(elf, d, unit):
    at = int(d["address"], 16) + 8
    elf.write("H", at, elf.read("H", at) + 4)
    return True


def slot_outside(elf, d, unit):
    """The last root becomes the first word beyond the frame and what is reserved in it."""
    if not d["live"] or "stack" not in d["live"][-1]:
        return False
    elf.write("H", int(d["address"], 16) + 12 + 2 * (len(d["live"]) - 1), d["frame_size"] + 64)
    return True


def register_at_call(elf, d, unit):
    if d["allocs"] is not None or not d["live"]:
        return False
    at = int(d["address"], 16) + 12 + 2 * (len(d["live"]) - 1)
    elf.write("H", at, elf.read("H", at) | 1)
    return True


def root_twice(elf, d, unit):
    if len(d["live"]) < 2:
        return False
    at = int(d["address"], 16) + 12
    elf.write("H", at + 2, elf.read("H", at))
    return True


def lengths_too_long(elf, d, unit):
    if not d["allocs"] or len(d["allocs"]) < 2:
        return False
    at = int(d["address"], 16) + 12 + 2 * len(d["live"]) + 1
    elf.write("B", at, 255)
    return True


CLASSES = [move_retaddr, odd_frame, slot_outside, register_at_call, root_twice, lengths_too_long]
UNIT = {"amd64": 1, "arm64": 4, "power": 4, "s390x": 2, "riscv64": 4}


def run(ftdump, *args):
    p = subprocess.run([ftdump, "--output-style=json", *args], stdout=subprocess.PIPE)
    return json.loads(p.stdout)


def main(ftdump, path, seed="1"):
    random.seed(int(seed))
    with open(path, "rb") as f:
        elf = Elf(f.read())
    doc = run(ftdump, "--module=Stdlib*", path)
    points = [d for m in doc["modules"] for d in m["descriptors"] if d["frame_size"]]
    random.shuffle(points)
    seeded = {}
    for i, d in enumerate(points):
        mutate = CLASSES[i % len(CLASSES)]
        if mutate(elf, d, UNIT[doc["arch"]]):
            seeded[int(d["address"], 16)] = mutate.__name__
    fd, copy = tempfile.mkstemp(dir=os.environ.get("TMPDIR"))
    with os.fdopen(fd, "wb") as f:
        f.write(elf.data)
    found = run(ftdump, "--verify=structure,calls", copy)["findings"]
    os.unlink(copy)
    hit = {int(x["descriptor"]["address"], 16) for x in found if "descriptor" in x}
    bad = 0
    for mutate in CLASSES:
        name = mutate.__name__
        all_ = [a for a, n in seeded.items() if n == name]
        caught = sum(a in hit for a in all_)
        bad += caught < 0.99 * len(all_) or not all_
        print("%s %d/%d" % (name, caught, len(all_)))
    # a return address that was moved onto another's blames that one too
    innocent = len({int(x["descriptor"]["address"], 16) for x in found
                    if "descriptor" in x and x["rule"] != "retaddr-unique"} - set(seeded))
    print("innocent descriptors reported: %d" % innocent)
    print("seed %s: %s" % (seed, "FAIL" if bad or innocent else "all classes caught"))
    return bad != 0 or innocent != 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
