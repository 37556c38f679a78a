#!/bin/bash
# Everything that only a GPU can show, in one command of at most ten minutes on one card:
#
#     benchmarks/gpu/run.sh [--tiny] [--wheels FOLDER] [--output FOLDER] [--only PART ...] [--limit PART=SECONDS ...]
#
# --tiny      the same parts with models of two layers on the CPU; what it cannot do is said to be "not here"
# --wheels    packages that the machine lacks, as wheels, which are put beside it and not installed; see wheels.txt
# --output    where figures, logs and summary go (runs/gpu)
#
# Needs torch, transformers and accelerate; reaches for no network, and takes the first card unless CUDA_VISIBLE_DEVICES names
# another. $PYTHON is the interpreter (python3). Exits with 1 if a part failed or ran past its limit.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/environment.sh"
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
arguments=()
while [ $# -gt 0 ]; do
    if [ "$1" = --wheels ]; then
        use_wheels "$2" "$place"
        shift 2
    else
        arguments+=("$1")
        shift
    fi
done
use_checkout "$place"
code=0
# a run that is stopped writes the summary of what there is
beside "$python" -m evenhand.benchmarks.gpu.run ${arguments[@]+"${arguments[@]}"} || code=$?
exit "$code"
