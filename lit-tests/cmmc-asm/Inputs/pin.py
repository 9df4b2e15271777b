#!/usr/bin/env python3
"""pin.py FILE.cmm...: writes the expectations of this folder's tests anew.

A test pins, per architecture, the whole assembly of the functions it defines (without
line rows) and the descriptors that ftdump reads back. Look at the difference before
committing it. cmmc and ftdump are taken from PATH.
"""
import re
import subprocess
import sys

ARCHES = ["amd64", "arm64", "power", "s390x", "riscv64"]


def output(*cmd):
    return subprocess.run(cmd, stdout=subprocess.PIPE, check=True).stdout.decode()


def escape(line):
    return line.replace("{{", "{{[{][{]}}").replace("[[", "{{[[][[]}}")


def labels(line, seen):
    """.L7 becomes a FileCheck variable, defined where it is first met."""
    def one(m):
        name = "L" + m.group(1)
        if name in seen:
            return "[[%s]]" % name
        seen.add(name)
        return "[[%s:[.]L[0-9]+]]" % name
    return re.sub(r"\.L(\d+)\b", one, escape(line))


def pin_code(arch, path, functions):
    lines = [l for l in output("cmmc", "--target=" + arch, "-g", "-S", "-o", "-", path).split("\n")
             if not re.match(r"\s*\.(loc|file)\s", l)]
    out, prefix = [], arch.upper()
    for f in functions:
        at = lines.index(f + ":")
        while not re.match(r"\s*\.type\s", lines[at]):  # arm64, power: code before the entry
            at -= 1
        seen = set()
        out.append("%s-LABEL: %s" % (prefix, " ".join(escape(lines[at]).split())))
        for l in lines[at + 1:]:
            if re.match(r"\s*\.size\s", l):
                break
            out.append("%s-NEXT: %s" % (prefix, labels(" ".join(l.split()), seen)))
    return out


def pin_tables(arch, path):
    output("cmmc", "--target=" + arch, "-g", "-c", "-o", "/dev/shm/pin.o", path)
    text = output("ftdump", "--descriptors", "/dev/shm/pin.o").split("\n")
    start = next(i for i, l in enumerate(text) if l.startswith("module "))
    out, prefix = [], arch.upper() + "-FT"
    for l in text[start:]:
        l = " ".join(l.split())
        if not l:
            continue
        l = re.sub(r"0x[0-9a-f]+", "{{0x[0-9a-f]+}}", escape(l))
        out.append("%s%s: %s" % (prefix, "-NEXT" if out else "", l))
    return out


def main(paths):
    for path in paths:
        with open(path) as f:
            text = f.read().split("; --- expectations")[0].rstrip() + "\n"
        with open(path, "w") as f:
            f.write(text)
        functions = re.findall(r'^\(function\S* "(\w[\w.]*)"', text, re.M)
        out = ["; --- expectations (Inputs/pin.py writes them)"]
        for a in ARCHES:
            out += ["; " + l for l in pin_code(a, path, functions) + pin_tables(a, path)]
        with open(path, "w") as f:
            f.write(text + "\n".join(out) + "\n")


main(sys.argv[1:])
