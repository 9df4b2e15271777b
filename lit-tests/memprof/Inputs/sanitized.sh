#!/bin/sh
# sanitized.sh TOP OUT: the engine's own tests, built with the sanitizers.
set -eu
dir=$1/runtime/memprof out=$2
engine=
for f in control domain layers limit profile random run sample table; do engine="$engine $dir/$f.c"; done
build() { # SANITIZERS NAME SOURCE...
    s=$1 name=$2
    shift 2
    # shellcheck disable=SC2086
    gcc -std=c11 -D_GNU_SOURCE -g -O1 -ffp-contract=off -fsanitize="$s" -fno-sanitize-recover=all -o "$out.$name" "$@" $engine -lm -lpthread
}
for s in thread address,undefined; do
    build "$s" domains "$dir/test_domains.c" -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=free
    "$out.domains" 1 100 | sed "s/^seed 1:/$s:/"
done
build address,undefined model "$dir/test_model.c" "$dir/test_heap.c"
# the fake heap is not given back at the end
ASAN_OPTIONS=detect_leaks=0 "$out.model" 5 20000 | sed "s/^seed 5:/model:/"
