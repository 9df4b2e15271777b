# damage.py TIER OBJECT...: run ftdump over damaged copies of small objects.
# quick: a sample; full: every truncation and every bit of the table's section;
# long: every bit of the file.
import random, resource, subprocess, sys

MODES = ["--descriptors", "--summary", "--debuginfo", "--histogram", "--sizes", "--roundtrip",
         "--recode=A", "--recode=C", "--lookup=0x10000005", "--disassemble", "--scan"]
tier, objects = sys.argv[1], sys.argv[2:]
seed = 20201
random.seed(seed)
MANY = 24  # files a command: one process checks a batch


def batch(mode, names):
    p = subprocess.run(["ftdump", mode] + names, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL, timeout=60)
    if p.returncode not in (0, 1, 3):
        for n in names:
            q = subprocess.run(["ftdump", mode, n], stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
            if q.returncode not in (0, 1, 3):
                sys.exit("damage: ftdump %s: exit %d on %s (kept)" % (mode, q.returncode, n))
        sys.exit("damage: ftdump %s: exit %d on %s" % (mode, p.returncode, " ".join(names)))


def section(data, name):
    import struct
    e = ">" if data[5] == 2 else "<"
    shoff, = struct.unpack_from(e + "Q", data, 0x28)
    size, count, strings = struct.unpack_from(e + "HHH", data, 0x3A)
    head = lambda i: struct.unpack_from(e + "IIQQQQ", data, shoff + i * size)
    base = head(strings)[4]
    for i in range(count):
        h = head(i)
        if data[base + h[0]:].startswith(name + b"\0"):
            return h[4], h[5]


def copies(data):
    size = len(data)
    table, length = section(data, b".data")
    if length == 0:  # OxCaml's
        table, length = section(data, b".rodata")
    cuts = range(size)
    bits = [8 * table + i for i in range(8 * length)] if tier != "long" else range(8 * size)
    heads = [i for i in range(8 * 64)]
    if tier == "quick":
        cuts, bits = random.sample(cuts, 40), random.sample(bits, 80)
    else:
        bits = list(bits) + heads
    for n in cuts:
        yield data[:n]
    for b in bits:
        d = bytearray(data)
        d[b // 8] ^= 1 << b % 8
        yield bytes(d)


count = 0
for o in objects:
    data = open(o, "rb").read()
    names = []
    for i, d in enumerate(copies(data)):
        names.append("d%d" % (i % MANY))
        open(names[-1], "wb").write(d)
        count += 1
        if len(names) == MANY:
            mode = MODES[(i // MANY) % len(MODES)]
            for m in (MODES if tier == "long" else ["--descriptors", mode]):
                batch(m, names)
            names = []
peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
print("damage: %d copies, peak %.0f MiB, seed %d" % (count, peak, seed))
if peak > 64:
    sys.exit("damage: more than 64 MiB")
