# check-json.py FORMAT-ARCH.json...: the sample modules say what was written.
import json, os, sys


def check(path):
    form, arch = os.path.basename(path)[:-5].split("-")
    d = json.load(open(path))
    assert d["schema"] == 1 and d["arch"] == arch and d["format"] == form, d
    assert d["endian"] == ("big" if arch == "s390x" else "little") and d["kind"] == "object"
    (m,) = d["modules"]
    assert m["name"] == "Sample" and m["address"].startswith("0x")
    ds = m["descriptors"]
    assert m["num_descriptors"] == len(ds) == (4 if form == "A" else 6)
    for x in ds:
        assert x["address"].startswith("0x") and x["retaddr"].startswith("0x") and x["offset"] > 0
    long_form = form in ("O1", "O2")
    call, raised, alloc = ds[0], ds[1], ds[2]
    assert call["frame_size"] == (70000 if long_form else 32)
    assert ("long" in call["flags"]) == long_form and "debug" in call["flags"]
    assert call["live"] == [{"stack": 8}, {"stack": 69000 if long_form else 16}]
    register = {"reg": 1, "name": dict(amd64="rbx", arm64="x1", power="r4", s390x="r3",
                                       riscv64="a1")[arch]}
    assert sorted(map(str, alloc["live"])) == sorted(map(str, [{"stack": 0}, register])), alloc
    assert ds[-1]["frame_size"] is None and "return_to_c" in ds[-1]["flags"] and ds[-1]["debuginfo"] is None
    if form == "A":
        assert "allocs" not in call and len(call["debuginfo"][0]) == 2
        assert "defname" not in call["debuginfo"][0][0] and "end_line" not in call["debuginfo"][0][0]
    else:
        assert call["allocs"] is None and alloc["allocs"] == [2, 4] and len(alloc["debuginfo"]) == 2
        assert ds[3]["allocs"] == [1] and ds[3]["debuginfo"] is None and ds[4]["allocs"] == []
    if form == "O3":
        assert call["debuginfo"] == [[{"raw": ["0x11112222", "0x33334444"]}]]
        return
    f = call["debuginfo"][0][0]
    assert [f[k] for k in ("file", "line", "start_char", "end_char", "raise")] == [
        "sample.ml", 12, 3, 15, False]
    assert raised["debuginfo"][0][0]["raise"] is True
    if form in ("C", "O2"):
        g = raised["debuginfo"][0][0]
        assert (g["end_line"], g["end_char"], g["end_offset"]) == (14, 9, 29), g
        w = alloc["debuginfo"][1][0]
        assert [w[k] for k in ("line", "end_line", "start_char", "end_char", "end_offset")] == [
            5000, 5040, 70, 130, 1500]


for p in sys.argv[1:]:
    check(p)
