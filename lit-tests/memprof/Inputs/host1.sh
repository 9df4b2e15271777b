#!/bin/sh
# host1.sh ARCH VERSION BUILD TOP OUT PROGRAM [OCAMLOPT ARGUMENT...]: the program
# of this folder, compiled by the real ocamlopt, on framekit's runtime.
set -eu
arch=$1 version=$2 build=$3 top=$4 out=$5 program=$6
here=$(dirname "$0")
shift 6
runtime=$(cd "$build/$arch/asmrun-$version" && pwd)
mkdir -p "$out.d"
cp "$here/$program.ml" "$out.d/"
cd "$out.d"
"$top/qemu-ci/ocaml" ocamlopt --version="$version" "$arch" -w -a -g -runtime-variant _fk -I "$runtime" "$@" \
    -o host1 "$program.ml"
"$top/qemu-ci/ocaml" run --version="$version" "$arch" ./host1 >"$out.host1"
