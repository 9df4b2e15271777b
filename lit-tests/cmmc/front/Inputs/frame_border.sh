#!/bin/sh
# frame_border.sh WORK ARCH...: frames around 65536 bytes either have their descriptor or an error.
limits=$(dirname "$(realpath "$0")")/limits.py
cd "$1" || exit 1
shift
for n in 8184 8185 8186 8187 8188 8189 8190; do
    "$limits" frame $n > border.cmm
    for arch; do
        if cmmc --target=$arch -c -o border.o border.cmm 2> border.err; then
            ftdump --descriptors border.o | grep -q ' call  *frame' || echo "$arch $n: no descriptor"
            echo "$arch fits"
        else
            grep -q 'border.cmm:1:11: error: the frame of function f takes 65[0-9]* bytes' border.err ||
                echo "$arch $n: wrong error"
            echo "$arch does not"
        fi
    done
done | sort | uniq -c
