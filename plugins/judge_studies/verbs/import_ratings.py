"""`evenhand import summeval-op` and `label-studio`: document sets, and people's ratings of their summaries beside them."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ....cli.door import Verb
from ....cli.outputs import refuse_outputs, refuse_replaced
from ....cli.set_files import File, Force, Out, Split, reading, say_left_out, write_sets
from ....cli.terminal import say

if TYPE_CHECKING:
    from ..ratings.rows import RatedSets

RatingsOut = Annotated[
    Path, typer.Option("--ratings", help="JSON-lines file (.jsonl) of people's ratings to write, a score a line.")
]


def summeval_op(file: File, out: Out, ratings: RatingsOut, split: Split = None, force: Force = False) -> None:
    """SummEval-OP: reviews of a product are a set; what people said of systems' summaries goes to --ratings.

    Either of the two released files: the detailed one has the score of each rater, the other means by the systems' names.
    """
    from ..ratings.summeval_op import read_summeval_op

    _import(read_summeval_op, file, out, ratings, split, force=force)


def label_studio(file: File, out: Out, ratings: RatingsOut, split: Split = None, force: Force = False) -> None:
    """Label Studio's export (JSON): a task is a summary, its Rating, Number and numeric choices are scores.

    A task's data name the set (id), the summary, its documents and, where there is one, the system; controls are dimensions.
    Marks of key points are read by `evenhand human`.
    """
    from ..ratings.label_studio_ratings import read_label_studio_ratings

    _import(read_label_studio_ratings, file, out, ratings, split, force=force)


def _import(
    read: "Callable[[Path], RatedSets]", file: Path, out: Path, ratings: Path, split: str | None, *, force: bool
) -> None:
    """Write the document sets and the ratings of a file."""
    from ....storage import write_jsonl

    refuse_outputs(ratings, ".jsonl", [file, out], "--ratings")
    if not force:
        refuse_replaced(ratings, option="--ratings")
    with reading(file, out, force=force):
        rated = read(file)
    write_jsonl(ratings, rated.rows)
    write_sets(out, rated.sets, f"{ratings}: {len(rated.rows):,} ratings", split=split)
    say_left_out(rated.left_out)
    say(f"next: evenhand judges benchmark {out} --ratings {ratings}")


LABEL_STUDIO = Verb(
    label_studio,
    epilog="Example: evenhand import label-studio export.json --out docs.jsonl --ratings ratings.jsonl",
)
SUMMEVAL_OP = Verb(
    summeval_op,
    epilog="Example: evenhand import summeval-op summeval-op-detailed.jsonl --out reviews.jsonl --ratings ratings.jsonl",
)
