#!/usr/bin/env python3
"""damage_elf.py SEED RUNS FTDUMP FILE...: damages copies of ELF files and verifies each.

Shorter files, section headers with extreme numbers, bits of the ELF header, bits and words of any
section. ftdump must end within a minute with one of its exit codes and without a sanitizer's
report. Prints every run that does not, and the number of runs."""
import os
import random
import struct
import subprocess
import sys
import tempfile

EXTREMES = 0, 1, 1 << 63, (1 << 64) - 1, 0x10000000
WORDS = bytes(8), b"\xff" * 8, b"\x80" + bytes(7), bytes(7) + b"\x80", b"\xff\x7f" * 4
OPTIONS = [], ["--scan"], ["--format=A"], ["--format=B"], ["--format=C"], ["--output-style=json"]


class Damage:
    def __init__(self, rng, data):
        self.rng, self.data = rng, bytearray(data)
        self.end = ">" if data[5] == 2 else "<"
        self.shoff, = struct.unpack_from(self.end + "Q", data, 40)
        self.shnum, = struct.unpack_from(self.end + "H", data, 60)

    def cut(self):
        del self.data[self.rng.randrange(64, len(self.data)):]

    def elf_header(self):
        for _ in range(self.rng.choice((1, 3, 10))):
            self.data[self.rng.randrange(64)] ^= 1 << self.rng.randrange(8)

    def section_headers(self):
        for _ in range(self.rng.choice((1, 2, 5))):
            at = self.shoff + 64 * self.rng.randrange(self.shnum) + 8 * self.rng.randrange(8)
            struct.pack_into(self.end + "Q", self.data, at, self.rng.choice(EXTREMES))

    def sections(self):
        for _ in range(self.rng.choice((1, 4, 30, 300))):
            header = self.shoff + 64 * self.rng.randrange(self.shnum)
            kind, = struct.unpack_from(self.end + "I", self.data, header + 4)
            offset, size = struct.unpack_from(self.end + "QQ", self.data, header + 24)
            if kind != 8 and 8 < size <= len(self.data) - offset:
                at = offset + self.rng.randrange(size - 8)
                self.data[at:at + 8] = self.rng.choice(WORDS)
                self.data[at] ^= 1 << self.rng.randrange(8)


def fault(ftdump, options, path):
    """What is wrong with the run, None: nothing."""
    try:
        p = subprocess.run([ftdump, "--verify"] + options + [path], stdout=subprocess.DEVNULL,
                           stderr=subprocess.PIPE, timeout=60, check=False)
    except subprocess.TimeoutExpired:
        return "no end"
    said = p.stderr.decode(errors="replace")
    if p.returncode in (0, 1, 2, 3) and "Sanitizer" not in said and "runtime error" not in said:
        return None
    return "exit code %d: %s" % (p.returncode, said[-600:])


def main(seed, runs, ftdump, *files):
    rng, bad = random.Random(int(seed)), 0
    kinds = Damage.cut, Damage.elf_header, Damage.section_headers, Damage.sections, Damage.sections
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "damaged")
        for n in range(int(runs)):
            source, kind, options = rng.choice(files), rng.choice(kinds), rng.choice(OPTIONS)
            with open(source, "rb") as f:
                d = Damage(rng, f.read())
            kind(d)
            with open(path, "wb") as f:
                f.write(d.data)
            why = fault(ftdump, options, path)
            if why is not None:
                bad += 1
                print("run %d: %s of %s, %s: %s" % (n, kind.__name__, source, options, why))
    print("seed %s: %s damaged files, %d faults" % (seed, runs, bad))
    return bad != 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
