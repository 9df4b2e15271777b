#!/usr/bin/env python3
"""reduce.py FILE.cmm COMMAND...: the smallest program that still shows a fault.

COMMAND is run with {} replaced by a candidate file and must exit 0 while the fault is there,
for example
    reduce.py bad.cmm sh -c 'cmmc --check {} && ! lit-tests/cmmc/Inputs/programs.py --arch=arm64 {}'
Whole phrases go first, then subtrees: each is dropped, replaced by one of its own subtrees, or by
0, 1 or []. Writes FILE.cmm.reduced after every step that worked. Lossless text and dialect alike.
"""
import re
import subprocess
import sys

TOKEN = re.compile(r'\s+|;[^\n]*|\(|\)|\[|\]|"(?:[^"\\]|\\.)*"|\{(?:[^}"]|"[^"]*")*\}|[^\s()\[\]"{}]+|.', re.S)


def parse(text):
    """A file as nested lists; comments and blanks go, the header line stays."""
    stack = [[]]
    for t in TOKEN.findall(text):
        if t.isspace() or t.startswith(";"):
            continue
        if t in "([":
            stack.append([t])
        elif t in ")]":
            done = stack.pop()
            stack[-1].append(done + [t])
        else:
            stack[-1].append(t)
    return stack[0]


def show(tree, out):
    for t in tree:
        if isinstance(t, list):
            show(t, out)
        else:
            if out and out[-1] not in "([" and t not in ")]" and not (t[0] in ":{" or t == ":"):
                out.append(" ")
            out.append(t)
    return out


def text_of(phrases, header):
    return header + "\n".join("".join(show(p, [])) if isinstance(p, list) else p
                              for p in phrases) + "\n"


class Reducer:
    def __init__(self, path, command):
        source = open(path, encoding="latin-1").read()
        self.header = "; cmm lossless 1\n" if "; cmm lossless" in source[:200] else ""
        self.tree = parse(source)
        self.path, self.command, self.tries = path + ".reduced", command, 0

    def bad(self):
        candidate = self.path + ".try.cmm"
        with open(candidate, "w", encoding="latin-1") as f:
            f.write(text_of(self.tree, self.header))
        self.tries += 1
        ok = subprocess.call([c.replace("{}", candidate) for c in self.command],
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) == 0
        if ok:
            with open(self.path, "w", encoding="latin-1") as f:
                f.write(text_of(self.tree, self.header))
        return ok

    def drop_ranges(self, node, first):
        """Delta debugging over the children of a node from `first` on, halving ranges."""
        size, changed = max(1, (len(node) - first) // 2), False
        while size >= 1:
            i = first
            while i < len(node):
                saved = node[i:i + size]
                if saved == [")"] or (first > 0 and saved and saved[-1] in (")", "]")):
                    i += size
                    continue
                del node[i:i + size]
                if self.bad():
                    changed = True
                else:
                    node[i:i] = saved
                    i += size
            size //= 2
        return changed

    def simplify(self, node, depth=0):
        """Each subtree: a constant, or one of its own subtrees, in its place."""
        changed = False
        for i, t in enumerate(node):
            if not isinstance(t, list):
                continue
            choices = [c for c in t if isinstance(c, list)] + ["0", "1", ["[", "]"]]
            for c in choices if depth > 0 else []:
                node[i] = c
                if self.bad():
                    changed = True
                    break
                node[i] = t
            if isinstance(node[i], list):
                changed |= self.simplify(node[i], depth + 1)
                if depth > 0:
                    changed |= self.drop_ranges(node[i], 1)
        return changed

    def run(self):
        if not self.bad():
            sys.exit("reduce: the command does not exit 0 on the whole program")
        self.drop_ranges(self.tree, 0)
        while self.simplify(self.tree):
            pass
        print("%d tries, result in %s" % (self.tries, self.path))


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    sys.setrecursionlimit(100000)
    Reducer(sys.argv[1], sys.argv[2:]).run()
