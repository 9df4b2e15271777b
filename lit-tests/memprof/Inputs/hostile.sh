#!/bin/bash
# hostile.sh PROGRAM-COMMAND...: whatever is wrong with FRAMEKIT_MEMPROF or its
# file, the program does its work, exits with 0 and one line says what is wrong.
set -u
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
long=$(printf 'x%.0s' $(seq 9000))
name=$(printf 'x%.0s' $(seq 300))
check() { # WANTED OPTIONS
    local rc=0
    FRAMEKIT_MEMPROF=$2 "${run[@]}" >"$dir/out" 2>"$dir/err" || rc=$?
    printf '%s: ' "${2:0:40}"
    [ $rc = 0 ] || { echo "exit code $rc"; return; }
    grep -qx "total 25250" "$dir/out" || { echo "the program did not work"; return; }
    grep -q "^framekit-memprof: .*$1" "$dir/err" || { echo "no such message: $1"; cat "$dir/err"; return; }
    [ "$(grep -vc "framekit's engine" "$dir/err")" -le 1 ] || { echo "more than one line"; return; }
    echo good
}
run=("$@")
for f in pprof folded speedscope ctf; do
    check "No such file or directory" "format=$f,out=$dir/none/x"
    check "Is a directory" "format=$f,out=$dir"
    check "No space left on device" "rate=1,format=$f,out=/dev/full"
    check "File name too long" "format=$f,out=$name"
done
mkfifo "$dir/pipe"
for f in folded ctf; do
    # a reader that goes at once: nobody reads what is written
    (exec 3<"$dir/pipe") &
    check "" "rate=1,format=$f,out=$dir/pipe,every=0.001"
    wait
done
for f in folded ctf; do
    check "No such device or address" "format=$f,out=$dir/pipe"
done
for o in rate=2 rate=0 rate=-1 rate=nan rate= rate=1x format=elf format= depth=-1 depth=1e99 every=0 signal=0 \
    signal=99 sites=0 limit=0 limit=x seed=-1 seed=1e99 out= nonsense =3 "$long" "out=$long" "a${long:0:5000}"; do
    check "no profile is made" "$o"
done
