"""damage.py OBJECT: a frametable that says it has 2^31 descriptors."""
import os
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "second",
                                "Inputs"))
from elf import Elf            # noqa: E402
from tables import table_symbols  # noqa: E402

with open(sys.argv[1], "rb") as f:
    data = bytearray(f.read())
elf = Elf(bytes(data))
symbol = table_symbols(elf)[0]
section = elf.sections[symbol.shndx]
struct.pack_into(elf.order + "Q", data, section.offset + symbol.value - section.base, 1 << 31)
with open(sys.argv[1], "wb") as f:
    f.write(data)
