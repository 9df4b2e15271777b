# lib.sh: programs compiled by the real ocamlopt with one of three engines:
#
#   real    the runtime's own
#   ours    the real runtime with the drop-in object
#   host1   framekit's runtime
#
# The script that reads this has set arch, version, build, top and out.
# shellcheck shell=bash disable=SC2154
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
ocaml=$top/qemu-ci/ocaml

enter() { # FILE...: work in OUT.d, with copies of these files of this folder
    runtime=$(cd "$build/$arch/asmrun-$version" && pwd)
    object=$(cd "$build/$arch" && pwd)/framekit_memprof_ocaml${version/./}.o
    mkdir -p "$out.d"
    (cd "$here" && cp "$@" "$out.d/")
    cd "$out.d"
}
# One make at a time: the tests of all architectures run side by side.
drop_in() {
    flock "$build/.make-lock" make -s -C "$top" BUILD="$build" "$object" >&2
    echo "$object"
}
compile() { # ENGINE ARGUMENT...: into ./ENGINE
    local flags=()
    case $1 in
    ours) flags=("$(drop_in)") ;;
    host1) flags=(-runtime-variant _fk -I "$runtime") ;;
    esac
    "$ocaml" ocamlopt --version="$version" "$arch" -w -a -g "${flags[@]}" "${@:2}" -o "$1"
}
compile_threads() { # ENGINE ARGUMENT...: the program may use Unix and Thread
    local engine=$1 flags=(-I +unix -I +threads unix.cmxa threads.cmxa)
    [ "$engine" != host1 ] || flags+=(-noautolink -cclib -lunixnat)
    compile "$engine" "${flags[@]}" "${@:2}"
}
run() { # PROGRAM ARGUMENT...
    "$ocaml" run --version="$version" "$arch" "./$1" "${@:2}"
}
