#!/bin/bash
# defects.sh ARCH VERSION BUILD TOP OUT NAME...: Inputs/defects.ml with the three
# engines; a line each, or how the program died.
set -eu
arch=$1 version=$2 build=$3 top=$4 out=$5
shift 5
here=$(cd "$(dirname "$0")" && pwd)
ocaml=$top/qemu-ci/ocaml
object=$build/$arch/framekit_memprof_ocaml${version/./}.o
flock "$build/.memprof.lock" make -s -C "$top" BUILD="$build" "$object" >&2
runtime=$(cd "$build/$arch/asmrun-$version" && pwd)
mkdir -p "$out.d"
cp "$here/defects.ml" "$out.d/"
cd "$out.d"
link() { # NAME ARGUMENT...
    "$ocaml" ocamlopt --version="$version" "$arch" -w -a -I +unix -I +threads "${@:2}" unix.cmxa threads.cmxa -o "$1" defects.ml
}
link real
link ours "$object"
link host1 -runtime-variant _fk -I "$runtime" -noautolink -cclib -lunixnat
# malloc gives large pieces back at once, so that a write past one faults
export GLIBC_TUNABLES=glibc.malloc.mmap_threshold=65536
for name; do
    for engine in real ours host1; do
        timeout 100 "$ocaml" run --version="$version" "$arch" "./$engine" "$name" >line 2>/dev/null || echo "died" >line
        echo "$engine: $(tail -n 1 line)"
    done
done
