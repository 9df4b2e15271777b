"""Frametables, decoded slowly and simply from the description of the formats
(docs/frametable-format.md), in all generations. One function per generation
says what a descriptor is; nothing is shared with libframetable."""
import struct

from elf import Bad, ET_REL

DEBUG, ALLOC = 1, 2
GENERATIONS = ("A", "B", "C", "O1", "O2", "O3")

# Frametable register number -> name.
REGISTERS = {
    "amd64": "rax rbx rdi rsi rdx rcx r8 r9 r12 r13 r10 r11 rbp".split(),
    "arm64": ["x%d" % n for n in [*range(16), *range(19, 29), 16, 17]],
    "power": ["r%d" % n for n in [*range(3, 11), *range(14, 29)]],
    "s390x": ["r%d" % n for n in [*range(2, 10), 12]],
    "riscv64": ["a%d" % n for n in range(8)] + ["s%d" % n for n in range(2, 10)]
    + ["t%d" % n for n in range(2, 7)] + ["s0", "t0"],
    "i386": "eax ebx ecx edx esi edi ebp".split(),
    "armhf": ["r%d" % n for n in [*range(8), 12]],
}
# The registers that an O3 short form's bitmap speaks of, bit 0 first.
HOT = {"amd64": (0, 1, 2, 3, 4, 5, 6, 8), "arm64": tuple(range(8))}


class Descriptor:
    """retaddr; frame_size (None: return to C); flags; live: ("reg", n) or
    ("stack", offset); allocs: wosizes or None; debug: record addresses
    (0: none) or None; form: "", "long" or "short"."""
    form = ""

    def __init__(self, address):
        self.address = address
        self.frame_size, self.flags, self.live = None, 0, []
        self.allocs = self.debug = None


class Reader:
    """A position in a region."""

    def __init__(self, elf, region, at):
        self.elf, self.region, self.at = elf, region, at
        self.word = elf.word

    @property
    def addr(self):
        return self.region.addr + self.at

    def take(self, letter):
        try:
            value, = struct.unpack_from(self.elf.order + letter, self.region.data, self.at)
        except struct.error:
            raise Bad("0x%x: the section ends" % self.addr)
        self.at += struct.calcsize("<" + letter)
        return value

    def take_many(self, letter, count):
        form = "%s%d%s" % (self.elf.order, count, letter)
        try:
            values = struct.unpack_from(form, self.region.data, self.at)
        except struct.error:
            raise Bad("0x%x: the section ends" % self.addr)
        self.at += struct.calcsize(form)
        return values

    def take_word(self):
        return self.take({4: "I", 8: "Q"}[self.word])

    def align(self, to):
        self.at += -self.addr % to


def live_entry(ofs):
    return ("reg", ofs >> 1) if ofs & 1 else ("stack", ofs)


def sizes_and_debug(r, d, align_debug):
    """What all generations from B on have after the live offsets."""
    if d.flags & ALLOC:
        count = r.take("B")
        d.allocs = [b + 1 for b in r.take_many("B", count)]
    if d.flags & DEBUG:
        if align_debug:
            r.align(4)
        d.debug = debug_slots(r, len(d.allocs) if d.flags & ALLOC else 1)


def debug_slots(r, count):
    slots = []
    for _ in range(count):
        here = r.addr
        offset = r.take("I")
        slots.append(here + offset if offset else 0)
    return slots


def descr_a(r, _previous):
    d = Descriptor(r.addr)
    d.retaddr = r.take_word()
    data, count = r.take("H"), r.take("H")
    if data == 0xFFFF:
        r.align(r.word)
        return d
    d.frame_size, d.flags = data & 0xFFFC, data & 1
    if data & 2:
        raise Bad("0x%x: bit 1 is set, generation A has none" % d.address)
    d.live = [live_entry(o) for o in r.take_many("H", count)]
    r.align(r.word)
    if d.flags & DEBUG:
        d.debug = [r.take_word()]
    return d


def header_b(r, d, long_marker):
    """frame_data, num_live, live_ofs; True when the descriptor ends here."""
    data = r.take("H")
    if data == 0xFFFF:
        r.take("H")
        return True
    if data == long_marker:
        d.form = "long"
        r.align(4)
        data, count, letter = r.take("I"), r.take("I"), "I"
    else:
        count, letter = r.take("H"), "H"
    d.frame_size, d.flags = data & ~3, data & 3
    d.live = [live_entry(o) for o in r.take_many(letter, count)]
    return False


def descr_b(r, _previous, long_marker=None):
    d = Descriptor(r.addr)
    d.retaddr = r.take_word()
    if not header_b(r, d, long_marker):
        sizes_and_debug(r, d, True)
    r.align(r.word)
    return d


def descr_o1(r, previous):
    return descr_b(r, previous, 0x7FFF)


def descr_o2(r, _previous):
    d = Descriptor(r.addr)
    d.retaddr = r.addr + r.take("i")
    if not header_b(r, d, 0x7FFF):
        sizes_and_debug(r, d, True)
    r.align(8)
    return d


def descr_o3(r, previous):
    d = Descriptor(r.addr)
    first = r.take("B")
    if first == 0:
        here = r.addr
        d.retaddr = here + r.take("i")
        data = r.take("H")
        if data == 0xFFFF:
            r.take("H")
            return d
        if data == 0x7FFF:
            d.form = "long"
            r.take("H")
            data, count, letter = r.take("I"), r.take("I"), "I"
        else:
            count, letter = r.take("H"), "H"
        d.frame_size, d.flags = data & ~3, data & 3
        d.live = [live_entry(o) for o in r.take_many(letter, count)]
        sizes_and_debug(r, d, False)
        return d
    if previous is None:
        raise Bad("0x%x: the first descriptor is not escaped" % d.address)
    delta, shift, byte = first & 127, 7, first
    while byte & 128:
        byte = r.take("B")
        delta |= (byte & 127) << shift
        shift += 7
    d.retaddr = previous + delta
    d.form = "short"
    short_body(r, d)
    return d


def short_body(r, d):
    data = r.take("B")
    d.frame_size, d.flags = (data >> 2) * 16, data & 3
    if d.flags & ALLOC:
        bitmap, count = r.take("B"), r.take("B")
        regs = [("reg", n) for bit, n in enumerate(HOT[r.elf.arch]) if bitmap >> bit & 1]
        packed = r.take_many("B", (count + 1) // 2)
        d.allocs = [(packed[i // 2] >> (4 * (i % 2)) & 15) + 1 for i in range(count)]
    else:
        regs = []
    slots = r.take_many("B", (d.frame_size // 8 + 7) // 8)
    d.live = regs + [("stack", 8 * i) for i in range(d.frame_size // 8)
                     if slots[i // 8] >> (i % 8) & 1]
    if d.flags & DEBUG:
        d.debug = debug_slots(r, len(d.allocs) if d.flags & ALLOC else 1)


DESCRIPTOR = {"A": descr_a, "B": descr_b, "C": descr_b, "O1": descr_o1, "O2": descr_o2,
              "O3": descr_o3}


# --- debuginfo -----------------------------------------------------------------------
class Frame:
    """A location; a field that the generation lacks stays None."""
    end_line = end_offset = defname = None
    wide = False


class Debuginfo:
    """The records of one table, each read once. extents: what they and their
    names cover."""

    def __init__(self, elf, region, style):
        self.elf, self.region, self.style = elf, region, style
        self.records = {}   # address -> (Frame, next record or 0)
        self.text = {}      # address -> string

    def cstring(self, addr):
        if addr not in self.text:
            region = self.region
            at = addr - region.addr
            if at < 0 or at >= len(region.data):
                raise Bad("a name at 0x%x is outside its section" % addr)
            end = region.data.find(b"\0", at)
            if end < 0:
                raise Bad("the name at 0x%x does not end" % addr)
            self.text[addr] = region.data[at:end].decode("utf-8", "surrogateescape")
        return self.text[addr]

    def chain(self, addr):
        frames = []
        while addr:
            if addr not in self.records:
                self.records[addr] = self.record(addr)
            if len(frames) > 10000:
                raise Bad("the chain at 0x%x does not end" % addr)
            frame, addr = self.records[addr]
            frames.append(frame)
        return frames

    def record(self, addr):
        r = Reader(self.elf, self.region, addr - self.region.addr)
        if r.at < 0:
            raise Bad("a record at 0x%x is outside its section" % addr)
        info1, info2 = r.take("I"), r.take("I")
        target = addr + (info1 & 0x3FFFFFC)
        f = Frame()
        if self.style == "A":
            f.raised = info1 & 3 == 1
            f.file = self.cstring(target)
            self.single_line(f, info1, info2)
            return f, r.take_word()
        f.raised = bool(info1 & 2)
        names = Reader(self.elf, self.region, target - self.region.addr)
        f.file = self.cstring(target + names.take("i"))
        if self.style == "B":
            self.single_line(f, info1, info2)
        elif info2 >> 31 == 0:
            # 63..51 | 50..48 | 47..42 | 41..35 | 34..26  ->  line, +lines, a, b, o
            f.line = info2 >> 19
            f.end_line = f.line + (info2 >> 16 & 7)
            f.start_char = info2 >> 10 & 63
            f.end_char = info2 >> 3 & 127
            f.end_offset = f.end_char + ((info2 & 7) << 6 | info1 >> 26)
        else:
            f.wide = True
            f.line = info2 >> 12 & 0x7FFFF
            f.end_line = f.line + ((info2 & 0xFFF) << 6 | info1 >> 26)
            f.start_char, f.end_char = names.take("H"), names.take("H")
            f.end_offset = names.take("i")
        f.defname = self.cstring(names.addr)
        return f, (addr + 8 if info1 & 1 else 0)

    @staticmethod
    def single_line(f, info1, info2):
        f.line = info2 >> 12
        f.start_char = info2 >> 4 & 255
        f.end_char = (info2 & 15) << 6 | info1 >> 26


# --- tables -----------------------------------------------------------------------------
def module_name(symbol):
    """camlFoo.frametable -> Foo; None when it names no table."""
    if not symbol.startswith("caml") or not symbol.endswith("frametable"):
        return None
    body = symbol[4:-len("frametable")]
    for sep in ("__", ".", "$"):
        if body.endswith(sep) and len(body) > len(sep):
            return body[:-len(sep)]
    return None


class Table:
    def __init__(self, elf, symbol, generation):
        self.elf, self.symbol, self.name = elf, symbol.name, module_name(symbol.name)
        self.address, self.symbol_size = symbol.value, symbol.size
        region = elf.region_at(symbol.value)
        r = Reader(elf, region, symbol.value - region.addr)
        self.num = r.take_word()
        if self.num > len(region.data):
            raise Bad("%s: %d descriptors do not fit" % (self.symbol, self.num))
        self.descriptors, previous = [], None
        decode = DESCRIPTOR[generation]
        for _ in range(self.num):
            d = decode(r, previous)
            previous = d.retaddr
            self.descriptors.append(d)
        # caml_system's last return-to-C descriptor may lack its pad: it counts
        # wherever there are bytes for it, so not at the end of a section.
        section_end = region.addr + len(region.data)
        self.pad_missing = r.addr > section_end
        self.descr_end = min(r.addr, section_end)
        style = {"A": "A", "B": "B"}.get(generation, "C")
        self.debuginfo = Debuginfo(elf, region, style)
        self.opaque = generation == "O3"
        self.measure()

    def measure(self):
        """Bytes of records, and of names up to the end of the last one."""
        info = self.debuginfo
        if not self.opaque:
            for d in self.descriptors:
                for record in d.debug or ():
                    info.chain(record)
        width = 8 + (self.elf.word if info.style == "A" else 0)
        self.record_bytes = width * len(info.records)
        end = self.descr_end
        if info.records:
            end = max(end, max(info.records) + width)
        for addr, text in info.text.items():
            end = max(end, addr + len(text.encode("utf-8", "surrogateescape")) + 1)
        if not self.pad_missing:
            end += -end % self.elf.word
        self.end = end
        self.descr_bytes = self.descr_end - self.address
        self.name_bytes = end - self.descr_end - self.record_bytes


def table_symbols(elf):
    seen = {}
    for s in elf.symbols:
        if module_name(s.name) and 0 < s.shndx < 0xff00:
            seen.setdefault(s.name, s)
    return sorted(seen.values(), key=lambda s: s.value)


def detect(elf):
    """A when B's reading does not hold; else B or C by the records: bit 63 set
    is C, an end before its start in B's reading is C, line 0 in C's reading
    but not in B's is B."""
    try:
        tables = [Table(elf, s, "B") for s in table_symbols(elf)]
    except Bad:
        return "A"
    b = c = 0
    for t in tables:
        for addr in t.debuginfo.records:
            r = Reader(elf, t.debuginfo.region, addr - t.debuginfo.region.addr)
            info1, info2 = r.take("I"), r.take("I")
            if info2 >> 31 or ((info2 & 15) << 6 | info1 >> 26) < (info2 >> 4 & 255):
                c += 1
            elif info2 >> 19 == 0 and info2 >> 12:
                b += 1
    return "C" if c > b else "B"


def read_tables(elf, generation):
    if generation == "auto":
        generation = detect(elf)
    return [Table(elf, s, generation) for s in table_symbols(elf)]


KINDS = {1: "relocatable", 2: "executable", 3: "shared"}
__all__ = ["Table", "read_tables", "detect", "REGISTERS", "GENERATIONS", "KINDS", "ET_REL", "DEBUG",
           "ALLOC"]
