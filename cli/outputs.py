"""Where a verb may write."""

from collections.abc import Sequence
from pathlib import Path

from ..errors import DataError


def refuse_outputs(out: Path, suffix: str, inputs: Sequence[Path]) -> None:
    """Refuse an output of another kind, and one that is read or lies in a folder that is read.

    A file of another kind could be overwritten by what is written beside the output, or be somebody's own. Whether one of the
    right kind that already exists may be replaced is for the verb to say; see `refuse_replaced`.

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


def refuse_replaced(out: Path, remark: str = "") -> None:
    """Refuse an output that already exists: hours of somebody's work may be in it.

    Args:
        out: where the verb is to write.
        remark: what more to say of such a file, as a sentence of its own.

    Raises:
        DataError: the output is there.
    """
    if out.exists():
        more = f" {remark}" if remark else ""
        raise DataError(f"--out {out}: already exists; name another file, or add --force to replace it.{more}")
