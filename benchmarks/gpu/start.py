"""One part, in a process of its own: `python -m evenhand.benchmarks.gpu.start NAME --output FILE`.

Exit codes: 0 passed; 1 something was wrong; 77 nothing of it can be tried here, which is no failure.
"""

import importlib
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ...config.command_line import SingleValues
from ...extras import start_logging
from .part import CODES, Rows


class Part(NamedTuple):
    """One part of the run."""

    # of this folder; its `measure` adds the rows
    module: str
    # seconds on a GPU
    limit: float
    # keyword arguments of `measure`
    options: Mapping[str, Any]
    # runs with nothing beside it
    alone: bool = False


# what is not timed runs side by side, and takes no longer than the slowest; with the others it makes less than ten minutes
PARTS = {
    "kernels": Part("kernels", 220, {}),
    "graphs": Part("graphs", 120, {}),
    "zero2": Part("sharding", 200, {"kind": "zero2"}),
    "zero3": Part("sharding", 200, {"kind": "zero3"}),
    "fsdp2": Part("sharding", 200, {"kind": "fsdp2"}),
    "nf4": Part("sharding", 200, {"kind": "nf4"}),
    "liger": Part("sharding", 150, {"kind": "liger"}),
    "speed-1b": Part("speed", 125, {"size": "1b"}, alone=True),
    "speed-8b": Part("speed", 185, {"size": "8b"}, alone=True),
    "memory": Part("ceiling", 65, {}, alone=True),
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run a part; its exit code."""
    parser = SingleValues(prog="python -m evenhand.benchmarks.gpu.start", description=__doc__)
    parser.add_argument("part", choices=PARTS)
    parser.add_argument("--output", type=Path, required=True, metavar="FILE")
    parser.add_argument("--tiny", action="store_true", help="models of two layers, on the CPU")
    options = parser.parse_args(argv)
    start_logging("%(message)s")
    part = PARTS[options.part]
    rows = Rows(options.output, options.part, is_tiny=options.tiny)
    module = importlib.import_module(f".{part.module}", __package__)
    module.measure(rows, is_tiny=options.tiny, **part.options)
    return CODES[rows.state]


if __name__ == "__main__":
    sys.exit(main())
