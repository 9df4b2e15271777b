#!/bin/sh
# innocent.sh OCAML FTDUMP ARCH FOLDER: compiles innocent.ml with both compilers in four ways and
# verifies objects and programs; prints the findings, if any, and the last word on each.
set -e
here=$(dirname "$0")
mkdir -p "$4"
cp "$here/innocent.ml" "$4"
cd "$4"
for version in 5.3 5.4; do
    for flags in -g "-unsafe -inline 200" "-g -unsafe" ""; do
        # shellcheck disable=SC2086
        "$1" ocamlopt --version=$version "$3" $flags -w -a -o innocent innocent.ml
        "$2" --verify=structure,calls,alloc,frame,live,abi innocent innocent.o |
            grep -v '^  [a-z]'
    done
done
