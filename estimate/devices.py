"""Accelerators as their vendor's data sheets have them, without sparsity."""

from dataclasses import dataclass
from math import inf

# share of peak and bandwidth that is taken to be reached: that of training an 8B model with one request of 1,900 tokens in a pass
# on an H200 (benchmarks/RESULTS.md); large trainings reach 0.4 and more (Chowdhery et al. 2022, table 3)
UTILISATION = 0.3


@dataclass(frozen=True)
class Device:
    """One accelerator."""

    name: str
    # GiB
    memory: float
    # operations a second on bfloat16, dense
    peak: float
    # bytes a second of its memory
    bandwidth: float


# Sources: NVIDIA A100 data sheet (June 2021), H100 data sheet (SXM; half of the figures with sparsity), H200 data sheet (SXM,
# likewise). H200's 141 GB are decimal; the others' are powers of two
DEVICES = {
    "a100-40": Device("A100 40 GB", 40, 312e12, 1.555e12),
    "a100": Device("A100 80 GB", 80, 312e12, 2.039e12),
    "h100": Device("H100 80 GB", 80, 989e12, 3.35e12),
    "h200": Device("H200 141 GB", 131, 989e12, 4.8e12),
}


def device_of(text: str) -> Device:
    """One of `DEVICES` by its name, or a device by its figures: GiB, TFLOP/s on bfloat16 and TB/s, as "48,362,0.864".

    Raises:
        ValueError: it is neither.
    """
    if text in DEVICES:
        return DEVICES[text]
    memory, peak, bandwidth = map(float, text.split(","))
    if not all(0 < figure < inf for figure in (memory, peak, bandwidth)):
        raise ValueError(text)
    return Device("the given device", memory, peak * 1e12, bandwidth * 1e12)
