#!/bin/bash
# host1.sh ARCH VERSION BUILD TOP OUT PROGRAM [OCAMLOPT ARGUMENT...]: the program
# of this folder, compiled by the real ocamlopt, on framekit's runtime.
set -eu
arch=$1 version=$2 build=$3 top=$4 out=$5 program=$6
. "$(dirname "$0")/lib.sh"
enter "$program.ml"
compile host1 "${@:7}" "$program.ml"
run host1 >"$out.host1"
