#!/usr/bin/env python3
"""mutants.py FTDUMP FILE [SEED] [CLASS... -v --stripped]: seeds faults into copies of FILE, one in
each function, and counts how many ftdump --verify reports in the function that was changed.

A class changes one field of one descriptor or one instruction of the code. One run judges thousands
of mutants. There are four copies: one for the fields, one for dropped roots alone (one root of one
descriptor of each function that has any: no other class takes the easy ones away), one for the code,
one for the polls of loops. Each class prints `CLASS caught/seeded`; exit 1 when a class falls below
its share, or when a function that was not changed is reported. Code that was changed may take a block
where it took none before: live-missing believes it, and what it then says of callers does not count
as a report of the innocent."""
import json
import os
import random
import re
import struct
import subprocess
import sys
import tempfile

from stripped import without_symbols

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


class Point:
    """A descriptor, and its bytes taken apart."""

    def __init__(self, elf, d, arch):
        self.elf, self.d, self.arch = elf, d, arch
        self.address, self.retaddr = int(d["address"], 16), int(d["retaddr"], 16)
        self.flags = elf.read("H", self.address + 8) & 3
        n = elf.read("H", self.address + 10)
        self.live = [elf.read("H", self.address + 12 + 2 * i) for i in range(n)]
        at = self.address + 12 + 2 * n
        self.allocs = []
        if self.flags & 2:
            self.allocs = [elf.read("B", at + 1 + i) for i in range(elf.read("B", at))]
            at += 1 + len(self.allocs)
        self.debug = []
        if self.flags & 1:
            at = (at + 3) & ~3
            for _ in range(len(self.allocs) or 1):
                self.debug.append((at + elf.read("I", at)) & 0xffffffff if elf.read("I", at) else 0)
                at += 4
        self.size = ((at + 7) & ~7) - self.address

    def store(self):
        """Writes the fields back; False: they would not take the same room."""
        out = bytearray(struct.pack(self.elf.end + "H", len(self.live)))
        for x in self.live:
            out += struct.pack(self.elf.end + "H", x)
        if self.flags & 2:
            out += bytes([len(self.allocs)] + self.allocs)
        if self.flags & 1:
            while (self.address + 10 + len(out)) % 4:
                out.append(0)
            for x in self.debug:
                out += struct.pack(self.elf.end + "I", (x - (self.address + 10 + len(out))) & 0xffffffff if x else 0)
        if (10 + len(out) + 7) & ~7 != self.size:
            return False
        at = self.elf.at(self.address + 10)
        self.elf.data[at:at + self.size - 10] = out + bytes(self.size - 10 - len(out))
        return True


UNIT = {"amd64": 1, "arm64": 4, "power": 4, "s390x": 2, "riscv64": 4}
FRAME_UNIT = {"amd64": 8, "arm64": 16, "power": 16, "s390x": 8, "riscv64": 8}
RESERVED = {"power": 32}


# --- one field of a descriptor ---------------------------------------------------------------

def retaddr_moved(p):
    new = p.retaddr + UNIT[p.arch] * random.choice((-1, 1))
    p.elf.write("Q", p.address, new)
    if p.address in p.elf.rela:
        struct.pack_into(p.elf.end + "q", p.elf.data, p.elf.rela[p.address], new)
    return True


def frame_larger(p):
    p.elf.write("H", p.address + 8, p.elf.read("H", p.address + 8) + FRAME_UNIT[p.arch])
    return True


def frame_smaller(p):
    if p.d["frame_size"] < 2 * FRAME_UNIT[p.arch]:
        return False
    p.elf.write("H", p.address + 8, p.elf.read("H", p.address + 8) - FRAME_UNIT[p.arch])
    return True


def frame_odd(p):
    p.elf.write("H", p.address + 8, p.elf.read("H", p.address + 8) + 4)
    return True


def flag_alloc(p):
    """The flag is taken from a poll, or given to a call, where a count of 0 fits."""
    if p.flags & 1 or p.allocs:
        return False
    p.flags ^= 2
    if not p.store():
        return False
    p.elf.write("H", p.address + 8, p.elf.read("H", p.address + 8) ^ 2)
    return True


def slot_outside(p):
    if not p.live or p.live[-1] & 1:
        return False
    first = 0 if p.arch in RESERVED else -8  # of what is behind the slots, from the frame's end
    p.live[-1] = p.d["frame_size"] + random.choice((first, 64))
    return p.store()


def register_at_call(p):
    if p.flags & 2 or not p.live:
        return False
    p.live[-1] |= 1
    return p.store()


def root_twice(p):
    if len(p.live) < 2:
        return False
    p.live[1] = p.live[0]
    return p.store()


def root_dropped(p):
    if not p.live:
        return False
    del p.live[random.randrange(len(p.live))]
    return p.store()


def free_slots(p):
    low = RESERVED.get(p.arch, 0)
    return [x for x in range(low, p.d["frame_size"] - (0 if low else 8), 8) if x not in p.live]


def root_added(p):
    free = free_slots(p)
    if not free:
        return False
    p.live = sorted(p.live + [random.choice(free)])
    return p.store()


def root_moved(p):
    free, slots = free_slots(p), [i for i, x in enumerate(p.live) if not x & 1]
    if not free or not slots:
        return False
    p.live[random.choice(slots)] = random.choice(free)
    p.live.sort()
    return p.store()


def length_changed(p):
    if not p.allocs:
        return False
    i = random.randrange(len(p.allocs))
    p.allocs[i] = max(0, min(255, p.allocs[i] + random.choice((-1, 1))))
    return p.store() and p.allocs[i] != p.d["allocs"][i] - 1


def lengths_swapped(p):
    if len(p.allocs) < 2 or p.allocs[0] == p.allocs[-1]:
        return False
    p.allocs[0], p.allocs[-1] = p.allocs[-1], p.allocs[0]
    return p.store()


def lengths_merged(p):
    if len(p.allocs) < 2:
        return False
    p.allocs[0:2] = [p.allocs[0] + p.allocs[1] + 2]
    del p.debug[1:2]
    return p.store()


def lengths_too_long(p):
    if len(p.allocs) < 2:
        return False
    p.allocs[0] = 255
    return p.store()


# --- one instruction --------------------------------------------------------------------------

def words(value, mask):
    """Instructions of four bytes that match."""
    def find(code, end):
        for at in range(0, len(code) - 3, 4):
            if struct.unpack_from(end + "I", code, at)[0] & mask == value:
                yield at
    return find


def loaded(value, mask, at, by, by_mask, by_at):
    """Instructions that match and whose register (from bit `at`) the next one has from bit `by_at`."""
    def find(code, end):
        for o in words(value, mask)(code, end):
            if o + 8 > len(code):
                continue
            one, two = struct.unpack_from(end + "II", code, o)
            if two & by_mask == by and one >> at & 31 == two >> by_at & 31:
                yield o
    return find


def pattern(text):
    """Bytes of amd64 or s390x: the part that is changed is a group."""
    compiled = re.compile(text, re.S)

    def find(code, end):
        for m in compiled.finditer(code):
            yield m.start(1)
    return find


# arch: where it is found, the field that is changed (format, add)
DECREMENT = {"amd64": (pattern(rb"I\x83\xef(.)M;>"), "B", 8),
             "arm64": (words(0xd100037b, 0xffc003ff), "I", 8 << 10),
             "power": (words(0x3bff0000, 0xffff0000), "I", -8),
             "s390x": (pattern(rb"\xe3\xb0([\xb0-\xbf].)\xff\x71"), "H", -8),
             "riscv64": (words(0x000d0d13, 0x000fffff), "I", -(8 << 20))}
HEADER = {"amd64": (pattern(rb"H\xc7[\x40-\x47]\xf8(....)"), "I", 1024),
          "arm64": (loaded(0xd2800000, 0xffe00000, 0, 0xf81f8000, 0xfffffc00, 0), "I", 1024 << 5),
          "power": (loaded(0x38000000, 0xfc1f0000, 21, 0xf800fff8, 0xfc00ffff, 21), "I", 1024),
          "riscv64": (loaded(0x00000013, 0x00007077, 7, 0xfe003c23, 0xfe007fff, 20), "I", 1024 << 20),
          "s390x": (pattern(rb"\xa7[\x09-\xf9](.[\x00])\xe3[\x00-\xff][\x00-\xff]\xf8\xff\x24"), "H", 1024)}
SP_ADJUST = {"amd64": (pattern(rb"H\x83\xec(.)"), "B", 8),
             "arm64": (words(0xd10003ff, 0xffc003ff), "I", 16 << 10),
             "power": (words(0x38218000, 0xffff8000), "I", -16),
             "s390x": (pattern(rb"\xe3\xf0([\xf0-\xff].)\xff\x71"), "H", -8),
             "riscv64": (words(0x80010113, 0x800fffff), "I", -(8 << 20))}
# the stack check asks for less
STACK = {"amd64": (pattern(rb"L\x8d\x94\x24(....)M;V\x28"), "I", 8),
         "arm64": (words(0x91000210, 0xffc003ff), "I", -(16 << 10)),
         "power": (pattern(rb"\x28\x00\x7e\xe9(..)\x6b\x39"), "H", -16),
         "s390x": (pattern(rb"\xe3\x10([\xf0-\xff].)\xff\x71"), "H", 8),
         "riscv64": (words(0x00030313, 0x000fffff), "I", -(8 << 20))}
SPILL = {"amd64": (pattern(rb"H\x89[\x44\x4c\x54\x5c\x6c\x74\x7c]\$(.)"), "B", 8),
         "arm64": (words(0xf90003e0, 0xffc003e0), "I", 1 << 10),
         "power": (words(0xf8010000, 0xfc1f0003), "I", 8),
         "s390x": (pattern(rb"\xe3[\x20\x30\x40\x50\x60\x70\x80\x90]([\xf0-\xff].)\x00\x24"), "H", 8),
         "riscv64": (words(0x00013023, 0x000ff07f), "I", 1 << 10)}


def some_place(p, find):
    """Address of one of the instructions in the function, up to the descriptor; None: there is none."""
    start = p.retaddr - p.d["offset"]
    lo = p.elf.at(start)
    places = list(find(bytes(p.elf.data[lo:lo + p.d["offset"]]), p.elf.end))
    return start + random.choice(places) if places else None


def change(where):
    def mutate(p):
        find, fmt, add = where[p.arch]
        place = some_place(p, find)
        if place is None:
            return False
        size = {"B": 8, "H": 16, "I": 32}[fmt]
        p.elf.write(fmt, place, (p.elf.read(fmt, place) + add) & ((1 << size) - 1))
        return True
    return mutate


# --- the poll of a loop -----------------------------------------------------------------------

# The branch back to the loop's top while young is above the limit, in front of the jump to the
# call of the collector; power calls it by the branch itself, in front of the jump to the top.
def branches_back(code, end, is_compare, is_branch, is_jump, is_back):
    for o in range(0, len(code) - 11, 4):
        compare, branch, jump = struct.unpack_from(end + "III", code, o)
        if is_compare(compare) and is_branch(branch) and is_jump(jump) and is_back(branch, jump):
            yield o + 4


def arm64_polls(code, end):
    return branches_back(code, end, lambda w: w == 0xeb10037f, lambda w: w & 0xff00001f == 0x54000008,
                         lambda w: w >> 26 == 5, lambda branch, _: branch >> 23 & 1)


def power_polls(code, end):
    return branches_back(code, end, lambda w: w & 0xffff07fe == 0x7c3f0040,
                         lambda w: w & 0xff9f0003 == 0x41800001, lambda w: w >> 26 == 18 and not w & 3,
                         lambda _, jump: jump >> 25 & 1)


def riscv64_polls(code, end):
    return branches_back(code, end, lambda w: w & 0xfffff07f == 0x000db003,
                         lambda w: w & 0xff07f == 0xd7063, lambda w: w & 0xfff == 0x6f,
                         lambda branch, _: branch >> 31)


# arch: (where the branch is, its format, the branch the other way round, the branch without a condition)
POLL = {"amd64": (pattern(rb"M;>(w[\x80-\xff]|\x0f\x87...\xff)[\xe9\xeb]"), "H",
                  lambda w: w ^ (0x100 if w & 255 == 0x0f else 1),
                  lambda w: 0xe990 if w & 255 == 0x0f else w & 0xff00 | 0xeb),
        "arm64": (arm64_polls, "I", lambda w: w ^ 1,
                  lambda w: 0x14000000 | (w >> 5 & 0x7ffff) | 0x3f80000),
        "power": (power_polls, "I", lambda w: w ^ 0x01000000, lambda w: 0x60000000),
        "s390x": (pattern(rb"\xe3\xb0\xa0\x00\x00\x21(\xc0.)\xff...\xc0\xf4"), "H",
                  lambda w: w ^ 0xf0, lambda w: w | 0xf0),
        "riscv64": (riscv64_polls, "I", lambda w: w ^ 0x1000, lambda w: w & 0xfe000f80 | 0x63)}


def poll(which):
    def mutate(p):
        find, fmt = POLL[p.arch][:2]
        place = some_place(p, find)
        if place is None:
            return False
        p.elf.write(fmt, place, POLL[p.arch][which](p.elf.read(fmt, place)))
        return True
    return mutate


CLASSES = {  # name: what changes, the share that must be caught
    "retaddr_moved": (retaddr_moved, 0.99), "frame_larger": (frame_larger, 0.99),
    "frame_smaller": (frame_smaller, 0.99), "frame_odd": (frame_odd, 0.99), "flag_alloc": (flag_alloc, 0.99),
    "slot_outside": (slot_outside, 0.99), "register_at_call": (register_at_call, 0.99),
    "root_twice": (root_twice, 0.99), "root_dropped": (root_dropped, 0.68), "root_added": (root_added, 0.85),
    "root_moved": (root_moved, 0.92), "length_changed": (length_changed, 0.99),
    "lengths_swapped": (lengths_swapped, 0.99), "lengths_merged": (lengths_merged, 0.99),
    "lengths_too_long": (lengths_too_long, 0.99), "code_decrement": (change(DECREMENT), 0.99),
    "code_header": (change(HEADER), 0.99), "code_sp_adjust": (change(SP_ADJUST), 0.99),
    "code_spill": (change(SPILL), 0.9), "code_stack": (change(STACK), 0.99),
    "poll_inverted": (poll(2), 0.99), "poll_removed": (poll(3), 0.97),
}


RARE = "code_header", "code_stack", "lengths_merged"  # a small or old program may not have any


def run(ftdump, *args):
    p = subprocess.run([ftdump, "--output-style=json", *args], stdout=subprocess.PIPE)
    return json.loads(p.stdout)


def changes_code(names):
    return any(n.startswith(("code_", "poll_")) for n in names)


def seed_all(elf, doc, names):
    """One mutant in each function: {function: (class, address of the descriptor)}."""
    functions = {}
    for m in doc["modules"]:
        for d in m["descriptors"]:
            if d["frame_size"] and d.get("function"):
                functions.setdefault(d["function"], []).append(d)
    order = sorted(functions)
    random.shuffle(order)
    left, seeded = list(names), {}
    for function in order:
        d = random.choice(functions[function])
        if changes_code(names):  # all of the function
            d = max(functions[function], key=lambda d: d["offset"])
        for name in random.sample(left, len(left)):
            if CLASSES[name][0](Point(elf, d, doc["arch"])):
                seeded[function] = (name, d["address"])
                break
    return seeded


def report(seeded, found, names, of_descr, verbose):
    """(what fell short, mutants, innocent functions)"""
    # a return address may be moved into the function behind it; a copy without symbols names none
    blame = [(of_descr.get(int(x["descriptor"]["address"], 16), x["descriptor"].get("function")), x["rule"])
             for x in found if "descriptor" in x]
    blamed = {f for f, _ in blame}
    bad = 0
    for name in names:
        of = [f for f, (n, _) in seeded.items() if n == name]
        caught = sum(f in blamed for f in of)
        bad += caught < CLASSES[name][1] * len(of) or (not of and name not in RARE)
        print("%s %d/%d" % (name, caught, len(of)))
        if verbose:
            print("".join("  lives: %s %s\n" % (f, seeded[f][1]) for f in of if f not in blamed)[:4000], end="")
    # a return address that was moved onto another's blames that one too
    unique = {x["descriptor"].get("function") for x in found if x["rule"] == "retaddr-unique"}
    told = "live-missing" if changes_code(names) else None
    innocent = {f for f, rule in blame if rule != told} - set(seeded) - unique
    if verbose:
        print(sorted(innocent, key=str)[:20])
    return bad, len(seeded), len(innocent)


def judge(ftdump, clean, doc, names, flags):
    if not names:
        return 0, 0, 0
    elf = Elf(clean)
    seeded = seed_all(elf, doc, names)
    fd, copy = tempfile.mkstemp(dir=os.environ.get("TMPDIR"))
    with os.fdopen(fd, "wb") as f:
        f.write(without_symbols(elf.data) if "--stripped" in flags else elf.data)
    found = run(ftdump, "--verify=structure,calls,alloc,frame,live,abi", copy)["findings"]
    os.unlink(copy)
    everything = {int(d["address"], 16): d.get("function") for m in doc["modules"] for d in m["descriptors"]}
    of_descr = {int(a, 16): f for f, (_, a) in seeded.items()}
    return report(seeded, found, names, {**everything, **of_descr}, "-v" in flags)


def main(ftdump, path, seed="1", *names):
    random.seed(int(seed))
    flags = [n for n in names if n.startswith("-")]
    names = [n for n in names if n not in flags] or list(CLASSES)
    with open(path, "rb") as f:
        clean = f.read()
    doc = run(ftdump, path)
    alone = "root_dropped", "code_", "poll_"  # a copy for each
    groups = [[n for n in names if n.startswith(a)] for a in alone]
    groups.insert(0, [n for n in names if not n.startswith(alone)])
    results = [judge(ftdump, clean, doc, g, flags) for g in groups]
    bad, total, innocent = (sum(r[i] for r in results) for i in range(3))
    print("%d mutants, innocent functions reported: %d" % (total, innocent))
    bad += innocent
    print("seed %s: %s" % (seed, "FAIL" if bad else "every class is caught as promised"))
    return bad != 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
