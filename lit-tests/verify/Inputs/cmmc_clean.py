#!/usr/bin/env python3
"""cmmc_clean.py CMMC FTDUMP ARCH FILE...: compiles each program for ARCH and verifies the object.

Prints what ftdump finds in it, then one line with the sums; exit 1 when anything was found."""
import concurrent.futures
import os
import re
import subprocess
import sys
import tempfile

def check(cmmc, ftdump, arch, folder, path):
    out = os.path.join(folder, os.path.basename(path) + ".o")
    subprocess.run([cmmc, "--target=" + arch, "-c", "-g", "-o", out, path], check=True)
    p = subprocess.run([ftdump, "--verify", out], stdout=subprocess.PIPE, universal_newlines=True)
    rows = re.findall(r"^  ([a-z-]+) +(\d+) +(\d+) +(\d+) +(\d+)$", p.stdout, re.M)
    return p.returncode, p.stdout, {r[0]: [int(x) for x in r[1:]] for r in rows}


def main(cmmc, ftdump, arch, *paths):
    found, decided, left = 0, 0, 0
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(2) as pool:
        for code, text, rows in pool.map(lambda p: check(cmmc, ftdump, arch, folder, p), paths):
            if code != 0:
                found += 1
                print(text)
            decided += rows.get("frame-size", [0])[0]
            left += rows.get("frame-size", [0, 0, 0, 0])[3]
    print("%s: %d programs, %d frames decided, %d not; %d programs with findings" %
          (arch, len(paths), decided, left, found))
    return found != 0 or decided == 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
