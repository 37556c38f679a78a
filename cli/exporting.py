"""`evenhand run export`: a run's pairs, rankings and rewards for other trainers."""

import json
from pathlib import Path
from typing import Annotated, Literal

import typer

from ..errors import DataError
from .outputs import refuse_outputs, refuse_replaced
from .terminal import say

EXAMPLE = "Example: evenhand run export runs/quickstart --to ranked --out ranked.jsonl"


def export(
    run: Annotated[
        Path,
        typer.Argument(metavar="RUN", exists=True, file_okay=False, help="A run folder, or one of its phases."),
    ],
    to: Annotated[
        Literal["trl", "ranked", "rewards"],
        typer.Option(help="trl: pairs; ranked: completions of each prompt by rank; rewards: each completion's reward."),
    ],
    out: Annotated[Path, typer.Option(help="JSON-lines file (.jsonl) to write.")],
    force: Annotated[bool, typer.Option("--force", help="Replace a file that already exists.")] = False,
) -> None:
    """Write what a run learnt of its candidates for other trainers; of a run all rounds, or the base model's evaluation."""
    from ..rerank.export import FORMS, reranked_folders
    from ..storage import whole_file

    refuse_outputs(out, ".jsonl", [run])
    if not force:
        refuse_replaced(out)
    folders, n = reranked_folders(run), 0
    with whole_file(out) as file:
        for folder in folders:
            for row in FORMS[to](folder):
                file.write(json.dumps(row, ensure_ascii=False) + "\n")
                n += 1
        if n == 0:
            raise DataError(f"{run}: has nothing to write as {to!r}; only training rounds make pairs")
    say(f"{out}: {n:,} lines of {', '.join(str(folder) for folder in folders)}")
