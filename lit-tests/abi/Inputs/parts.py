"""parts.py ARCH PREFIX <TABLE: what the linker makes of each relocation of an instruction field,
against the kind that abi/ gives it. TABLE is written by abi-gen --doc relocations.

One instruction with the relocation is linked with its target at several places. A low part stays
the same when the target moves by 64 KiB, a high part when it moves by 8 bytes, a distance when
both move; of a GOT slot the whole .got moves."""
import re
import subprocess
import sys

CODE, NEAR, FAR = 0x10000000, 8, 0x10000
BASE = 0x0fff8000  # of .got; power's .TOC. is 0x8000 behind it
# their symbol is the label of the instruction that has the high part
PAIRED = ("R_RISCV_PCREL_LO12_I", "R_RISCV_PCREL_LO12_S")
SOURCE = """.text
.globl _start
_start: {skip}
at: .reloc at, {name}, {symbol}
  .space 8
{pair}
.section .t, "ax"
t: .space 8
.section .got, "aw"
  .space 8
"""
SCRIPT = """SECTIONS {{
  .text {:#x} : {{ *(.text) }}
  .t {:#x} : {{ *(.t) }}
  .got {:#x} : {{ *(.got) }}
}}
"""
PAIR = "high: .reloc high, R_RISCV_PCREL_HI20, t\n .space 8"


def kinds(arch):
    row = r"\| %s \| (GOT.*?|field.*?) \| (.*?) \|" % arch
    for meaning, names in re.findall(row, sys.stdin.read()):
        for name in names.split(", "):
            yield name, meaning


def assemble(prefix, name):
    paired = name in PAIRED
    open("p.s", "w").write(SOURCE.format(name=name, symbol="high" if paired else "t",
                                     pair=PAIR if paired else "",
                                     skip=".space 2" * name.startswith("R_390")))
    subprocess.run([prefix + "as", "-o", "p.o", "p.s"], check=True)


def link(prefix, code=0, target=0, got=0):
    """The first instruction; None: out of range."""
    relax = "--no-toc-optimize" if prefix.startswith("powerpc") else "--no-relax"
    open("p.ld", "w").write(SCRIPT.format(CODE + code, CODE + 0x40 + target, BASE + got))
    ld = subprocess.run([prefix + "ld", "-T", "p.ld", "-o", "p", "p.o", relax],
                        capture_output=True, text=True)
    if ld.returncode:
        if not re.search("truncated|out of range|overflow", ld.stderr):
            sys.exit(ld.stderr)
        return None
    subprocess.run([prefix + "objcopy", "-O", "binary", "-j", ".text", "p", "p.bin"], check=True)
    return open("p.bin", "rb").read()[:8]


def observed(prefix, meaning):
    moved = "got" if meaning.startswith("GOT") else "target"
    first = link(prefix)
    near, far = (link(prefix, **{moved: by}) for by in (NEAR, FAR))
    if first is None or near == far:
        return "nothing"
    part = "low part" if far == first else "high part" if near == first else "whole"
    if moved == "got":
        return "GOT slot, low part" if part == "low part" else "GOT slot"
    if part != "whole":
        return "field, " + part
    return "field, distance" if link(prefix, code=FAR, target=FAR) == first else "field"


def main(arch, prefix):
    seen = 0
    for name, meaning in kinds(arch):
        if name.startswith("R_PPC64_GOT16"):
            continue  # from .TOC. to a slot: nothing moves one without the other
        assemble(prefix, name)
        found = observed(prefix, meaning)
        seen += 1
        if found != meaning:
            print("%s: abi/ says %s, the linker %s" % (name, meaning, found))
    print("%s: %d relocations" % (arch, seen))


main(*sys.argv[1:])
