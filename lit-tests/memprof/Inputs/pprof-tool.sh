#!/bin/bash
# pprof-tool.sh BUILD TOP OUT: a profile as `go tool pprof` sees it.
set -eu
arch=amd64 version=5.3 build=$1 top=$2 out=$3
. "$(dirname "$0")/lib.sh"
enter record.ml
compile host1 record.ml
FRAMEKIT_MEMPROF=rate=1,format=pprof,out=p.pprof,quiet run host1 >/dev/null
sum=$(framekit-memprof report p.pprof | sed -n '1s/ .*//p')
go tool pprof -raw p.pprof >raw 2>go.err
# Samples: alloc_objects alloc_space inuse_objects inuse_space: locations
awk '/^Locations/ { exit } /^ *[0-9]+ +[0-9]+ +[0-9]+ +[0-9]+:/ { n += $2 } END { print n }' raw >raw.sum
[ "$(cat raw.sum)" = "$sum" ] || { echo "go says $(cat raw.sum), report says $sum"; exit 1; }
go tool pprof -top -sample_index=inuse_space p.pprof 2>>go.err | grep -q Record.arrays
echo "sums agree: $sum bytes"
