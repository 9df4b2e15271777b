#!/bin/bash
# defects.sh ARCH VERSION BUILD TOP OUT NAME...: Inputs/defects.ml with the three
# engines; a line each, or how the program died.
set -eu
arch=$1 version=$2 build=$3 top=$4 out=$5
. "$(dirname "$0")/lib.sh"
enter defects.ml quarantine.c
for engine in real ours host1; do
    compile_threads $engine -ccopt -Wl,--wrap=free quarantine.c defects.ml
done
# malloc gives large pieces back at once, so that a write past one faults
export GLIBC_TUNABLES=glibc.malloc.mmap_threshold=65536
for name in "${@:6}"; do
    for engine in real ours host1; do
        timeout 100 "$ocaml" run --version="$version" "$arch" "./$engine" "$name" >line 2>/dev/null || echo "died" >line
        echo "$engine: $(tail -n 1 line)"
    done
done
