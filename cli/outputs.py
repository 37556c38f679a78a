"""Where a verb may write, and a result with its page that it keeps there."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import DataError
from .terminal import say, show

if TYPE_CHECKING:
    from pydantic import BaseModel

    from ..evaluation.pages.blocks import Page


def refuse_outputs(out: Path, suffix: str, inputs: Sequence[Path], option: str = "--out") -> None:
    """Refuse an output of another kind, and one that is read or lies in a folder that is read.

    A file of another kind could be overwritten by what is written beside the output, or be somebody's own. Whether one of the
    right kind that already exists may be replaced is for the verb to say; see `refuse_replaced`.

    Args:
        out: the output.
        suffix: of its kind.
        inputs: what is read.
        option: by which the output is named.

    Raises:
        DataError: the output is refused.
    """
    if out.suffix.lower() != suffix:
        raise DataError(f"{option} {out}: name a file that ends in {suffix}")
    place = out.resolve()
    for path in inputs:
        if place == path.resolve():
            raise DataError(f"{option} {out}: is another file of this command, too; name another")
        if path.resolve() in place.parents:
            raise DataError(f"{option} {out}: lies in the folder {path}, which is read; name a place outside of it")


def refuse_replaced(out: Path, remark: str = "", option: str = "--out") -> None:
    """Refuse an output that already exists: hours of somebody's work may be in it.

    Args:
        out: where the verb is to write.
        remark: what more to say of such a file, as a sentence of its own.
        option: by which the output is named.

    Raises:
        DataError: the output is there.
    """
    if out.exists():
        suffix = f" {remark}" if remark else ""
        raise DataError(f"{option} {out}: already exists; name another file, or add --force to replace it.{suffix}")


def keep_result(results: "BaseModel", page: "Page", out: Path) -> None:
    """Write a result and its page; an earlier one is named, and a file of somebody else's refused."""
    from ..evaluation.pages.folder import has, read_result
    from ..evaluation.pages.write import is_beside, write_beside
    from ..storage import write_json

    if out.exists():
        # the page may have been taken away, and is not there yet where an earlier command was stopped
        required = [name for name, field in type(results).model_fields.items() if field.is_required()]
        if not is_beside(out) and read_result(out, has(*required)) is None:
            raise DataError(f"--out {out}: already exists and was not written by evenhand; name another file")
        say(f"{out} holds an earlier result; it will be replaced.")
    write_json(out, results.model_dump(mode="json"))
    write_beside(page, out)


def show_result(page: "Page", out: Path | None = None) -> None:
    """Print a result, and where it was kept."""
    from ..evaluation.pages import terminal
    from ..evaluation.pages.write import BESIDE

    show(terminal.render(page))
    if out:
        say(f"scores: {out}")
        say(f"page: {out.with_suffix(BESIDE[0])}")
