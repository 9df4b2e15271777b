"""profile.py FORMAT FILE [live]: a profile as folded stacks, "outermost;...;innermost BYTES",
addresses as "?", sorted, so that the formats can be compared. pprof is decoded from its
public description (profile.proto), speedscope is checked against a schema first."""
import collections
import json
import os
import re
import sys


def varints(data):
    """Fields of a protocol buffer message: (number, int or bytes)."""
    at = 0

    def varint():
        nonlocal at
        n = shift = 0
        while True:
            b = data[at]
            at += 1
            n |= (b & 127) << shift
            shift += 7
            if b < 128:
                return n

    while at < len(data):
        key = varint()
        if key & 7 == 0:
            yield key >> 3, varint()
        else:
            assert key & 7 == 2, "wire type"
            n = varint()
            assert at + n <= len(data), "a field is cut off"
            yield key >> 3, data[at : at + n]
            at += n


def many(message):
    out = collections.defaultdict(list)
    for number, v in varints(message):
        out[number].append(v)
    return out


def numbers(values):
    """Repeated integers, packed or not."""
    out = []
    for v in values:
        if isinstance(v, int):
            out.append(v)
        else:
            at = 0
            while at < len(v):
                n = shift = 0
                while True:
                    b = v[at]
                    at += 1
                    n |= (b & 127) << shift
                    shift += 7
                    if b < 128:
                        break
                out.append(n)
    return out


def pprof(data, live):
    p = many(data)
    strings = [s.decode() for s in p[6]]
    assert strings[0] == ""
    types = [tuple(strings[many(t)[k][0]] for k in (1, 2)) for t in p[1]]
    assert types == [("alloc_objects", "count"), ("alloc_space", "bytes"),
                     ("inuse_objects", "count"), ("inuse_space", "bytes")], types
    functions = {many(f)[1][0]: strings[many(f)[2][0]] for f in p[5]}
    locations = {}
    for l in map(many, p[4]):
        locations[l[1][0]] = [functions[many(line)[1][0]] for line in l[4]]
    for sample in map(many, p[2]):
        stack = []
        for at in numbers(sample[1]):  # innermost first, inlined ones first in a location
            stack += locations[at] or ["?"]
        yield stack[::-1], numbers(sample[2])[3 if live else 1]


def speedscope(text, live):
    import jsonschema

    doc = json.loads(text)
    schema = json.load(open(os.path.join(os.path.dirname(__file__), "speedscope-schema.json")))
    jsonschema.validate(doc, schema)
    names = [f["name"] for f in doc["shared"]["frames"]]
    profile = doc["profiles"][1 if live else 0]
    assert len(profile["samples"]) == len(profile["weights"])
    assert abs(sum(profile["weights"]) - profile["endValue"]) <= len(profile["weights"])
    for stack, n in zip(profile["samples"], profile["weights"]):
        yield [names[i] for i in stack], n


def folded(text, live):
    for line in text.splitlines():
        stack, n = line.rsplit(" ", 1)
        yield stack.split(";"), int(n)


def main(kind, path, live=None):
    data = open(path, "rb").read()
    sums = collections.Counter()
    stacks = pprof(data, live) if kind == "pprof" else {"speedscope": speedscope, "folded": folded}[kind](data.decode(), live)
    for stack, n in stacks:
        if n:
            sums[re.sub(r"0x[0-9a-f]+", "?", ";".join(s.replace(";", ":") for s in stack))] += n
    for name, n in sorted(sums.items()):
        print(name, n)


if __name__ == "__main__":
    main(*sys.argv[1:])
