"""Where a verb may write."""

from collections.abc import Sequence
from pathlib import Path

from .errors import DataError


def refuse_outputs(out: Path, suffix: str, inputs: Sequence[Path]) -> None:
    """Refuse an output of another kind, and one that is read or lies in a folder that is read.

    A file of another kind could be overwritten by what is written beside the output, or be somebody's own; one of the right
    kind that is there already is taken for an earlier output and replaced.

    Raises:
        DataError: the output is refused.
    """
    if out.suffix.lower() != suffix:
        raise DataError(f"--out {out}: name a file that ends in {suffix}")
    place = out.resolve()
    for path in inputs:
        if place == path.resolve():
            raise DataError(f"--out {out}: is one of the files that are read; name another")
        if path.resolve() in place.parents:
            raise DataError(f"--out {out}: lies in the folder {path}, which is read; name a place outside of it")
