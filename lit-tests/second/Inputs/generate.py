"""Random frametables of every generation as assembler text, and what a decoder
must find in them. Sizes, counts and columns are drawn around their limits."""
import random

from tables import ALLOC, DEBUG, HOT, REGISTERS

# Return addresses, and what a reader must say about each.
FUNCTION_BYTES = 4096


class Truth:
    """A descriptor as it was meant; chains: per slot None or a list of frames."""
    retaddr = 0
    frame_size, flags, live, allocs, chains, form = 0, 0, (), None, None, ""


class Draw:
    """Random descriptors within what a generation can express."""

    def __init__(self, rng, generation, arch):
        self.rng, self.gen, self.arch = rng, generation, arch
        self.chains = [self.chain() for _ in range(20)]

    def pick(self, *choices):
        return self.rng.choice(choices)

    def name(self, length):
        return "".join(self.rng.choice("abcXYZ_.() #") for _ in range(length))

    def location(self):
        rng = self.rng
        f = {"file": self.name(rng.randint(1, 30)) + ".ml", "raised": False, "wide": False}
        if self.gen in ("A", "B"):
            f["line"] = self.pick(0, 1, 4095, 4096, (1 << 19) - 1, rng.randint(0, 1 << 18))
            f["start_char"], f["end_char"] = rng.randint(0, 255), rng.randint(256, 1023)
        elif rng.random() < 0.5:
            f["line"], more = self.pick(0, 1, 4095, rng.randint(0, 4095)), rng.randint(0, 7)
            f["start_char"], f["end_char"] = rng.randint(0, 63), rng.randint(0, 127)
            f["end_line"] = f["line"] + more
            f["end_offset"] = f["end_char"] + rng.randint(0, 511)
        else:
            f["wide"] = True
            f["line"], more = rng.randint(0, (1 << 19) - 1), rng.randint(0, (1 << 18) - 1)
            f["start_char"], f["end_char"] = rng.randint(0, 65535), rng.randint(0, 65535)
            f["end_line"], f["end_offset"] = f["line"] + more, rng.randint(0, (1 << 30) - 1)
        if self.gen != "A":
            f["defname"] = "M." + self.name(rng.randint(0, 40))
        return f

    def chain(self):
        frames = [self.location() for _ in range(self.pick(1, 1, 1, 2, 5))]
        frames[0]["raised"] = self.rng.random() < 0.2
        return frames

    def slots(self, count):
        out = [self.rng.choice(self.chains) for _ in range(count)]
        if count and self.gen != "A" and self.rng.random() < 0.2:
            out[0] = None
        return out

    def descriptor(self, short):
        rng, t = self.rng, Truth()
        t.form = "short" if short else ""
        t.flags = self.pick(0, DEBUG, ALLOC, DEBUG | ALLOC)
        if self.gen == "A":
            t.flags &= DEBUG
        if short:
            t.frame_size = 16 * rng.randint(1, 63)
        elif self.gen in ("O1", "O2", "O3") and rng.random() < 0.3:
            t.form = "long"
            t.frame_size = self.pick(0x8000, 8 * rng.randint(4096, 100000))
        elif self.gen in ("A", "B", "C"):
            t.frame_size = self.pick(0, 8, 65528, 8 * rng.randint(0, 8191))
        else:
            t.frame_size = 8 * rng.randint(0, 4000)
        t.live = self.live(t, short)
        if t.flags & ALLOC:
            count = self.pick(0, 1, 1, 2, 3, 128)
            t.allocs = [rng.randint(1, 16 if short else 256) for _ in range(count)]
        if t.flags & DEBUG:
            t.chains = self.slots(len(t.allocs) if t.flags & ALLOC else 1)
        return t

    def live(self, t, short):
        slots = [8 * i for i in range(min(t.frame_size, 4096) // 8)]
        chosen = sorted(self.rng.sample(slots, min(len(slots), self.rng.randint(0, 12))))
        live = [("stack", s) for s in chosen]
        regs = HOT.get(self.arch, ()) if short else range(len(REGISTERS[self.arch]))
        if t.flags & ALLOC:
            some = sorted(self.rng.sample(list(regs), self.rng.randint(0, min(4, len(regs)))))
            live = [("reg", r) for r in some] + live
        if not short:
            live.sort(key=lambda e: e[1] if e[0] == "stack" else 2 * e[1] + 1)
        return live


class Text:
    """Assembler text whose position in the table is known."""

    def __init__(self):
        self.lines, self.pos = [], 0

    def put(self, size, value):
        name = ".byte" if size == 1 else ".%dbyte" % size
        self.lines.append("\t%s %s" % (name, value))
        self.pos += size

    def align(self, to):
        while self.pos % to:
            self.put(1, 0)

    def bytes(self, data):
        for b in data:
            self.put(1, b)


class Encoder:
    """One table. Records lie after the descriptors, so their positions are
    known only after a first pass, in which all offsets are 0."""

    def __init__(self, draw, symbol, code, truths):
        self.draw, self.gen, self.symbol, self.code, self.truths = draw, draw.gen, symbol, code, truths
        self.records = {}  # id of a chain -> position of its first record
        self.encode()
        self.text = self.encode()

    def encode(self):
        t = Text()
        t.put(8, len(self.truths))
        previous = None
        for d in self.truths:
            self.descriptor(t, d, previous)
            previous = d.retaddr
        t.align(8)
        if self.gen != "O3":
            self.debuginfo(t)
        t.align(8)
        return t

    def place(self, d):
        return "%s + %d" % (self.code, d.retaddr)

    def descriptor(self, t, d, previous):
        if d.form == "short":
            self.short(t, d, previous)
            return
        if self.gen == "O3":
            t.put(1, 0)
        if self.gen in ("O2", "O3"):
            t.put(4, "%s - ." % self.place(d))
        else:
            t.put(8, self.place(d))
        if d.frame_size is None:
            t.put(2, 0xFFFF)
            t.put(2, 0)
        else:
            self.body(t, d)
        if self.gen != "O3":
            t.align(8)

    def body(self, t, d):
        size = 2
        if d.form == "long":
            t.put(2, 0x7FFF)
            if self.gen == "O3":
                t.put(2, 0)
            if self.gen != "O3":
                t.align(4)
            size = 4
        t.put(size, d.frame_size | d.flags)
        t.put(size, len(d.live))
        for kind, n in d.live:
            t.put(size, n if kind == "stack" else 2 * n + 1)
        if self.gen == "A":
            t.align(8)
            if d.flags & DEBUG:
                t.put(8, "%s + %d" % (self.symbol, self.records.get(id(d.chains[0]), 0)))
            return
        if d.flags & ALLOC:
            t.put(1, len(d.allocs))
            t.bytes(w - 1 for w in d.allocs)
        self.slots(t, d)

    def slots(self, t, d):
        if not d.flags & DEBUG:
            return
        if self.gen != "O3":
            t.align(4)
        for chain in d.chains:
            t.put(4, 0 if chain is None else max(0, self.records.get(id(chain), 0) - t.pos))

    def short(self, t, d, previous):
        delta = d.retaddr - previous
        while delta > 127:
            t.put(1, delta & 127 | 128)
            delta >>= 7
        t.put(1, delta)
        t.put(1, d.frame_size // 16 << 2 | d.flags)
        if d.flags & ALLOC:
            hot = HOT[self.draw.arch]
            t.put(1, sum(1 << hot.index(n) for kind, n in d.live if kind == "reg"))
            t.put(1, len(d.allocs))
            half = [w - 1 for w in d.allocs] + [0]
            t.bytes(half[i] | half[i + 1] << 4 for i in range(0, len(d.allocs), 2))
        bits = sum(1 << n // 8 for kind, n in d.live if kind == "stack")
        t.bytes(bits.to_bytes((d.frame_size // 8 + 7) // 8, "little"))
        self.slots(t, d)

    # --- debuginfo -------------------------------------------------------------
    def debuginfo(self, t):
        used = {id(c): c for d in self.truths for c in d.chains or () if c}
        width = 16 if self.gen == "A" else 8
        self.records, at = {}, t.pos
        for key, chain in used.items():
            self.records[key] = at
            at += width * len(chain)
        files, names = {}, {}
        for f in (f for c in used.values() for f in c):
            if f["file"] not in files:
                files[f["file"]] = at
                at += len(f["file"]) + 1
        if self.gen == "A":
            files, at = {}, t.pos + sum(width * len(c) for c in used.values())
            for f in (f for c in used.values() for f in c):
                if f["file"] not in files:
                    files[f["file"]] = at
                    at += (len(f["file"]) + 8) // 8 * 8
        at += -at % 4
        for f in (f for c in used.values() for f in c):
            key = self.name_key(f)
            if self.gen != "A" and key not in names:
                names[key] = at
                at += (12 if f["wide"] else 4) + len(f["defname"]) + 1
                at += -at % 4
        for chain in used.values():
            for i, f in enumerate(chain):
                self.record(t, f, i + 1 < len(chain), files, names)
        for text in files:
            t.bytes(text.encode() + b"\0")
            if self.gen == "A":
                t.align(8)
        for key in names:
            t.align(4)
            t.put(4, files[key[0]] - t.pos)
            if key[2]:
                t.put(2, key[2][0])
                t.put(2, key[2][1])
                t.put(4, key[2][2])
            t.bytes(key[1].encode() + b"\0")

    @staticmethod
    def name_key(f):
        columns = (f["start_char"], f["end_char"], f["end_offset"]) if f["wide"] else None
        return f["file"], f.get("defname"), columns

    def record(self, t, f, more, files, names):
        target = files[f["file"]] if self.gen == "A" else names[self.name_key(f)]
        low = target - t.pos
        if self.gen == "A":
            low |= f["raised"]
        else:
            low |= f["raised"] << 1 | more
        if self.gen in ("A", "B"):
            high = f["line"] << 12 | f["start_char"] << 4 | f["end_char"] >> 6
            low |= (f["end_char"] & 63) << 26
        elif f["wide"]:
            lines = f["end_line"] - f["line"]
            high = 1 << 31 | f["line"] << 12 | lines >> 6
            low |= (lines & 63) << 26
        else:
            o = f["end_offset"] - f["end_char"]
            high = (f["line"] << 19 | f["end_line"] - f["line"] << 16 | f["start_char"] << 10
                    | f["end_char"] << 3 | o >> 6)
            low |= (o & 63) << 26
        t.put(4, low)
        t.put(4, high)
        if self.gen == "A":
            t.put(8, "%s + %d" % (self.symbol, t.pos + 8) if more else 0)


def module_truths(draw, count):
    truths, places = [], sorted(draw.rng.sample(range(2, FUNCTION_BYTES, 2), count))
    if draw.gen != "O3":
        draw.rng.shuffle(places)
    for i, place in enumerate(places):
        if i == count // 2:
            t = Truth()
            t.frame_size = None
        else:
            t = draw.descriptor(draw.gen == "O3" and draw.arch in HOT and i > 0
                                and draw.rng.random() < 0.7)
        t.retaddr = place
        truths.append(t)
    return truths


def program(seed, generation, arch):
    """(assembler text, {symbol: [Truth]})."""
    draw = Draw(random.Random("%s %s %s" % (seed, generation, arch)), generation, arch)
    sep = "__" if generation in ("A", "O1", "O2", "O3") else "."
    text, truth = [], {}
    for name, count in (("First", 60), ("Empty", 0), ("Mod__Inner", 25)):
        code, symbol = "caml%s%scode" % (name, sep), "caml%s%sframetable" % (name, sep)
        truths = module_truths(draw, count)
        text += ["\t.text", "\t.balign 16", "\t.globl %s" % code, "\t.type %s, %%function" % code,
                 "%s:" % code, "\t.space %d" % FUNCTION_BYTES, "\t.size %s, . - %s" % (code, code)]
        text += ["\t.data", "\t.balign 8", "\t.globl %s" % symbol, "%s:" % symbol]
        text += Encoder(draw, symbol, code, truths).text.lines
        text.append("\t.size %s, . - %s" % (symbol, symbol))
        truth[symbol] = truths
    return "\n".join(text) + "\n", truth
