# qemu-ci/lib.sh: what the scripts of this folder share. Sourced, never run.
#
# Everything downloaded lives under $cache, each item in a folder that appears
# in one rename when it is whole; a folder being filled is .part-XXXXXX and is
# locked by its owner, so a leftover of a killed run is told from a live one.
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
me=${0##*/}
cache=${FRAMEKIT_CACHE:-${HOME:?HOME is not set}/.cache/framekit}

# In an installed copy there is no Makefile and nothing beside it may be written.
build=${BUILD:-$top/build} insn=${BUILD:-$top/build}/insn.so
[ -e "$top/Makefile" ] || { build=${BUILD:-$cache/run} insn=$top/insn.so; }

die() { echo "$me: $*" >&2; exit 1; }
misuse() { echo "$me: $* (--help)" >&2; exit 3; }

# usage: print the caller's head comment, from its second line to the first
# line that is no comment.
help() { sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; }
usage() { help >&2; exit 3; }
[ "${1:-}" != --help ] || { help; exit 0; }

# The lines of qemu-ci/arches without comments.
arch_table() { sed 's/#.*//; /^ *$/d' "$top/qemu-ci/arches"; }
arch_names() { arch_table | awk '{print $1}'; }

# read_arch NAME: sets arch debian triplet cpu interp, and qemu ("" = native).
# NAME is ours or Debian's.
read_arch() {
    local line
    line=$(arch_table | awk -v n="$1" '$1 == n || $2 == n')
    [ -n "$line" ] || misuse "unknown architecture '$1' (one of:$(arch_names | sed 's/^/ /' | tr -d '\n'))"
    read -r arch debian triplet cpu _ interp <<<"$line"
    qemu=qemu-$cpu
    [ "$(uname -m)" != "$cpu" ] || qemu=""
}

# The mirror that serves this machine's own Debian release.
mirror() {
    [ -z "${FRAMEKIT_MIRROR:-}" ] || { echo "$FRAMEKIT_MIRROR"; return; }
    local id code f
    id=$(. /etc/os-release && echo "${ID:-}")
    code=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
    [ "$id" = debian ] || return 0
    for f in /etc/apt/sources.list.d/*.sources /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
        [ -r "$f" ] || continue
        case $f in
            *.sources) mirror_deb822 "$code" "$f" ;;
            *) sed -n "s/^deb  *\(\[[^]]*\] *\)\{0,1\}\([^ ]*\)  *\($code\|stable\) .*/\2/p" "$f" ;;
        esac
    done | head -n 1
}

mirror_deb822() {
    awk -v c="$1" 'BEGIN { RS = "" } {
        uri = ""; hit = 0; n = split($0, l, "\n")
        for (i = 1; i <= n; i++) {
            m = split(l[i], w, /[ \t]+/)
            if (tolower(w[1]) == "uris:") uri = w[2]
            if (tolower(w[1]) == "suites:")
                for (j = 2; j <= m; j++) if (w[j] == c || w[j] == "stable") hit = 1
        }
        if (hit && uri != "") { print uri; exit } }' "$2"
}

missing_tools() {
    local t
    for t in "$@"; do command -v "$t" >/dev/null || printf ' %s' "$t"; done
}

# begin_part MEGABYTES: sets part, a fresh locked folder beside what it will
# become; whatever way the script ends, it is gone unless end_part renamed it.
begin_part() {
    local free old
    mkdir -p "$cache" 2>/dev/null || die "cannot create the cache folder $cache"
    cache=$(cd "$cache" && pwd) # apt needs it absolute
    for old in "$cache"/.part-*; do
        if [ -d "$old" ] && flock -n "$old" true; then rm -rf "$old"; fi
    done
    free=$(df -Pm "$cache" | awk 'NR == 2 {print $4}')
    [ "$free" -ge "$1" ] || die "no disk space: $cache has $free MB left, $1 MB are needed"
    part=$(mktemp -d "$cache/.part-XXXXXX") || die "cannot write to $cache"
    chmod 755 "$part"
    exec 8<"$part"
    flock 8
    trap 'rm -rf "$part"' EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM HUP
}

end_part() { # FINAL
    rm -rf "$1"
    mv "$part" "$1" || die "cannot write $1"
    exec 8<&-
    trap - EXIT INT TERM HUP
}

# download SUITE DEBIAN-ARCH TO PACKAGE...: the .debs, through a private apt
# state inside $part, so neither root nor the machine's own apt is involved.
download() {
    local suite=$1 a=$2 to=$3 site st log
    shift 3
    site=$(mirror)
    [ -n "$site" ] || die "no Debian mirror in the apt sources; set FRAMEKIT_MIRROR"
    st=$part/.apt-$suite-$a log=$part/.log
    mkdir -p "$to" "$st/lists/partial" "$st/cache/archives/partial"
    echo "deb [arch=$a signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $site $suite main" \
        >"$st/sources.list"
    # Signatures are checked, dates are not: a mirror may be a snapshot of a day.
    local o=(-q -oAcquire::Check-Valid-Until=false -oAPT::Architecture="$a" -oAPT::Architectures="$a" -oAPT::Sandbox::User=root
        -oAcquire::Retries=2 -oAcquire::Retries::Delay=false -oAPT::Update::Error-Mode=any
        -oDir::Etc::sourcelist="$st/sources.list" -oDir::Etc::sourceparts=-
        -oDir::State::Lists="$st/lists" -oDir::Cache="$st/cache" -oDir::State::status=/dev/null)
    if ! { [ -e "$st/updated" ] || { apt-get "${o[@]}" update && touch "$st/updated"; }; } >"$log" 2>&1; then
        why "$log" "cannot read the package lists of $suite ($a) from $site"
        return 1
    fi
    if ! (cd "$to" && apt-get "${o[@]}" download "$@") >"$log" 2>&1; then
        why "$log" "cannot download from $suite ($a): $*"
        return 1
    fi
}

why() { # LOG MESSAGE
    echo "$me: $2" >&2
    { grep '^[EW]:' "$1" || tail -n 3 "$1"; } | head -n 5 | sed 's/^/  /' >&2
}

# unpack ROOT DEBS TAR-OPTION...: every .deb of the folder DEBS. Not dpkg -x,
# which would replace ROOT's links lib -> usr/lib by folders.
unpack() {
    local root=$1 debs=$2 d
    shift 2
    mkdir -p "$root/usr/lib" "$root/usr/lib64"
    ln -sfn usr/lib "$root/lib"
    ln -sfn usr/lib64 "$root/lib64"
    for d in "$debs"/*.deb; do
        dpkg-deb --fsys-tarfile "$d" |
            tar -x --keep-directory-symlink --no-same-owner --no-same-permissions -C "$root" "$@" ||
            die "cannot unpack ${d##*/} into $root (disk full?)"
    done
}
