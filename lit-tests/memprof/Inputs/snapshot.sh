#!/bin/bash
# snapshot.sh PROGRAM-COMMAND...: profiles of a running program, by signal and by
# the clock; each is whole.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
FRAMEKIT_MEMPROF="rate=1e-3,format=folded,out=$dir/s,signal=10" "$@" wait "$dir/s.2" >"$dir/out" 2>"$dir/err" &
pid=$!
until [ -s "$dir/err" ]; do sleep 0.1; done
until [ -e "$dir/s.1" ]; do pkill -USR1 -P $pid 2>/dev/null || kill -USR1 $pid; sleep 0.2; done
until [ -e "$dir/s.2" ]; do pkill -USR1 -P $pid 2>/dev/null || kill -USR1 $pid; sleep 0.2; done
wait $pid
for f in s.1 s.2 s; do python3 "$here/profile.py" folded "$dir/$f" | grep -q Record.garbage; done
echo "by signal: whole"
FRAMEKIT_MEMPROF="rate=1e-3,format=folded,out=$dir/t,every=0.01,quiet" "$@" wait "$dir/t.3" >"$dir/out"
for f in t.1 t.3 t; do python3 "$here/profile.py" folded "$dir/$f" | grep -q Record.garbage; done
echo "by the clock: whole"
[ -z "$(find "$dir" -name '*.part')" ] && echo "nothing is left over"
