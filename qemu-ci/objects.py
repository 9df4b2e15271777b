"""Bring your own: every table of somebody's objects, archives, plugins and
programs decoded and encoded again (tables), proved against the code (verify),
and the runtime stubs tried (stubcheck)."""
import os
import shlex
import shutil
import struct
import subprocess
import time

from matrix import HOST, Result

USAGE = 3  # exit code of all tools
NO_TABLE = "no frametable: not native OCaml code, or stripped"  # ftdump's words for C code

# e_machine -> our name
MACHINES = {62: "amd64", 183: "arm64", 21: "power", 22: "s390x", 243: "riscv64"}


def elf_arch(head):
    """Architecture of an ELF head; None when it is not ELF or not one of ours."""
    if len(head) < 20 or head[:4] != b"\x7fELF":
        return None
    return MACHINES.get(struct.unpack_from("><"[head[5] == 1] + "H", head, 18)[0])


def archive_arch(file):
    """Of the first ELF member; None."""
    at = 8
    while True:
        file.seek(at)
        head = file.read(80)
        if len(head) < 60:
            return None
        if head[60:64] == b"\x7fELF":
            return elf_arch(head[60:])
        try:
            size = int(head[48:58])
        except ValueError:
            return None
        at += 60 + size + size % 2


def native_files(folder):
    """(path, arch) of every ELF file and archive of ours, links left out."""
    for where, folders, files in os.walk(folder):
        folders.sort()
        for f in sorted(files):
            path = os.path.join(where, f)
            if os.path.islink(path) or not os.path.isfile(path):
                continue
            with open(path, "rb") as file:
                head = file.read(20)
                arch = archive_arch(file) if head[:8] == b"!<arch>\n" else elf_arch(head)
            if arch:
                yield path, arch


def has_stubs(path):
    """Is it an object or archive (not a linked file) that defines caml_call_gc?"""
    with open(path, "rb") as f:
        head = f.read(20)
    if head[:4] == b"\x7fELF" and struct.unpack_from("><"[head[5] == 1] + "H", head, 16)[0] != 1:
        return False
    done = subprocess.run(["nm", "--defined-only", path], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          text=True)
    return any(l.split()[-1:] == ["caml_call_gc"] and " T " in l for l in done.stdout.splitlines())


def run(suite, name, arch, command, accepted, inconclusive):
    started = time.time()
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          errors="replace")
    verdict = "passed" if done.returncode in accepted else "failed"
    if done.returncode == inconclusive:
        verdict = "skipped"
    elif done.returncode == USAGE and "not part of this build" in done.stdout:
        reason = done.stdout.splitlines()[0]
        return Result(suite, name, arch, "skipped", 0.0, reason, shlex.join(command))
    elif done.returncode == USAGE and NO_TABLE in done.stdout:
        return Result(suite, name, arch, "skipped", 0.0, NO_TABLE, shlex.join(command))
    line = shlex.join(command)
    text = "%s\n%s: exit %d" % (done.stdout[-20000:], line, done.returncode)
    return Result(suite, name, arch, verdict, time.time() - started, text, line)


def tool(build, name):
    """Of the build, or the installed one."""
    built = os.path.join(build, "bin", name)
    return built if os.path.exists(built) else shutil.which(name) or name


# Not cfi: every OCaml compiler so far has unwinding rows that are wrong (docs/findings.md), and
# nothing runs differently for them.
VERIFY = "--verify=structure,calls,alloc,frame,live,abi,debug"


def check_folder(folder, build, columns, baseline):
    """A Result per file and tool. baseline: a file of what is known, or None.
    ftdump: 2 is "suspects only" and passes;
    stubcheck: 2 is "the emulator does not suffice" and is a skip."""
    wanted = {c.name: c for c in columns if c.name != HOST}
    ftdump, stubcheck = (tool(build, t) for t in ("ftdump", "stubcheck"))
    known = ["--baseline=" + baseline] if baseline else []
    for path, arch in native_files(folder):
        name = os.path.relpath(path, folder)
        if arch not in wanted:
            continue
        tables = run("tables", name, arch, [ftdump, "--roundtrip", path], (0,), None)
        yield tables
        if tables.text != NO_TABLE:
            yield run("verify", name, arch, [ftdump, VERIFY, *known, path], (0, 2), None)
        if not has_stubs(path):
            continue
        if wanted[arch].trouble:
            yield Result("stubcheck", name, arch, "skipped", 0.0, wanted[arch].trouble, "")
        else:
            yield run("stubcheck", name, arch, [stubcheck, *known, path], (0,), 2)
