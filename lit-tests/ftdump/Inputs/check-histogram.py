# Buckets do not overlap, are in order, and sum up to the count.
import json, sys

d = json.load(sys.stdin)
assert len(d["histograms"]) == 13
for name, h in d["histograms"].items():
    b = h["buckets"]
    assert sum(x["count"] for x in b) == h["count"], name
    assert all(x["low"] <= x["high"] for x in b), name
    assert all(x["high"] < y["low"] for x, y in zip(b, b[1:])), name
    if h["count"]:
        assert b[0]["low"] <= h["least"] <= h["median"] <= h["most"] <= b[-1]["high"], name
assert d["shapes"]["different"] == 6 and d["sharing"]["chains"]["used"] == 4
