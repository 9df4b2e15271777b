"""seeded.py TOP BUILD DIR [--tier=full|--slice=N] [ARCH KIND]...: seeds faults, one at a time, into a copy of
framekit in DIR, and holds that the matrix shows each one in exactly its own cell.

  stub   an instruction of a runtime stub      must turn stubcheck red
  field  a field of every descriptor           must turn verify red
  rule   a rule of the emitter                 must turn cmmc red

Each runs the tests of its kind on all architectures, then looks at the table on the terminal, the
JUnit file and the HTML page, and runs the command that the report names. Without ARCH KIND: all
fifteen; --slice: number N of them; --tier=full: that of today, named in the first line."""
import html
import os
import re
import shutil
import subprocess
import sys
import time
import xml.etree.ElementTree as ET

ALLOC2 = "alloc_function caml_alloc2, 24", "alloc_function caml_alloc2, 32"
STUBS = {
    "amd64": ("stubs/amd64.S",) + ALLOC2,
    "arm64": ("stubs/arm64.S",) + ALLOC2,
    "power": ("stubs/power.S", "mr %r3, %r27\n    fiber_to_c", "mr %r3, %r28\n    fiber_to_c"),
    "s390x": ("stubs/s390x.S",) + ALLOC2,
    "riscv64": ("stubs/riscv.S", "caml_alloc2, addi, -24", "caml_alloc2, addi, -32"),
}
# Exclusive or becomes or.
RULES = {
    "amd64": ('[LIN_XOR] = "xorq"', '[LIN_XOR] = "orq"'),
    "arm64": ('[LIN_XOR] = "eor"', '[LIN_XOR] = "orr"'),
    "power": ('[LIN_XOR] = "xor"', '[LIN_XOR] = "or"'),
    "s390x": ('{"xgrk", "xgr", "xg"}', '{"ogrk", "ogr", "og"}'),
    "riscv64": ('[LIN_XOR] = "xor"', '[LIN_XOR] = "or"'),
}
FIELD = ".frame_size = e_frame_size(e)"
# kind -> (suite, tests, seed of an architecture: file, text in it, what takes its place)
KINDS = {
    "stub": ("stubcheck", "stubcheck/ours-*", lambda a: STUBS[a]),
    "field": ("verify", "verify/cmmc-*", lambda a: (
        "emitter/tables.c", FIELD, FIELD + ' + 16 * !__builtin_strcmp(e->t->name, "%s")' % a)),
    "rule": ("cmmc", "cmmc/operators-*", lambda a: ("emitter/%s/emit.c" % a,) + RULES[a]),
}
SEEDS = [(a, k) for k in KINDS for a in STUBS]


def copy_tree(top, build, to):
    """Sources and what is built of them, with their times, so that make has nothing to do."""
    shutil.rmtree(to, ignore_errors=True)
    shutil.copytree(top, to, symlinks=True, ignore=lambda where, names: [
        n for n in names if where == top and n in (".git", "build") or n == "__pycache__"])
    os.mkdir(os.path.join(to, "build"))
    for n in sorted(os.listdir(build)):
        if n not in ("check", "fuzz", "lit", "run"):
            subprocess.run(["cp", "-a", os.path.join(build, n), os.path.join(to, "build", "")],
                           check=True)


class Seed:
    """The file is as it was when the block is left."""
    def __init__(self, top, file, old, new):
        self.path, self.old, self.new = os.path.join(top, file), old, new

    def __enter__(self):
        with open(self.path) as f:
            self.text = f.read()
        if self.text.count(self.old) != 1:
            sys.exit("seeded: %s: %d times %r" % (self.path, self.text.count(self.old), self.old))
        self.write(self.text.replace(self.old, self.new))

    def __exit__(self, *_):
        self.write(self.text)

    def write(self, text):
        with open(self.path, "w") as f:
            f.write(text)


def red_on_terminal(text):
    rows = [re.split(r"  +", line) for line in text.splitlines()]
    heads = next(r for r in rows if r[0] == "suite")
    return {(r[0], heads[i]) for r in rows if len(r) == len(heads) for i, c in enumerate(r)
            if "FAILED" in c}


def red_in_junit(path):
    return {tuple(s.get("name").split(".")) for s in ET.parse(path).getroot()
            if s.get("failures") != "0"}


def red_in_html(path):
    with open(path) as f:
        text = f.read()
    table = text[text.index("<table>"):text.index("</table>")]
    rows = table.split("<tr>")[1:]
    heads = [re.match(r"\w*", h).group() for h in rows[0].split("<th>")[1:]]
    red = set()
    for row in rows[1:]:
        suite, *cells = re.split(r"<td class=", row)
        red |= {(suite[4:].strip(), heads[i + 1]) for i, c in enumerate(cells)
                if c.startswith("failed")}
    return red, set(html.unescape(c) for c in re.findall(r"<code>(.*?)</code>", text))


def run(top, command):
    env = {k: v for k, v in os.environ.items() if k not in ("BUILD", "MAKEFLAGS", "MAKELEVEL")}
    return subprocess.run(command, cwd=top, env=env, shell=isinstance(command, str), text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def hold(what, seen, expected, output):
    if seen != expected:
        sys.exit("%s\nseeded: %s: %s instead of %s"
                 % (output, what, sorted(seen), sorted(expected)))


def try_seed(top, arch, kind):
    suite, tests, seed = KINDS[kind]
    started, cell = time.time(), {(suite, arch)}
    junit, page = os.path.join(top, "seeded.xml"), os.path.join(top, "seeded.html")
    with Seed(top, *seed(arch)):
        done = run(top, ["qemu-ci/run", "--test=" + tests, "--junit=" + junit, "--html=" + page])
        hold("exit status", {done.returncode}, {1}, done.stdout)
        hold("terminal", red_on_terminal(done.stdout), cell, done.stdout)
        hold("JUnit", red_in_junit(junit), cell, done.stdout)
        red, commands = red_in_html(page)
        hold("HTML", red, cell, done.stdout)
        said = set(re.findall(r"reproduce: (.*)", done.stdout))
        hold("commands in HTML", commands, said, done.stdout)
        hold("number of commands", {len(said)}, {1}, done.stdout)
        again = run(top, said.pop())
        hold("exit status of the command", {again.returncode}, {1}, again.stdout)
        hold("cell of the command", red_on_terminal(again.stdout), cell, again.stdout)
    print("%s %s: %s.%s red, alone, reproduced (%.0f s)"
          % (arch, kind, suite, arch, time.time() - started),
          flush=True)


def main(top, build, to, *arguments):
    chosen = SEEDS
    option, _, n = arguments[0].partition("=") if arguments else ("", "", "")
    if option == "--slice":
        chosen = [SEEDS[int(n) % len(SEEDS)]]
    elif option == "--tier":
        chosen = [SEEDS[int(time.time()) // 86400 % len(SEEDS)]] if n == "full" else SEEDS
    elif arguments:
        chosen = list(zip(arguments[::2], arguments[1::2]))
    print("seeds: " + " ".join("%s %s" % s for s in chosen), flush=True)
    copy_tree(os.path.abspath(top), os.path.abspath(build), to)
    for arch, kind in chosen:
        try_seed(to, arch, kind)
    print("%d seeds, each in its own cell" % len(chosen))


if __name__ == "__main__":
    main(*sys.argv[1:])
