#!/bin/sh
# events.sh ARCH VERSION BUILD TOP OUT: Inputs/events.ml with the real engine
# (OUT.real) and with framekit's (OUT.ours), compiled by the real ocamlopt.
set -eu
arch=$1 version=$2 build=$3 top=$4 out=$5
here=$(dirname "$0")
object=$build/$arch/framekit_memprof_ocaml$(echo "$version" | tr -d .).o
# One make at a time: the tests of all architectures run side by side.
flock "$build/.memprof.lock" make -s -C "$top" BUILD="$build" "$object"
mkdir -p "$out.d"
cp "$here/events.ml" "$out.d/"
cd "$out.d"
"$top/qemu-ci/ocaml" ocamlopt --version="$version" "$arch" -w -a -g -o real events.ml
"$top/qemu-ci/ocaml" ocamlopt --version="$version" "$arch" -w -a -g -o ours "$object" events.ml
"$top/qemu-ci/ocaml" run --version="$version" "$arch" ./real >"$out.real"
"$top/qemu-ci/ocaml" run --version="$version" "$arch" ./ours >"$out.ours"
