#!/usr/bin/env python3
"""corrupt.py PROGRAM TABLE FIELD VALUE OUT

Writes VALUE into the frametable TABLE (a symbol) of a linked program, which has nobody to check it
before it runs. FIELD: count (8 bytes), or of the first descriptor size or live (2 bytes each; offsets
16 and 18 of the table).
"""
import struct
import sys

FIELDS = {"count": (0, "Q"), "size": (16, "H"), "live": (18, "H")}


def sections(data, e):
    off, = struct.unpack_from(e + "Q", data, 0x28)
    size, n, _ = struct.unpack_from(e + "HHH", data, 0x3A)
    return [struct.unpack_from(e + "IIQQQQIIQQ", data, off + i * size) for i in range(n)]


def address_of(data, e, name):
    table = sections(data, e)
    for s in table:
        if s[1] != 2:  # SHT_SYMTAB
            continue
        strings = table[s[6]][4]
        for at in range(s[4], s[4] + s[5], 24):
            n, _, _, section, value, _ = struct.unpack_from(e + "IBBHQQ", data, at)
            end = data.index(b"\0", strings + n)
            if data[strings + n:end] == name.encode() and section:
                return table[section][4] + value - table[section][3]
    sys.exit("no symbol " + name)


def main(program, table, field, value, out):
    data = bytearray(open(program, "rb").read())
    e = ">" if data[5] == 2 else "<"
    offset, form = FIELDS[field]
    struct.pack_into(e + form, data, address_of(data, e, table) + offset, int(value, 0))
    open(out, "wb").write(data)


if __name__ == "__main__":
    main(*sys.argv[1:])
