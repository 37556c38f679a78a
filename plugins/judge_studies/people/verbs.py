"""`evenhand human`: people annotate summaries in a page, and their marks are scored and compared."""

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal

import typer

from ....cli.door import HERE, Verb
from ....cli.outputs import keep_result, refuse_outputs, refuse_replaced, show_result
from ....cli.set_files import Force
from ....cli.terminal import say
from ....cli.verbs import Verbs
from ....errors import DataError
from ....text import some_of

app = Verbs(
    help="Human evaluation: a page to annotate summaries in, scores, agreement.\n\n"
    "Start here:  [bold]evenhand human page --system zero-shot=RUN/evaluation/base --out page.html[/bold]",
    epilog="Example: evenhand human score annotations-anna.json page.key.json",
    no_args_is_help=True,
    rich_markup_mode="rich",
)

Files = Annotated[
    list[Path],
    typer.Argument(
        metavar="FILES...",
        exists=True,
        dir_okay=False,
        help="Exported sheets with page.key.json, human_N.json with human_items_N.json, or Label Studio's export.",
    ),
]
SystemFolders = Annotated[
    list[str],
    typer.Option(
        "--system",
        metavar="LABEL=FOLDER",
        help="A system: its name and the folder with its best.jsonl, of a phase or of evenhand score. Repeatable.",
    ),
]


@app.command(
    epilog="Example: evenhand human page --system base=runs/a/evaluation/base --system dpo=runs/a/evaluation/round-00"
)
def page(
    system: SystemFolders,
    out: Annotated[Path, typer.Option(help="The page; .key.json and .json are written next to it.")] = Path(
        "page.html"
    ),
    limit: Annotated[
        int | None,
        typer.Option(min=1, help="Show at most this many requests, drawn by the seed, equally many of each side."),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(
            min=0, help="Of the draw and of the order of the systems; drawn, and written to the key, if not given."
        ),
    ] = None,
    annotator: Annotated[str, typer.Option(help="The name to begin with; it can be changed in the page.")] = "",
) -> None:
    """Make a page to annotate summaries in: one file of HTML, in which nobody sees which system wrote what."""
    from ....evaluation.pages.words import counted
    from .page import blank_sheet, write_page

    refuse_outputs(out, ".html", [])
    sheet, key = blank_sheet(_systems(system), limit=limit, seed=seed, annotator=annotator)
    key_path, blank_path = write_page(out, sheet, key)
    summaries = counted(len(key.systems), "summary", "summaries")
    say(f"{out}: {counted(len(sheet.items), 'item')}, {summaries} each; open it in a browser")
    say(f"{key_path}: which system each letter is; keep it from the annotators, scoring needs it")
    say(f"{blank_path}: the same items for evenhand human convert")
    _say_left_out({(row.reason, row.side): row.count for row in key.left_out})


@app.command(epilog="Example: evenhand human plan --system base=runs/a/evaluation/base --out ratings.csv")
def plan(
    system: SystemFolders,
    out: Annotated[Path, typer.Option(help="Table (.csv) with a row for each summary, to be filled in.")] = Path(
        "ratings.csv"
    ),
    count: Annotated[int, typer.Option(min=1, help="Most summaries.")] = 100,
    seed: Annotated[int, typer.Option(min=0, help="Of the draw.")] = 0,
    ratings: Annotated[
        Path | None, typer.Option(exists=True, dir_okay=False, help="What is rated already, and is not drawn again.")
    ] = None,
    force: Force = False,
) -> None:
    """Draw the summaries that people rate next, evenly of each system and side, and write a table for their scores.

    People fill in the columns rater and score, from the top; whatever they have rated is a random draw. evenhand score, report
    and compare take the table back with --ratings, and say what people would say of all summaries, and how many ratings more make
    an interval half as wide.
    """
    from ....evaluation.pages.words import counted
    from ....storage import write_text
    from .plan import drawn_summaries, rating_sheet

    refuse_outputs(out, ".csv", [ratings] if ratings else [])
    if not force:
        refuse_replaced(out, "People's scores may be in it: --ratings leaves out what is rated.")
    summaries = drawn_summaries(_systems(system), count, seed, ratings)
    write_text(out, rating_sheet(summaries))
    say(f"{out}: {counted(len(summaries), 'summary', 'summaries')} to rate, evenly of each system and side")


@app.command(epilog="Example: evenhand human score annotations-anna.json page.key.json --out scores.json")
def score(
    files: Files,
    out: Annotated[
        Path | None,
        typer.Option(help="JSON file for everything the table shows; a page, .report.html, is written next to it."),
    ] = None,
    resamples: Annotated[int, typer.Option(min=100, help="Bootstrap draws over document sets.")] = 1000,
    seed: Annotated[int, typer.Option(min=0, help="Of the draws.")] = 0,
) -> None:
    """Coverage, faithfulness and key points included, omitted and hallucinated, by system and side."""
    from ....resampling import Bootstrap
    from .annotations.files import read_annotations
    from .result_pages import results_page
    from .results import human_results

    if out:
        refuse_outputs(out, ".json", files)
    sheets = read_annotations(files)
    results = human_results(sheets.units, sheets.left_out, Bootstrap(resamples=resamples, seed=seed))
    if out:
        keep_result(results, results_page(results), out)
    show_result(results_page(results), out)
    if not results.numbers:
        raise DataError(
            f"{some_of(list(map(str, files)))}: no item is finished, so there is nothing to score; the lines above say why"
        )


@app.command(epilog="Example: evenhand human agreement annotations-anna.json annotations-ben.json")
def agreement(
    files: Files,
    draws: Annotated[int, typer.Option(min=1, help="Random drawings of the baseline.")] = 100,
    seed: Annotated[int, typer.Option(min=0, help="Of those.")] = 0,
    out: Annotated[
        Path | None,
        typer.Option(help="JSON file for everything the table shows; a page, .report.html, is written next to it."),
    ] = None,
) -> None:
    """How far annotators agree in their highlights, compared with random ones of the same number and length.

    With Krippendorff's alpha; of more than two every pair and the mean of the pairs, too. Not all need to have seen the same.
    Sheets of one page need no key; those of different pages need the keys of all.
    """
    from .agreement import group_agreement
    from .annotations.files import read_annotations
    from .result_pages import agreement_page

    if out:
        refuse_outputs(out, ".json", files)
    sheets = read_annotations(files, highlights_only=True)
    _say_left_out(sheets.left_out)
    names = list(dict.fromkeys(unit.annotator for unit in sheets.units))
    if len(names) < 2:
        raise DataError(
            f"agreement is that of two annotators or more, but these files have {', '.join(names) or 'none'}; give more files"
        )
    units = {name: [unit for unit in sheets.units if unit.annotator == name] for name in names}
    result = group_agreement(units, draws=draws, seed=seed)
    if out:
        keep_result(result, agreement_page(result), out)
    show_result(agreement_page(result), out)


@app.command(epilog="Example: evenhand human convert page.json --to label-studio --out tasks.json")
def convert(
    file: Annotated[
        Path,
        typer.Argument(metavar="FILE", exists=True, dir_okay=False, help="A sheet, or Label Studio's JSON export."),
    ],
    to: Annotated[Literal["label-studio", "evenhand"], typer.Option(help="Which format to write.")],
    out: Annotated[
        Path, typer.Option(help="File to write; for Label Studio the labelling configuration is next to it as .xml.")
    ],
    annotator: Annotated[
        str | None, typer.Option(help="Whose sheet to write, when the file holds those of several.")
    ] = None,
    marks: Annotated[
        Literal["annotations", "predictions"],
        typer.Option(help="Whether Label Studio gets marks as annotations, or as predictions to review."),
    ] = "annotations",
) -> None:
    """Turn a sheet, blank or annotated, into Label Studio's tasks and configuration, or its export into sheets."""
    from ....storage import write_json, write_text
    from .annotations.files import read_sheets
    from .annotations.label_studio import labelling_configuration, to_tasks

    refuse_outputs(out, ".json", [file])
    sheets, left_out = read_sheets(file)
    chosen = [sheet for sheet in sheets if annotator is None or sheet.annotator == annotator]
    if len(chosen) != 1:
        annotators = ", ".join(f"{sheet.annotator!r} (page {sheet.page})" for sheet in sheets) or "nobody"
        raise DataError(
            f"{file}: holds sheets of {annotators}; name one with --annotator, and give one page's tasks at a time"
        )
    (sheet,) = chosen
    if to == "evenhand":
        write_json(out, sheet.model_dump(mode="json"))
    else:
        write_json(out, to_tasks(sheet, marks))
        write_text(out.with_suffix(".xml"), labelling_configuration(sheet))
        say(f"{out.with_suffix('.xml')}: labelling configuration")
    say(f"{out}: {len(sheet.items)} items")
    _say_left_out(left_out)


def _systems(entries: list[str]) -> dict[str, Path]:
    folders: dict[str, Path] = {}
    mistakes = []
    for entry in entries:
        label, sign, folder = entry.partition("=")
        if not (label and sign and folder):
            mistakes.append(f"--system {entry!r}: write LABEL=FOLDER, for example base=runs/a/evaluation/base")
        elif label in folders:
            mistakes.append(f"--system {entry!r}: the label {label!r} is given twice")
        elif earlier := [name for name, path in folders.items() if path.resolve() == Path(folder).resolve()]:
            mistakes.append(f"--system {entry!r}: is the folder of {earlier[0]!r}; name the folder of another system")
        folders[label] = Path(folder)
    if mistakes:
        raise DataError("\n".join(mistakes))
    return folders


def _say_left_out(left_out: Mapping[tuple[str, str], int]) -> None:
    from .result_pages import left_out_words

    for (reason, side), count in sorted(Counter(left_out).items()):
        say(f"left out: {left_out_words(reason, side, count)}")


HUMAN = Verb(app, HERE, at_end=True)
