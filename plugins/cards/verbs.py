"""`evenhand run card` and `run verify`: what a run made, for others to check; `run pairs`: what it learnt from."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from ...cli.door import Verb
from ...cli.terminal import note, say
from ...errors import DataError
from ...storage import as_given
from ...text import some_of

CARD_EXAMPLE = "Example: evenhand run card runs/quickstart --licence apache-2.0"
VERIFY_EXAMPLE = "Example: evenhand run verify runs/quickstart/cards/model.md"
PAIRS_EXAMPLE = "Example: evenhand run pairs runs/quickstart --most 50 --order closest"


def _run_folder(folder: Path | None) -> Path | None:
    if folder is not None and folder.is_file():
        raise typer.BadParameter(f"{folder} is a file; name the run's folder, which its recipe calls output")
    return folder


def _card_file(path: Path) -> Path:
    if path.is_dir():
        cards = sorted(map(str, path.glob("cards/*.md")))
        remedy = f"name a card in it: {some_of(cards)}" if cards else "name a card, as `evenhand run card` wrote it"
        raise typer.BadParameter(f"{path} is a folder; {remedy}")
    return path


Run = Annotated[
    Path, typer.Argument(metavar="RUN", exists=True, callback=_run_folder, help="The output folder of a run.")
]


def card(
    run: Run,
    licence: Annotated[
        str | None, typer.Option(help="Of the adapter, as the hub names it: apache-2.0. Default: unknown.")
    ] = None,
    data_licence: Annotated[
        str | None, typer.Option(help="Of the pairs, which hold texts of the documents. Default: unknown.")
    ] = None,
    benchmark: Annotated[
        Path | None,
        typer.Option(
            exists=True,
            dir_okay=False,
            help="benchmark.json of `evenhand judges benchmark`: what the run's judges are worth. It is kept with the cards.",
        ),
    ] = None,
    calibration: Annotated[
        Path | None,
        typer.Option(
            exists=True,
            help="calibration.json of `evenhand judges audit`, or its folder: the same, and what leads judges astray. "
            "It is kept, too. Default: what the report says.",
        ),
    ] = None,
) -> None:
    """Write a model card of the trained adapter and a data card of its pairs: RUN/cards/model.md and data.md.

    Every number is the finished run's own and says which file it is from. Your own sections, the licence and further metadata
    stay when the cards are written again. Nothing is sent anywhere; docs/cards.md shows how to publish.
    """
    from .card import write_cards
    from .run import read_run

    with as_given():
        finished = read_run(run, benchmark, calibration)
    for path in write_cards(finished, {"model": licence, "data": data_licence}):
        say(f"{path.stem} card: {path}")
    if not finished.n_pairs:
        note("no data card: the pairs were given to the run, which did not make them")


def verify(
    card: Annotated[
        Path, typer.Argument(metavar="CARD", exists=True, callback=_card_file, help="As `evenhand run card` wrote it.")
    ],
    run: Annotated[
        Path | None,
        typer.Argument(
            metavar="RUN",
            exists=True,
            callback=_run_folder,
            help="The run that it describes. Default: the run in whose cards/ it lies.",
        ),
    ] = None,
) -> None:
    """Name every place where a card differs from its run: exit code 0 if there is none, else 2.

    All numbers, hashes and sentences are compared but the publisher's own: sections marked as theirs, licence, tags, and metadata
    that evenhand does not write. Before that, every file that a stage of the run wrote, pages, tables and receipts among them, is
    compared with the hash that it left; files that no stage wrote are named.
    """
    from ...evaluation.pages.words import counted
    from .card import SECTIONS, read_card
    from .run import read_run
    from .verify import departures, made_anew

    with as_given():
        read = read_card(card)
        folder = run or card.resolve().parent.parent
        finished = read_run(folder)
        differences = departures(read, made_anew(read, card, finished))
    if finished.unknown:
        say(f"no stage of the run has written {some_of(finished.unknown)}")
    for difference in differences:
        say(str(difference))
    if differences:
        raise DataError(
            f"{card}: {counted(len(differences), 'difference')} from {folder}; `evenhand run card` writes it again"
        )
    say(
        f"{card}: everything is as {folder} has it; not checked: {some_of(list(SECTIONS))}, licence, tags, other metadata"
        + (f"; of the run's files {', '.join(finished.unhashed)}" if finished.unhashed else "")
    )


def pairs(
    run: Run,
    round_: Annotated[int | None, typer.Option("--round", min=0, help="Default: the last that has pairs.")] = None,
    most: Annotated[int, typer.Option(min=1, help="Pairs on the page.")] = 200,
    order: Annotated[
        Literal["spread", "closest", "widest"],
        typer.Option(help="Which: at even steps of the margin, those of the least margin, or those of the greatest."),
    ] = "spread",
    out: Annotated[
        Path | None, typer.Option(help="File (.html) to write. Default: RUN/report/pairs-round-NN.html.")
    ] = None,
) -> None:
    """Show what was learnt from: each pair with its prompt, both texts, and every judge's scores, signature and replies."""
    from ...cli.outputs import refuse_outputs
    from ...evaluation.pages.html import render
    from ...storage import write_text
    from .pairs import paired_folder, pairs_page

    folder = paired_folder(run, round_)
    path = out or run / "report" / f"pairs-{folder.name}.html"
    refuse_outputs(path, ".html", [folder])
    write_text(path, render(pairs_page(folder, most, order)))
    say(f"pairs: {path}")


CARD = Verb(card, epilog=CARD_EXAMPLE, at_end=True, former="card")
VERIFY = Verb(verify, epilog=VERIFY_EXAMPLE, former="verify")
PAIRS = Verb(pairs, epilog=PAIRS_EXAMPLE, at_end=True, former="pairs")
