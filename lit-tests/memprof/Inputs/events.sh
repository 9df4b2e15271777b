#!/bin/bash
# events.sh ARCH VERSION BUILD TOP OUT: Inputs/events.ml with the real engine
# (OUT.real) and with framekit's (OUT.ours), compiled by the real ocamlopt.
set -eu
arch=$1 version=$2 build=$3 top=$4 out=$5
. "$(dirname "$0")/lib.sh"
enter events.ml
for engine in real ours; do
    compile $engine events.ml
    run $engine >"$out.$engine"
done
