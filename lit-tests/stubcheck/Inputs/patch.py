"""patch.py FILE OLD=NEW...: replace bytes given in hex, each exactly once."""
import sys

name, *changes = sys.argv[1:]
data = open(name, "rb").read()
for change in changes:
    old, new = map(bytes.fromhex, change.split("="))
    assert len(old) == len(new) and data.count(old) == 1, (change, data.count(old))
    data = data.replace(old, new)
open(name, "wb").write(data)
