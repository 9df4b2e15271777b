"""Verdicts of one object from stubcheck's JSON, one line each, without addresses.

    verdicts.py FILE.json        checked NAME: contracts, violated STUB RULE
"""
import json, sys

(o,) = json.load(open(sys.argv[1]))["objects"]
print("%s OCaml %s" % (o["arch"], o["ocaml"]))
for stub, contracts in sorted(o["stubs"].items()):
    for word in ("holds", "violated", "not checked"):
        names = [c for c, v in contracts.items() if v["verdict"] == word]
        if names:
            print("%s %s: %s" % (stub, word, " ".join(names)))
seen = set()
for v in o["violations"]:
    subject = "" if v["rule"].startswith(("cfi.", "veneer.")) else " " + v["subject"]
    line = "%s %s %s%s" % ("note" if v["note"] else "violation", v["stub"], v["rule"], subject)
    if line not in seen:
        print(line)
    seen.add(line)
