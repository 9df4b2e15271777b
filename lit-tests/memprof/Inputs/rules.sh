#!/bin/bash
# rules.sh ARCH VERSION BUILD TOP OUT [PROGRAM]: Inputs/PROGRAM.ml (rules) with the real engine
# (OUT.real), framekit's in the real runtime (OUT.ours) and in framekit's (OUT.host1).
set -eu
arch=$1 version=$2 build=$3 top=$4 out=$5 program=${6:-rules}
. "$(dirname "$0")/lib.sh"
enter "$program.ml"
for engine in real ours host1; do
    compile_threads $engine "$program.ml"
    run $engine >"$out.$engine" || echo "exit code $?" >>"$out.$engine"
done
