#!/bin/bash
# Files for a machine without a network, or from it, in pieces that are carried one by one and checked there:
#
#     benchmarks/gpu/pieces.sh split FROM TO [MEGABYTES]
#     benchmarks/gpu/pieces.sh join FROM TO
#
# split    of a folder or file makes TO/piece-000, ... of at most MEGABYTES (50) each, and TO/SHA256SUMS
# join     puts what was split into the folder TO, if every piece is there and is what was cut; else it says which to carry again
set -euo pipefail
if [ $# -lt 3 ] || { [ "$1" != split ] && [ "$1" != join ]; }; then
    sed -n '2,8s/^# \{0,1\}//p' "$0" >&2
    exit 2
fi
[ -e "$2" ] || { echo "error: $2 is not there" >&2; exit 2; }
mkdir -p "$3"

if [ "$1" = split ]; then
    case ${4:-50} in '' | 0* | *[!0-9]*) echo "error: MEGABYTES is a whole number of at least 1, got '$4'" >&2; exit 2 ;; esac
    rm -f "$3"/piece-* "$3/SHA256SUMS"
    if [ -d "$2" ]; then what=(-C "$2" .); else what=(-C "$(dirname "$2")" "$(basename "$2")"); fi
    tar -cf - "${what[@]}" | split -b "${4:-50}MB" -d -a 3 - "$3/piece-"
    (cd "$3" && sha256sum piece-* > SHA256SUMS)
    echo "$(wc -l < "$3/SHA256SUMS") pieces: $3"
    exit
fi

[ -s "$2/SHA256SUMS" ] || { echo "error: $2/SHA256SUMS is not there; carry it with the pieces" >&2; exit 2; }
wrong=$(cd "$2" && { LC_ALL=C sha256sum --check SHA256SUMS 2>/dev/null || true; } | sed -n 's/: FAILED.*//p' | paste -sd ' ')
[ -z "$wrong" ] || { echo "error: $2: not here, or not what was cut: $wrong; carry these again" >&2; exit 2; }
(cd "$2" && cut -c 67- SHA256SUMS | xargs cat) | tar -xf - -C "$3"
