"""`evenhand import polis`, `remesh` and `themefinder`: what people said becomes document sets, and votes are kept beside."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ...cli.door import Verb
from ...cli.outputs import refuse_outputs, refuse_replaced
from ...cli.set_files import Force, Out, Split, reading, say_left_out, write_sets
from ...cli.terminal import say

if TYPE_CHECKING:
    from .votes import Consultation

Votes = Annotated[
    Path | None,
    typer.Option(help="JSON-lines file (.jsonl) for the votes, each with the voter's group. Default: none."),
]
Card = Annotated[
    Path | None,
    typer.Option(
        help="Markdown file (.md) for a card of the data: groups, votes, what was left out, limits. Default: none."
    ),
]


def polis(
    folder: Annotated[
        Path, typer.Argument(help="Folder of an export: comments.csv and participants-votes.csv, or such folders.")
    ],
    out: Out,
    votes: Votes = None,
    card: Card = None,
    split: Split = None,
    force: Force = False,
) -> None:
    """Polis's export: a conversation is a set, and the attribute "group" is the opinion group of a statement's author."""
    from .polis import ATTRIBUTE, read_polis

    _import(read_polis, folder, (out, votes, card), ATTRIBUTE, split, force=force)


def remesh(
    folder: Annotated[Path, typer.Argument(help="Folder with people.csv, texts.csv and votes.csv.")],
    out: Out,
    votes: Votes = None,
    card: Card = None,
    split: Split = None,
    force: Force = False,
) -> None:
    """Remesh's dialogues, as "polarized issues" has them: texts on a question are a set, "leaning" is their authors'."""
    from .remesh import ATTRIBUTE, read_remesh

    _import(read_remesh, folder, (out, votes, card), ATTRIBUTE, split, force=force)


def themefinder(
    folder: Annotated[Path, typer.Argument(help="Folder with inputs/question_part_N and outputs/mapping/DATE.")],
    out: Out,
    card: Card = None,
    split: Split = None,
    force: Force = False,
) -> None:
    """ThemeFinder's files: responses to a question are a set, with each theme, position and what people are as attributes."""
    from .themefinder import ATTRIBUTE, read_themefinder

    _import(read_themefinder, folder, (out, None, card), ATTRIBUTE, split, force=force)


def _import(
    read: "Callable[[Path], Consultation]",
    folder: Path,
    outputs: tuple[Path, Path | None, Path | None],
    attribute: str,
    split: str | None,
    *,
    force: bool,
) -> None:
    """Write the document sets of a consultation, and its votes and card where files are named for them."""
    from ...evaluation.pages.words import counted
    from ...storage import write_jsonl, write_text

    out, votes, card = outputs
    for option, path, suffix in (("--votes", votes, ".jsonl"), ("--card", card, ".md")):
        if path is not None:
            refuse_outputs(path, suffix, [folder, out], option)
            if not force:
                refuse_replaced(path, option=option)
    with reading(folder, out, force=force):
        consultation = read(folder)
    if votes is not None:
        write_jsonl(votes, consultation.votes)
        say(f"{votes}: {counted(len(consultation.votes), 'vote')}")
    n = sum(len(documents.documents) for documents in consultation.sets)
    write_sets(out, consultation.sets, counted(n, "statement"), split=split)
    if card is not None:
        from .data_card import data_card

        write_text(card, data_card(consultation, attribute, [path for path in (out, votes) if path is not None]))
        say(f"{card}: a card of the data")
    say_left_out(consultation.left_out)


POLIS = Verb(
    polis, epilog="Example: evenhand import polis brexit-consensus --out brexit.jsonl --votes brexit-votes.jsonl"
)
REMESH = Verb(remesh, epilog="Example: evenhand import remesh polarized-issues --out issues.jsonl --votes votes.jsonl")
THEMEFINDER = Verb(
    themefinder, epilog="Example: evenhand import themefinder gambling --out gambling.jsonl --card gambling.md"
)
