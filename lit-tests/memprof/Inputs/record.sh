#!/bin/bash
# record.sh ARCH BUILD TOP OUT HOST: Inputs/record.ml under FRAMEKIT_MEMPROF in every
# format at rate 1; the formats must agree call stack by call stack. HOST: host1 is
# framekit's runtime, ours the real one with the drop-in object.
set -eu
arch=$1 version=5.3 build=$2 top=$3 out=$4 host=$5
. "$(dirname "$0")/lib.sh"
enter record.ml
compile "$host" record.ml
profile() { # OPTIONS ARGUMENT...
    FRAMEKIT_MEMPROF=$1 run "$host" "${@:2}"
}
for f in pprof folded folded-live speedscope ctf; do
    profile "rate=1,format=$f,out=p.$f,quiet" >"$f.out"
    grep -qx "total 25250" "$f.out"
done
for live in "" live; do
    python3 "$here/profile.py" folded "p.folded${live:+-live}" >"folded.$live"
    python3 "$here/profile.py" pprof p.pprof $live | diff "folded.$live" - && echo "pprof $live: same"
    python3 "$here/profile.py" speedscope p.speedscope $live | diff "folded.$live" - && echo "speedscope $live: same"
    python3 "$here/trace.py" p.ctf "${live:-folded}" | diff "folded.$live" - && echo "trace $live: same"
done
python3 "$here/trace.py" p.ctf
awk '{ n += $NF } END { print "words", n / 8 }' p.folded
for f in folded ctf; do
    profile "rate=0.05,format=$f,out=d.$f,quiet" domains >domains.out
    grep -qx "total 25250" domains.out
done
python3 "$here/trace.py" d.ctf >/dev/null && python3 "$here/profile.py" folded d.folded >/dev/null && echo "several domains: good"
"$here/hostile.sh" "$ocaml" run "$arch" "./$host" >hostile.out
grep -v ": good$" hostile.out || echo "$(wc -l <hostile.out) bad options and files: good"
"$here/snapshot.sh" "$ocaml" run "$arch" "./$host"
