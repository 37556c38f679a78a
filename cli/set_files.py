"""What verbs of `evenhand import` share: options, refusals before anything is read, and files of document sets."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..storage import as_given
from ..text.shown import counted_as
from .outputs import refuse_outputs, refuse_replaced
from .terminal import say

if TYPE_CHECKING:
    from ..records import DocumentSet

File = Annotated[Path, typer.Argument(help="The file to read; .gz is unpacked.")]
Out = Annotated[Path, typer.Option(help="JSON-lines file (.jsonl) of document sets to write.")]
Force = Annotated[bool, typer.Option("--force", help="Replace a file that already exists.")]
Split = Annotated[str | None, typer.Option(help="Split that the sets are given: train, test, ...")]
REVIEWED = "What a person reviewed in it would be lost."


@contextmanager
def reading(*paths: Path, force: bool, remark: str = "") -> Iterator[None]:
    """Refuse an output, the last path, that could do harm, and call an input that cannot be read what it is: given wrongly."""
    *inputs, out = paths
    refuse_outputs(out, ".jsonl", inputs)
    if not force:
        refuse_replaced(out, remark)
    with as_given():
        yield


def write_sets(out: Path, sets: Sequence["DocumentSet"], remark: str = "", *, split: str | None = None) -> None:
    """Write document sets, with this split if one is given, and say how many."""
    from ..evaluation.pages.words import counted
    from ..storage import write_jsonl

    if split is not None:
        sets = [documents.model_copy(update={"split": split}) for documents in sets]
    write_jsonl(out, sets)
    say("; ".join(part for part in (f"{out}: {counted(len(sets), 'document set')}", remark) if part))


def say_left_out(left_out: Mapping[str, int]) -> None:
    """Say what of the data is in none of the sets, and how much."""
    for reason, count in sorted(left_out.items()):
        say(f"left out: {counted_as(count, reason)}")
