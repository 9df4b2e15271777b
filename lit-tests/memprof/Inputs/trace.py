"""Reader of memory traces, written from docs/memprof.md ("Traces"), not from the writer.

trace.py FILE           check everything and print a summary
trace.py FILE folded    allocated bytes by callstack;  live: what was not collected
"""
import collections
import struct
import sys

MAGIC, HEADER, SLOTS, NO_CHECK = 0xC1FC1FC1, struct.Struct("<IIQQIHQHHHQQQ"), 1 << 14, 0xFFFF


class Packet:
    def __init__(self, data):
        self.data, self.at = data, HEADER.size

    def int(self, n):
        self.at += n
        assert self.at <= len(self.data), "an event is cut off"
        return int.from_bytes(self.data[self.at - n : self.at], "little")

    def vint(self):
        b = self.int(1)
        return b if b <= 252 else self.int(1 << (b - 252))

    def string(self):
        end = self.data.index(0, self.at)
        s = self.data[self.at : end].decode("latin-1")
        self.at = end + 1
        return s

    def left(self):
        return self.at < len(self.data)


class Trace:
    def __init__(self, data):
        self.value, self.next = [0] * SLOTS, [0] * SLOTS
        self.places, self.files, self.last = {}, [], []
        self.allocs, self.collected, self.promoted = [], set(), set()
        self.packets = self.checks = self.locations = 0
        self.time = 0
        while data:
            size = self.packet(data)
            data = data[size:]

    def packet(self, data):
        magic, bits, begin, end, flush, version, pid, domain, check, predicted, value, first, last = HEADER.unpack_from(data)
        assert magic == MAGIC and version == 3 and flush == 0 and bits % 8 == 0, "packet header"
        assert 68 <= bits // 8 <= 32768 and bits // 8 <= len(data), "packet size"
        assert begin <= end <= begin + 30_000_000, "a packet spans 30 seconds at most"
        if check != NO_CHECK:
            assert (self.next[check], self.value[check]) == (predicted, value), "cache check"
            self.checks += 1
        p = Packet(data[: bits // 8])
        self.packets += 1
        if self.packets == 1:
            self.info(p)
            assert not p.left(), "trace info is alone in its packet"
            self.pid = pid
            return len(p.data)
        assert pid == self.pid and domain == 0
        if last > first:
            assert first == len(self.allocs), "allocation ids are consecutive"
        while p.left():
            self.event(p, begin)
        assert first == last or last == len(self.allocs), "last id of the packet"
        return len(p.data)

    def info(self, p):
        assert p.int(4) >> 25 == 0
        (self.rate,) = struct.unpack("<d", p.int(8).to_bytes(8, "little"))
        assert p.int(1) == 64
        self.program, self.host, self.params = p.string(), p.string(), p.string()
        p.int(8)
        self.context = p.string()

    def event(self, p, begin):
        head = p.int(4)
        kind, low = head >> 25, head & ((1 << 25) - 1)
        time = begin + ((low - begin) & ((1 << 25) - 1))
        if kind == 1:
            return self.location(p)
        assert time >= self.time, "times go forward"
        self.time = time
        if kind == 2:
            self.alloc(p, p.vint(), p.vint(), p.int(1), 2)
        elif 101 <= kind <= 116:
            self.alloc(p, kind - 100, 1, 0, 1)
        else:
            assert kind in (3, 4), "kind of event"
            block = len(self.allocs) - 1 - p.vint()
            seen = self.promoted if kind == 3 else self.collected
            assert 0 <= block and block not in seen and block not in self.collected, "reported once, collected last"
            seen.add(block)

    def alloc(self, p, wosize, samples, source, width):
        common, words = p.vint(), p.int(width)
        assert common <= len(self.last) and source <= 2 and samples >= 1
        stack = self.last[:common] + self.frames(p, words)
        assert all(code in self.places for code in stack), "a location comes before its use"
        self.last = stack
        self.allocs.append((wosize, samples, source, tuple(stack)))

    def frames(self, p, words):
        out, predictor = [], 0
        for _ in range(words):
            w = p.int(2)
            slot, tag = w >> 2, w & 3
            self.next[predictor] = slot
            if tag == 3:
                self.value[slot] = p.int(8)
            out.append(self.value[slot])
            for _ in range((0, 1, None, 0)[tag] if tag != 2 else p.int(1)):
                slot = self.next[slot]
                out.append(self.value[slot])
            predictor = slot
        return out

    def location(self, p):
        code, n = p.int(8), p.int(1)
        place = [self.frame(p) for _ in range(n)]
        assert self.places.setdefault(code, place) == place, "a code has one location"
        self.locations += 1

    def frame(self, p):
        bits = p.int(6)
        line, start, end = bits & 0xFFFFF, bits >> 20 & 0xFF, bits >> 28 & 0x3FF
        name = self.recent(self.files, bits >> 38 & 31, lambda: (p.string(), []), lambda f: f[0])
        function = self.recent(name[1], bits >> 43 & 31, p.string, lambda s: s)
        return name[0], function, line, start, end

    @staticmethod
    def recent(items, index, read, key):
        if index == 31:
            item = read()
            assert key(item) not in map(key, items), "a listed string is not repeated"
        else:
            item = items.pop(index)
        items.insert(0, item)
        del items[31:]
        return item

    def names(self, stack):
        out = []
        for code in stack:
            out += [f[1] or "%s:%d" % f[:2] for f in self.places[code]] or ["?"]
        return ";".join(s.replace(";", ":") for s in out) or "(no callstack)"

    def folded(self, live):
        sums = collections.Counter()
        for i, (_, samples, _, stack) in enumerate(self.allocs):
            if not (live and i in self.collected):
                sums[self.names(stack)] += samples * 8 / self.rate
        return sums


def main(path, what=None):
    t = Trace(open(path, "rb").read())
    if what:
        for name, n in sorted(t.folded(what == "live").items()):
            print(name, round(n))
        return
    print("rate", t.rate)
    print("packets", t.packets, "checks", t.checks, "locations", t.locations)
    print("allocations", len(t.allocs), "samples", sum(a[1] for a in t.allocs))
    print("promoted", len(t.promoted), "collected", len(t.collected))
    assert t.locations == len(t.places) and t.checks > 0


if __name__ == "__main__":
    main(*sys.argv[1:])
