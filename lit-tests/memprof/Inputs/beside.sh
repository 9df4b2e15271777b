#!/bin/bash
# beside.sh ARCH VERSION BUILD TOP OUT: Inputs/events.ml under FRAMEKIT_MEMPROF, in the
# real runtime with the drop-in object and in framekit's.
set -eu
arch=$1 version=$2 build=$3 top=$4 out=$5
here=$(cd "$(dirname "$0")" && pwd)
ocaml=$top/qemu-ci/ocaml
object=$build/$arch/framekit_memprof_ocaml${version/./}.o
flock "$build/.memprof.lock" make -s -C "$top" BUILD="$build" "$object" >&2
runtime=$(cd "$build/$arch/asmrun-$version" && pwd)
mkdir -p "$out.d"
cp "$here/events.ml" "$out.d/"
cd "$out.d"
link() { # NAME ARGUMENT...
    "$ocaml" ocamlopt --version="$version" "$arch" -w -a -g "${@:2}" -o "$1" events.ml
}
link ours "$object"
link host1 -runtime-variant _fk -I "$runtime"
for engine in ours host1; do
    FRAMEKIT_MEMPROF=rate=0.02,format=ctf,out=$engine.ctf,quiet "$ocaml" run --version="$version" "$arch" "./$engine" >"$engine.out"
    diff "$here/events.expected" "$engine.out" >&2 || { echo "$engine: other events"; continue; }
    n=$(python3 "$here/trace.py" "$engine.ctf" | sed -n 's/^allocations .* samples //p')
    [ "$n" -gt 20000 ] && echo "$engine: same events, the trace is whole"
done
