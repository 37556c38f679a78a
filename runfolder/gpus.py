"""The GPUs that a process may use, told without loading a library that takes seconds."""

import os
import shutil
import subprocess

VISIBLE = "CUDA_VISIBLE_DEVICES"
# seconds that the driver has to say which GPUs there are
PATIENCE_SECONDS = 30


def visible_gpus() -> list[str]:
    """The GPUs that a process may use, as CUDA_VISIBLE_DEVICES names them; none where the driver's nvidia-smi finds none."""
    program = shutil.which("nvidia-smi")
    if program is None:
        return []
    try:
        process = subprocess.run([program, "-L"], capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=True)
    except (OSError, subprocess.SubprocessError):
        # the driver does not answer, so that no library would find a GPU either
        return []
    n = sum(line.startswith("GPU ") for line in process.stdout.splitlines())
    chosen = os.environ.get(VISIBLE)
    if chosen is None or n == 0:
        return [str(number) for number in range(n)]
    names: list[str] = []
    for name in filter(None, map(str.strip, chosen.split(","))):
        # as CUDA does: what stands behind a number that no GPU has is not seen
        if name.lstrip("-").isdigit() and not 0 <= int(name) < n:
            break
        names.append(name)
    return names
