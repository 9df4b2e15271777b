"""damage.py FOLDER COMMAND...: a small pprof profile, then every byte of it changed and every
prefix of it, given to COMMAND: exit code 0 or 1, never a crash or a hang."""
import os
import subprocess
import sys


def varint(n):
    out = bytearray()
    while n > 127:
        out.append(n & 127 | 128)
        n >>= 7
    return bytes(out) + bytes([n])


def field(number, v):
    if isinstance(v, int):
        return varint(number << 3) + varint(v)
    return varint(number << 3 | 2) + varint(len(v)) + v


strings = [b"", b"alloc_space", b"bytes", b"main", b"f", b"x.ml"]
profile = field(1, field(1, 1) + field(2, 2))
profile += field(2, field(1, varint(2) + varint(1)) + field(2, varint(48)))
profile += field(4, field(1, 1) + field(4, field(1, 1) + field(2, 7)))
profile += field(4, field(1, 2) + field(4, field(1, 2)))
profile += field(5, field(1, 1) + field(2, 3) + field(4, 5)) + field(5, field(1, 2) + field(2, 4))
profile += b"".join(field(6, s) for s in strings)

folder, command = sys.argv[1], sys.argv[2:]
os.makedirs(folder, exist_ok=True)
path = os.path.join(folder, "p")


def run(data):
    with open(path, "wb") as f:
        f.write(data)
    return subprocess.run(command + [path], capture_output=True, timeout=20)


whole = run(profile)
assert whole.returncode == 0 and b"48 100.0%             48 100.0%  f" in whole.stdout, whole
count = 0
for i in range(len(profile)):
    for b in (0, 0x7F, 0x80, 0xFF, profile[i] ^ 1):
        r = run(profile[:i] + bytes([b]) + profile[i + 1 :])
        assert r.returncode in (0, 1), (i, b, r)
        count += 1
    assert run(profile[:i]).returncode in (0, 1), i
    count += 1
print(count, "damaged profiles: read or refused")
