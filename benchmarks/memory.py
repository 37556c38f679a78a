"""Peak memory of a piece of work: of the GPU where torch has one, else of this process."""

import ctypes
import sys
import threading
from types import TracebackType
from typing import Protocol

from ..extras import need

# seconds between two looks at the resident memory
SAMPLED_EVERY = 0.01


class Meter(Protocol):
    """Measures the peak memory of a `with` block; may be used again and again."""

    # what is measured, for the reader of the figures
    what: str
    # of the last block
    peak_bytes: int

    def __enter__(self) -> "Meter": ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

    def settle(self) -> None:
        """Wait until the device has done what was asked of it."""
        ...


class ResidentMemory:
    """Growth of this process's resident memory over what it was when the block began.

    What earlier work freed is given back to the system first, because memory that the allocator keeps would hide growth.
    """

    what = f"peak growth of the process's resident memory, sampled every {1000 * SAMPLED_EVERY:g} ms"

    def __init__(self) -> None:
        self.peak_bytes = 0
        self._process = need("psutil", "a benchmark").Process()
        self._done = threading.Event()
        self._watch: threading.Thread | None = None

    def __enter__(self) -> "ResidentMemory":
        if sys.platform == "linux" and hasattr(libc := ctypes.CDLL(None), "malloc_trim"):
            # other C libraries than glibc give memory back by themselves
            libc.malloc_trim(0)
        start = self._resident()
        self.peak_bytes = 0
        self._done.clear()
        self._watch = threading.Thread(target=self._sample, args=(start,), name="memory", daemon=True)
        self._watch.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._done.set()
        assert self._watch is not None, "entered before"
        self._watch.join()

    def settle(self) -> None:
        """Nothing runs apart from the processor."""

    def _sample(self, start: int) -> None:
        while True:
            done = self._done.wait(SAMPLED_EVERY)
            self.peak_bytes = max(self.peak_bytes, self._resident() - start)
            if done:
                return

    def _resident(self) -> int:
        return int(self._process.memory_info().rss)


class CudaMemory:
    """Most memory that torch's tensors held on the GPU, the model's weights among them."""

    what = "torch.cuda.max_memory_allocated"

    def __init__(self) -> None:
        self.peak_bytes = 0
        self._cuda = need("torch", "a benchmark").cuda

    def __enter__(self) -> "CudaMemory":
        self.settle()
        self._cuda.reset_peak_memory_stats()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.peak_bytes = int(self._cuda.max_memory_allocated())

    def settle(self) -> None:
        """Wait for the GPU's queue: a call that returns has only been put into it."""
        self._cuda.synchronize()


def memory_meter() -> Meter:
    """The meter that suits this process: CUDA's when torch is loaded and has a GPU, else the resident memory's."""
    torch = sys.modules.get("torch")
    return CudaMemory() if torch is not None and torch.cuda.is_available() else ResidentMemory()


def out_of_memory() -> tuple[type[BaseException], ...]:
    """The errors that say that memory ran out."""
    torch = sys.modules.get("torch")
    return (MemoryError,) if torch is None else (MemoryError, torch.OutOfMemoryError)
