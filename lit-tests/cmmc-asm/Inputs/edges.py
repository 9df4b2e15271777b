#!/usr/bin/env python3
"""edges.py: displacements and immediates around the limits of every machine's encodings.

What does not fit an instruction must not be written into one: the assembler refuses it.
"""
CHUNKS = ["unsigned int8", "signed int8", "unsigned int16", "signed int16", "unsigned int32",
          "signed int32", "int", "val", "float32", "float64"]
LIMITS = [128, 256, 2048, 4096, 2 * 4096, 4 * 4096, 8 * 4096, 32768, 65536, 1 << 19, 1 << 20,
          1 << 24, 1 << 31, 1 << 32]
NUMBERS = sorted({s * (n + d) for n in LIMITS for s in (1, -1) for d in (-8, -4, -2, -1, 0, 1, 2)})


def of_float(chunk):
    return chunk.startswith("float")


def memory(chunk, name):
    value = '"f/2"' if of_float(chunk) else '"n/3"'
    stores = "".join('\n (store %s (+a "p/1" %d) %s)' % (chunk, d, value) for d in NUMBERS)
    zeros = "" if of_float(chunk) else "".join('\n (store %s (+a "p/1" %d) %d)' % (chunk, d, k % 3)
                                               for k, d in enumerate(NUMBERS))
    target = "float64" if of_float(chunk) else "int"
    loads = "".join('\n (store %s "p/1" (load_mut %s (+a "p/1" %d)))' % (target, chunk, d)
                    for d in NUMBERS)
    indexed = "".join('\n (store %s (+a (+a "p/1" "n/3") %d) %s)' % (chunk, d, value)
                      for d in NUMBERS)
    return ('(function "%s" ("p/1" val "f/2" float "n/3" int) () poll_default (seq%s%s%s%s))'
            % (name, stores, zeros, loads, indexed))


def numbers():
    """Stored constants, bounds and bits tested (operators-*.test runs the operators)."""
    stores = "".join('\n (store int "p/1" %d)' % n for n in NUMBERS)
    bounds = "".join('\n (checkbound %d "n/2") (checkbound "n/2" %d)' % (abs(n), abs(n))
                     for n in NUMBERS)
    bits = "".join('\n (if (and "n/2" %d) (store int "p/1" "n/2") [])' % n for n in NUMBERS)
    return '(function "numbers" ("p/1" val "n/2" int) () poll_default (seq%s%s%s))' % (stores, bounds, bits)


print("; cmm lossless 1")
for k, chunk in enumerate(CHUNKS):
    print(memory(chunk, "memory%d" % k))
print(numbers())
