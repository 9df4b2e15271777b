"""The JSON document of stubcheck: one object, verdicts, one violation at least."""
import json, sys

d = json.load(open(sys.argv[1]))
assert d["schema"] == 1
(o,) = d["objects"]
assert o["arch"] == "amd64" and o["ocaml"] == "5.3" and o["seed"] == 1
words = {v["verdict"] for s in o["stubs"].values() for v in s.values()}
assert words == {"holds", "violated"}, words
v = [v for v in o["violations"] if v["rule"] == "arguments.registers"][0]
assert v["address"].startswith("0x") and v["contract"] == "arguments" and "`" in v["text"]
