"""corrupt.py machine IN OUT   write another machine into the ELF header
corrupt.py sweep IN OUT     truncate at many places, turn header and section-table
                            bytes: stubcheck must end by itself, with 1, 2 or 3"""
import random, struct, subprocess, sys

what, source, target = sys.argv[1:]
data = open(source, "rb").read()


def write(b):
    open(target, "wb").write(b)


def check(b, name):
    write(b)
    r = subprocess.run(["stubcheck", "--seconds=1", "--fast", target], capture_output=True,
                       timeout=60)
    assert r.returncode in (0, 1, 2, 3), (name, r.returncode, r.stderr)


if what == "machine":
    write(data[:18] + struct.pack("<H", 18) + data[20:])
else:
    rng = random.Random(7)
    for n in [0, 1, 15, 16, 40, 63, 64, 65, len(data) // 3, len(data) // 2, len(data) - 1]:
        check(data[:n], "truncated %d" % n)
    shoff = struct.unpack_from("<Q", data, 40)[0]
    places = list(range(4, 64, 5)) + [rng.randrange(shoff, len(data)) for _ in range(40)]
    for p in places:
        b = bytearray(data)
        b[p] ^= rng.randrange(1, 256)
        check(bytes(b), "byte %d" % p)
