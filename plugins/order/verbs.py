"""`evenhand import reordered`: the same document sets with their documents in another order."""

from pathlib import Path
from typing import Annotated

import typer

from ...cli.door import Verb
from ...cli.set_files import Force, Out, reading, write_sets
from ...errors import DataError


def reordered(
    file: Annotated[Path, typer.Argument(help="Document sets in any format that audit reads, or a bundled name.")],
    out: Out,
    turn: Annotated[int, typer.Option(min=1, help="Which of the turns: 1, 2, ...")] = 1,
    of: Annotated[
        int,
        typer.Option(min=2, help="Number of rotations of a set. 3: each document is in each third of its set once."),
    ] = 3,
    force: Force = False,
) -> None:
    """The same sets with their documents in another order: summarise them too, and audit --order tells place from content."""
    from ...corpora.reader import read_any
    from .places import turned

    if turn >= of:
        raise DataError(f"--turn {turn} --of {of}: turns are 1 to {of - 1}; number {of} is the order of the file")
    with reading(file, out, force=force):
        sets = read_any(file)
    write_sets(out, [turned(documents, turn, of) for documents in sets], f"turn {turn} of {of}")


REORDERED = Verb(reordered, epilog="Example: evenhand import reordered reviews --turn 1 --out reviews-1.jsonl")
