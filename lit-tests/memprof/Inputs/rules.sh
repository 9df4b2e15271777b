#!/bin/sh
# rules.sh ARCH VERSION BUILD TOP OUT [PROGRAM]: Inputs/PROGRAM.ml (rules) with the real engine
# (OUT.real), framekit's in the real runtime (OUT.ours) and in framekit's (OUT.host1).
set -eu
arch=$1 version=$2 build=$3 top=$4 out=$5 program=${6:-rules}
here=$(dirname "$0")
object=$build/$arch/framekit_memprof_ocaml$(echo "$version" | tr -d .).o
flock "$build/.memprof.lock" make -s -C "$top" BUILD="$build" "$object"
runtime=$(cd "$build/$arch/asmrun-$version" && pwd)
mkdir -p "$out.d"
cp "$here/$program.ml" "$out.d/"
cd "$out.d"
link() { # NAME ARGUMENT...
    name=$1
    shift
    "$top/qemu-ci/ocaml" ocamlopt --version="$version" "$arch" -w -a -g -I +unix -I +threads "$@" unix.cmxa threads.cmxa \
        -o "$name" "$program.ml"
    "$top/qemu-ci/ocaml" run --version="$version" "$arch" "./$name" >"$out.$name" || echo "exit code $?" >>"$out.$name"
}
link real
link ours "$object"
link host1 -runtime-variant _fk -I "$runtime" -noautolink -cclib -lunixnat
