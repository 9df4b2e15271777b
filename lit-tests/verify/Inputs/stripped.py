#!/usr/bin/env python3
"""stripped.py FTDUMP FILE...: ftdump --verify of a copy of FILE that has no symbols at all says nothing of
any descriptor that it does not say of FILE, and decides nearly as much. exit 1 otherwise."""
import json
import os
import struct
import subprocess
import sys
import tempfile

SHT_SYMTAB, SHT_DYNSYM, SHT_NULL = 2, 11, 0
# rule: the least share of what is decided with symbols
SHARES = {"call-missing": 0.6, "alloc-decrement": 0.99, "alloc-header": 0.99, "frame-size": 0.99,
          "frame-call": 0.99, "live-init": 0.99, "live-missing": 0.99, "live-agree": 0.99,
          "live-dead": 0.99,
          "abi-reserved": 0.99, "abi-stack": 0.99, "abi-poll": 0.99}


def without_symbols(data):
    """OCaml programs export all of their symbols: strip leaves them, so their sections' types go."""
    out = bytearray(data)
    end = ">" if data[5] == 2 else "<"
    shoff, = struct.unpack_from(end + "Q", data, 40)
    entsize, num = struct.unpack_from(end + "HH", data, 58)
    for at in range(shoff, shoff + num * entsize, entsize):
        if struct.unpack_from(end + "I", data, at + 4)[0] in (SHT_SYMTAB, SHT_DYNSYM):
            struct.pack_into(end + "I", out, at + 4, SHT_NULL)
    return out


def verify(ftdump, path):
    p = subprocess.run([ftdump, "--output-style=json", "--verify", path], stdout=subprocess.PIPE)
    doc = json.loads(p.stdout)
    said = {(x["rule"], x["verdict"], x.get("descriptor", {}).get("address"))
            for x in doc["findings"]}
    rules = {r["rule"]: r["ok"] + r["wrong"] + r["suspect"] for r in doc["rules"]}
    return said, rules


def compare(ftdump, path):
    with open(path, "rb") as f:
        data = f.read()
    fd, copy = tempfile.mkstemp(dir=os.environ.get("TMPDIR"))
    with os.fdopen(fd, "wb") as f:
        f.write(without_symbols(data))
    said, decided = verify(ftdump, path)
    said_bare, decided_bare = verify(ftdump, copy)
    os.unlink(copy)
    extra = said_bare - said
    short = [r for r, share in SHARES.items() if decided_bare[r] < share * decided[r]
             or not decided[r]]
    print("%s: %d findings with symbols, %d more without"
          % (os.path.basename(path), len(said), len(extra)))
    for rule in SHARES:
        print("  %-16s %6d of %6d%s"
              % (rule, decided_bare[rule], decided[rule], " FAIL" * (rule in short)))
    for x in sorted(extra, key=str)[:20]:
        print("  only without symbols: %s %s %s" % x)
    return len(extra) + len(short)


def main(ftdump, *paths):
    return sum([compare(ftdump, p) for p in paths]) != 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
