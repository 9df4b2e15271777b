#!/usr/bin/env python3
"""decode.py [--format=auto|A|B|C|O1|O2|O3] [--totals] FILE...

The second frametable decoder: slow, simple, and made without sight of the
first. Prints every descriptor in one canonical line, or with --totals one line
per file. Exit 1 when a file cannot be read."""
import sys

from elf import Bad, Elf, members
from tables import ALLOC, DEBUG, REGISTERS, read_tables


def frame_text(f):
    text = "%s:%d" % (f.file, f.line)
    if f.end_line is not None:
        text += "-%d" % f.end_line
    text += ":%d-%d" % (f.start_char, f.end_char)
    if f.end_offset is not None:
        text += "+%d" % f.end_offset
    if f.defname is not None:
        text += " " + f.defname
    return text + (" raise" if f.raised else "")


def live_text(elf, entry):
    kind, n = entry
    if kind == "stack":
        return str(n)
    names = REGISTERS[elf.arch]
    return names[n] if n < len(names) else "reg%d" % n


def show(elf, table):
    print("%s %d descriptors %d+%d+%d bytes" % (table.symbol, table.num, table.descr_bytes,
                                              table.record_bytes, table.name_bytes))
    for d in table.descriptors:
        line = "  +%d %#x" % (d.address - table.address, d.retaddr)
        if d.frame_size is None:
            print(line + " return_to_c")
            continue
        line += " frame=%d live=%s" % (d.frame_size, ",".join(live_text(elf, e) for e in d.live))
        if d.allocs is not None:
            line += " allocs=" + ",".join(map(str, d.allocs))
        print(line + (" " + d.form if d.form else ""))
        for record in d.debug or ():
            if table.opaque:
                print("    record %#x" % record)
            else:
                print("    " + (" <- ".join(map(frame_text, table.debuginfo.chain(record)))
                                or "none"))


FIELDS = ("modules empty descriptors debug alloc both polls combined max_allocs live max_live max_frame "
          "chains records wide descriptor_bytes debuginfo_bytes").split()


def add_totals(n, table):
    """The figures of docs/frametable-format.md's table of real programs."""
    n["modules"] += 1
    n["empty"] += table.num == 0
    n["descriptors"] += table.num
    n["descriptor_bytes"] += table.descr_bytes
    n["debuginfo_bytes"] += table.record_bytes + table.name_bytes
    n["records"] += len(table.debuginfo.records)
    n["chains"] += len({r for d in table.descriptors for r in d.debug or () if r})
    for d in table.descriptors:
        n["debug"] += d.flags & DEBUG
        n["alloc"] += d.flags & ALLOC == ALLOC
        n["both"] += d.flags == DEBUG | ALLOC
        n["live"] += len(d.live)
        n["max_live"] = max(n["max_live"], len(d.live))
        n["max_frame"] = max(n["max_frame"], d.frame_size or 0)
        n["wide"] += any(f.wide for r in d.debug or () for f in table.debuginfo.chain(r))
        if d.allocs is not None:
            n["polls"] += not d.allocs
            n["combined"] += len(d.allocs) > 1
            n["max_allocs"] = max(n["max_allocs"], len(d.allocs))


def totals(tables, n=None):
    n = n or dict.fromkeys(FIELDS, 0)
    for t in tables:
        add_totals(n, t)
    return n


def main(arguments):
    generation, only_totals, status = "auto", False, 0
    for a in arguments:
        if a.startswith("--format="):
            generation = a.split("=")[1]
        elif a == "--totals":
            only_totals = True
        else:
            n = dict.fromkeys(FIELDS, 0)
            try:
                for name, data in members(open(a, "rb").read()):
                    elf = Elf(data)
                    tables = read_tables(elf, generation)
                    if only_totals:
                        totals(tables, n)
                        continue
                    if name:
                        print("member " + name)
                    for t in tables:
                        show(elf, t)
            except (Bad, OSError) as e:
                print("decode.py: %s: %s" % (a, e), file=sys.stderr)
                status = 1
            if only_totals:
                print(" ".join(["%s=%d" % (f, n[f]) for f in FIELDS] + [a]))
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
