"""ELF files and ar archives, read with nothing but struct: the loaded bytes
with relocations applied, and the symbols. Written from the ELF specification
and the psABI supplements, apart from libframetable's reader, so that the two
can be compared."""
import bisect
import struct

EM = {3: "i386", 40: "armhf", 62: "amd64", 183: "arm64", 21: "power", 22: "s390x", 243: "riscv64"}
ET_REL, ET_EXEC, ET_DYN = 1, 2, 3
SHT_SYMTAB, SHT_RELA, SHT_NOBITS, SHT_REL, SHT_DYNSYM, SHT_RELR = 2, 4, 8, 9, 11, 19
SHF_ALLOC = 2
STT_FUNC = 2

# machine -> relocation type -> (bytes, kind). kind: abs = S + A, base = B + A
# (B is 0: addresses are the file's own), pc = S + A - P, add/sub = in place.
RELOCATIONS = {
    "i386": {1: (4, "abs"), 2: (4, "pc"), 8: (4, "base")},
    "armhf": {2: (4, "abs"), 3: (4, "pc"), 23: (4, "base")},
    "amd64": {1: (8, "abs"), 2: (4, "pc"), 8: (8, "base"), 10: (4, "abs"), 6: (8, "abs"),
              24: (8, "pc")},
    "arm64": {257: (8, "abs"), 1027: (8, "base"), 261: (4, "pc"), 260: (8, "pc"), 258: (4, "abs")},
    "power": {38: (8, "abs"), 22: (8, "base"), 26: (4, "pc"), 44: (8, "pc"), 1: (4, "abs")},
    "s390x": {22: (8, "abs"), 12: (8, "base"), 5: (4, "pc"), 23: (8, "pc"), 4: (4, "abs")},
    "riscv64": {2: (8, "abs"), 3: (8, "base"), 57: (4, "pc"), 1: (4, "abs"),
                35: (4, "add"), 36: (8, "add"), 39: (4, "sub"), 40: (8, "sub")},
}


class Bad(Exception):
    """The input contradicts its format."""


class Symbol:
    def __init__(self, name, value, size, kind, shndx, is_global):
        self.name, self.value, self.size = name, value, size
        self.kind, self.shndx, self.is_global = kind, shndx, is_global


class Region:
    """A section or segment: its address, its bytes after relocation."""

    def __init__(self, name, addr, data):
        self.name, self.addr, self.data = name, addr, data


class Section:
    pass


class Elf:
    def __init__(self, data):
        if data[:4] != b"\x7fELF":
            raise Bad("not an ELF file")
        self.raw = data
        self.word = {1: 4, 2: 8}[data[4]]
        self.order = {1: "<", 2: ">"}[data[5]]
        self.type, machine = self.unpack("HH", 16)
        self.arch = EM.get(machine)
        if not self.arch:
            raise Bad("machine %d is not one of ours" % machine)
        self.relr = False
        self.read_sections()
        self.lay_out()
        self.read_symbols()
        self.relocation_places = []
        self.relocate()
        self.relocation_places.sort()
        self.function_list = None

    def unpack(self, form, at, data=None):
        return struct.unpack_from(self.order + form, self.raw if data is None else data, at)

    # --- headers ---------------------------------------------------------------
    def read_sections(self):
        if self.word == 8:
            shoff, = self.unpack("Q", 40)
            entsize, num, strndx = self.unpack("HHH", 58)
            form = "IIQQQQIIQQ"
        else:
            shoff, = self.unpack("I", 32)
            entsize, num, strndx = self.unpack("HHH", 46)
            form = "IIIIIIIIII"
        self.sections = []
        for i in range(num):
            s = Section()
            (s.name_at, s.type, s.flags, s.addr, s.offset, s.size, s.link, s.info, s.align,
             s.entsize) = self.unpack(form, shoff + i * entsize)
            s.base = s.addr
            self.sections.append(s)
        for s in self.sections:
            s.name = self.string(self.sections[strndx].offset + s.name_at)

    def string(self, at):
        return self.raw[at:self.raw.index(b"\0", at)].decode("latin-1")

    # --- memory -----------------------------------------------------------------
    def lay_out(self):
        """One region per allocated section. A relocatable object has no
        addresses: its sections are placed one after another."""
        self.regions = []
        at = 0x10000
        for s in self.sections:
            s.region = None
            if not s.flags & SHF_ALLOC or s.type == SHT_NOBITS:
                continue
            if self.type == ET_REL:
                s.base = at = (at + 63) // 64 * 64
                at += s.size + 64
            s.region = Region(s.name, s.base, bytearray(self.raw[s.offset:s.offset + s.size]))
            self.regions.append(s.region)
        self.regions.sort(key=lambda r: r.addr)
        self.region_addrs = [r.addr for r in self.regions]

    def region_at(self, addr):
        i = bisect.bisect_right(self.region_addrs, addr) - 1
        if i < 0 or addr >= self.regions[i].addr + len(self.regions[i].data):
            raise Bad("nothing is loaded at 0x%x" % addr)
        return self.regions[i]

    # --- symbols ------------------------------------------------------------------
    def read_symbols(self):
        self.tables = {}
        for i, s in enumerate(self.sections):
            if s.type in (SHT_SYMTAB, SHT_DYNSYM):
                self.tables[i] = self.symbol_table(s)
        full = [t for i, t in self.tables.items() if self.sections[i].type == SHT_SYMTAB]
        every = list(self.tables.values())
        self.symbols = [s for t in (full or every) for s in t if s.name and s.shndx != 0]

    def symbol_table(self, sec):
        strings = self.sections[sec.link].offset
        out = []
        form, width = ("IBBHQQ", 24) if self.word == 8 else ("IIIBBH", 16)
        for at in range(sec.offset, sec.offset + sec.size, width):
            f = self.unpack(form, at)
            if self.word == 8:
                name, info, _, shndx, value, size = f
            else:
                name, value, size, info, _, shndx = f
            if self.type == ET_REL and 0 < shndx < len(self.sections):
                value += self.sections[shndx].base
            text = self.string(strings + name) if name else ""
            out.append(Symbol(text, value, size, info & 15, shndx, info >> 4 != 0))
        return out

    def functions_at(self, addr):
        """Names and start of the function that holds addr, aliases together."""
        if self.function_list is None:
            by_start = {}
            for s in self.symbols:  # 5.4 types its local labels .L123 as functions too
                if s.kind == STT_FUNC and not s.name.startswith(".L") and 0 < s.shndx < 0xff00:
                    by_start.setdefault(s.value, []).append(s)
            self.function_list = sorted(by_start.items())
            self.function_starts = [a for a, _ in self.function_list]
        i = bisect.bisect_right(self.function_starts, addr) - 1
        if i < 0:
            return [], 0
        start, syms = self.function_list[i]
        if not any(s.size == 0 or addr < s.value + s.size for s in syms):
            return [], 0
        return [s.name for s in syms], start

    # --- relocations -----------------------------------------------------------------
    def relocate(self):
        for s in self.sections:
            if s.type in (SHT_RELA, SHT_REL):
                if self.type != ET_REL and not s.flags & SHF_ALLOC:
                    continue
                region = None
                if self.type == ET_REL:
                    region = self.sections[s.info].region
                    if region is None:
                        continue
                self.apply(s, region)
            elif s.type == SHT_RELR:
                self.relr = True
                self.apply_relr(s)

    def apply(self, sec, region):
        rela = sec.type == SHT_RELA
        forms = {(8, True): "QQq", (8, False): "QQ", (4, True): "IIi", (4, False): "II"}
        form = forms[self.word, rela]
        width = struct.calcsize("<" + form)
        symbols = self.tables.get(sec.link, [])
        known = RELOCATIONS[self.arch]
        for at in range(sec.offset, sec.offset + sec.size, width):
            f = self.unpack(form, at)
            place, info = f[0], f[1]
            bits = 32 if self.word == 8 else 8
            number, kind = info >> bits, info & ((1 << bits) - 1)
            if region is not None:
                place += region.addr
            self.relocation_places.append(place)
            if kind not in known:
                continue
            size, how = known[kind]
            if region is not None:
                target = region
            else:
                try:
                    target = self.region_at(place)
                except Bad:
                    continue  # in .bss
            symbol = symbols[number] if number else None
            if symbol is not None and symbol.shndx == 0:
                continue  # defined elsewhere: unknown here
            letter = {4: "I", 8: "Q"}[size]
            here = place - target.addr
            old, = self.unpack(letter, here, target.data)
            value = (f[2] if rela else (0 if how in ("add", "sub") else old))
            value += symbol.value if symbol is not None else 0
            if how == "pc":
                value -= place
            elif how == "add":
                value = old + value
            elif how == "sub":
                value = old - value
            struct.pack_into(self.order + letter, target.data, here, value & (256 ** size - 1))

    def apply_relr(self, sec):
        """Bases and bitmaps; the addend is in place and the base 0, so nothing
        changes but the list of places."""
        where = 0
        letter = {4: "I", 8: "Q"}[self.word]
        for at in range(sec.offset, sec.offset + sec.size, self.word):
            entry, = self.unpack(letter, at)
            if entry & 1 == 0:
                self.relocation_places.append(entry)
                where = entry + self.word
                continue
            for bit in range(8 * self.word - 1):
                if entry >> (bit + 1) & 1:
                    self.relocation_places.append(where + bit * self.word)
            where += (8 * self.word - 1) * self.word

    def relocations_in(self, begin, end):
        places = self.relocation_places
        return bisect.bisect_left(places, end) - bisect.bisect_left(places, begin)


def members(data):
    """(name, bytes) of each ELF in an ar archive, or the file itself as ("", data)."""
    if data[:8] != b"!<arch>\n":
        yield "", data
        return
    at, long_names = 8, b""
    while at + 60 <= len(data):
        head = data[at:at + 60]
        if head[58:60] != b"`\n":
            raise Bad("archive header at offset %d has no end mark" % at)
        name, size = head[:16].decode("latin-1").rstrip(), int(head[48:58])
        body = data[at + 60:at + 60 + size]
        if name == "//":
            long_names = body
        elif name.startswith("/") and name[1:].isdigit():
            start = int(name[1:])
            name = long_names[start:long_names.index(b"\n", start)].decode("latin-1")
        if body[:4] == b"\x7fELF":
            yield name.rstrip("/"), body
        at += 60 + size + (size & 1)
