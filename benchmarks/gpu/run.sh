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
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
python=${PYTHON:-python3}
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
arguments=()
while [ $# -gt 0 ]; do
    if [ "$1" = --wheels ]; then
        # one by one: a package that cannot be had leaves its parts "not here", and the others alone
        for file in "$(realpath "$2")"/*.whl; do
            "$python" -m pip install --disable-pip-version-check -q --no-index --no-deps --no-compile --upgrade --target "$place/site" "$file" ||
                echo "cannot be used here: $file" >&2
        done
        # imported by twenty processes
        "$python" -m compileall -q -j 0 "$place/site" || true
        shift 2
    else
        arguments+=("$1")
        shift
    fi
done
# the checkout's root is the package, whatever its folder is called
ln -s "$root" "$place/evenhand"
export PYTHONPATH="$place:$place/site${PYTHONPATH:+:$PYTHONPATH}"
export CUDA_VISIBLE_DEVICES=${CUDA_VISIBLE_DEVICES:-0}
# modules are compiled once: every training starts a process or two
unset PYTHONDONTWRITEBYTECODE
export HF_HUB_OFFLINE=1 HF_HUB_DISABLE_TELEMETRY=1 TOKENIZERS_PARALLELISM=false
# beside this shell, which would not hear a signal before it ends; it then writes the summary of what there is
"$python" -m evenhand.benchmarks.gpu.run ${arguments[@]+"${arguments[@]}"} &
child=$!
trap 'kill -TERM "$child" 2>/dev/null || true' TERM INT
code=0
wait "$child" || code=$?
while kill -0 "$child" 2>/dev/null; do
    code=0
    wait "$child" || code=$?
done
exit "$code"
