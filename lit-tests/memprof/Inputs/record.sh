#!/bin/bash
# record.sh ARCH BUILD TOP OUT HOST: Inputs/record.ml under FRAMEKIT_MEMPROF in every
# format at rate 1; the formats must agree call stack by call stack. HOST: host1 is
# framekit's runtime, ours the real one with the drop-in object.
set -eu
arch=$1 build=$2 top=$3 out=$4 host=$5
here=$(cd "$(dirname "$0")" && pwd)
ocaml=$top/qemu-ci/ocaml
mkdir -p "$out.d"
cp "$here/record.ml" "$out.d"
cd "$out.d"
if [ "$host" = host1 ]; then
    link="-runtime-variant _fk -I $(cd "$build/$arch/asmrun-5.3" && pwd)"
else
    link=$build/$arch/framekit_memprof_ocaml53.o
    flock "$build/.memprof.lock" make -s -C "$top" BUILD="$build" "$link" >&2
fi
# shellcheck disable=SC2086
"$ocaml" ocamlopt "$arch" -w -a -g $link -o record record.ml
run() { # OPTIONS ARGUMENT...
    local options=$1
    shift
    FRAMEKIT_MEMPROF=$options "$ocaml" run "$arch" ./record "$@"
}
for f in pprof folded folded-live speedscope ctf; do
    run "rate=1,format=$f,out=p.$f,quiet" >"$f.out"
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
    run "rate=0.05,format=$f,out=d.$f,quiet" domains >domains.out
    grep -qx "total 25250" domains.out
done
python3 "$here/trace.py" d.ctf >/dev/null && python3 "$here/profile.py" folded d.folded >/dev/null && echo "several domains: good"
"$here/hostile.sh" "$ocaml" run "$arch" ./record >hostile.out
grep -v ": good$" hostile.out || echo "$(wc -l <hostile.out) bad options and files: good"
"$here/snapshot.sh" "$ocaml" run "$arch" ./record
