# For run.sh and evidence.sh: this checkout as the package evenhand, packages that lie beside it, and a program that ends as it should.
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
python=${PYTHON:-python3}

# use_checkout PLACE: what is imported lies there, in the folders evenhand and site
use_checkout() {
    mkdir -p "$1"
    # the checkout's root is the package, whatever its folder is called
    ln -sfn "$root" "$1/evenhand"
    export PYTHONPATH="$1:$1/site${PYTHONPATH:+:$PYTHONPATH}"
    export CUDA_VISIBLE_DEVICES=${CUDA_VISIBLE_DEVICES:-0}
    # modules are compiled once: every training starts a process or two
    unset PYTHONDONTWRITEBYTECODE
    export HF_HUB_OFFLINE=1 HF_HUB_DISABLE_TELEMETRY=1 TOKENIZERS_PARALLELISM=false
}

# use_wheels FOLDER PLACE: packages that the machine lacks are put into PLACE/site, each once, and not installed
use_wheels() {
    local file added=
    mkdir -p "$2/site"
    # one by one: a package that cannot be had leaves its parts "not here", and the others alone
    for file in "$(realpath "$1")"/*.whl; do
        [ ! -e "$2/site/.${file##*/}" ] || continue
        if "$python" -m pip install --disable-pip-version-check -q --no-index --no-deps --no-compile --upgrade --target "$2/site" "$file"; then
            added=yes && touch "$2/site/.${file##*/}"
        else
            echo "cannot be used here: $file" >&2
        fi
    done
    # imported by twenty processes
    [ -z "$added" ] || "$python" -m compileall -q -j 0 "$2/site" || true
}

# beside COMMAND ...: runs beside this shell, which would not hear a signal before it ends; the command then ends by itself
beside() {
    local child code=0
    "$@" &
    child=$!
    trap 'kill -TERM "$child" 2>/dev/null || true' TERM INT
    wait "$child" || code=$?
    while kill -0 "$child" 2>/dev/null; do
        code=0
        wait "$child" || code=$?
    done
    return "$code"
}
