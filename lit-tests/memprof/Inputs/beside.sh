#!/bin/bash
# beside.sh ARCH VERSION BUILD TOP OUT: Inputs/events.ml under FRAMEKIT_MEMPROF, in the
# real runtime with the drop-in object and in framekit's.
set -eu
arch=$1 version=$2 build=$3 top=$4 out=$5
. "$(dirname "$0")/lib.sh"
enter events.ml
for engine in ours host1; do
    compile $engine events.ml
    FRAMEKIT_MEMPROF=rate=0.02,format=ctf,out=$engine.ctf,quiet run $engine >"$engine.out"
    diff "$here/events.expected" "$engine.out" >&2 || { echo "$engine: other events"; continue; }
    n=$(python3 "$here/trace.py" "$engine.ctf" | sed -n 's/^allocations .* samples //p')
    [ "$n" -gt 20000 ] && echo "$engine: same events, the trace is whole"
done
