"""`evenhand judges audit`: what judges are worth, before they reward, report or gate."""

from pathlib import Path
from typing import Annotated

import typer

from ....cli import completion
from ....cli.door import Verb
from ....cli.inputs import Evidence, Ratings, Scales, named_values, refuse_unknown_judges, single_keys
from ....cli.progress import say_judging
from ....cli.terminal import say, show_page
from ....errors import EvenhandError, RecipeError
from ..ratings.options import (
    Attribute,
    PurposeDimensions,
    RatedTexts,
    SetsOrDocuments,
    SummaryColumns,
    purposes_of,
    rated_of,
)

EXAMPLE = "Example: evenhand judges audit sample --judges quickstart --out runs/audit-judge"


def audit_judge(  # noqa: PLR0913, PLR0917 (a verb has as many parameters as it has options)
    judges: Annotated[
        Path,
        typer.Option(
            help="A recipe or a YAML file whose section 'judges' names the judges to audit.",
            autocompletion=completion.recipes,
        ),
    ],
    sets: SetsOrDocuments = None,
    out: Annotated[
        Path,
        typer.Option(
            help="Folder for index.html, details.html, calibration.json, calibration.md, tables/ and judgements.jsonl."
        ),
    ] = Path("runs/audit-judge"),
    judge: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Only this judge. Repeatable. Default: all of them.")
    ] = None,
    purpose: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=PURPOSE",
            callback=single_keys("--purpose"),
            help="What a judge is to measure, coverage or faithfulness, where its section does not say. Repeatable.",
        ),
    ] = None,
    evidence: Evidence = None,
    ratings: Ratings = None,
    dimension: PurposeDimensions = None,
    scale: Scales = None,
    summaries: RatedTexts = None,
    summary_columns: SummaryColumns = None,
    attribute: Attribute = None,
    human: Annotated[
        list[Path] | None,
        typer.Option(
            exists=True,
            metavar="FILE|FOLDER",
            help="Sheets of people's scores, as `evenhand human score` takes them, or a folder of them. Repeatable; needs --own.",
        ),
    ] = None,
    own: Annotated[
        str | None, typer.Option(metavar="LABEL", help="With --human: the system that the judges' own model wrote.")
    ] = None,
    sides: Annotated[
        str | None,
        typer.Option(
            metavar="SIDE,SIDE",
            help="Sides that the same text is attributed to. Default: the sets' own, else left,right.",
        ),
    ] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Only this many articles, from the first.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be asked; ask nothing.")] = False,
) -> None:
    """Audit judges before they reward, report or gate: agreement with known truth or people, beside length, and faults.

    Probes: repeated sentences, instructions in the text, whose name it bears, names and words of the sides exchanged, what comes
    first, the judge's own writing, the other attribute, ROUGE, and whether it agrees alike by side, length and topic. What could
    not be tried is listed. Words of the sides come from the corpus of the recipe, if --judges has one. calibration.json goes
    to a recipe's key `calibration`; reports then say what their judges are worth.
    """
    from ....config.recipe_file import load_judges
    from ....evaluation.pages.write import PAGE
    from ....judges import try_judges
    from ....judges.benchmark import ATTRIBUTES
    from ..page import page
    from ..run import AUDIT_OF_JUDGES, AuditRequest, audit_judges, plan_lines, prepare

    sections = load_judges(judges)
    refuse_unknown_judges(judge or (), sections)
    names = purposes_of(dimension)
    rated = rated_of(
        sets,
        ratings,
        attribute=attribute,
        summaries=summaries,
        summary_columns=summary_columns,
        dimensions=[*names.values()],
        scales=scale,
        evidence=evidence,
    )
    request = AuditRequest(
        file=ratings or sets or Path(),
        rated=rated.for_purposes(names) if rated else None,
        judges={name: sections[name] for name in judge or sections},
        evidence=evidence,
        purposes=named_values("--purpose", purpose, ATTRIBUTES),
        human=human or (),
        own=own,
        tellers=_sides(sides) if sides is not None else None,
        documents=_documents(judges),
        limit=limit,
    )
    work = prepare(request)
    if dry_run:
        for line in plan_lines(work):
            say(line)
        return
    try_judges(request.judges)
    say_judging()
    show_page(page(audit_judges(work, out, say)))
    say(f"report: {out / PAGE}")
    say(f"for recipes: calibration: {out / AUDIT_OF_JUDGES.json}")


def _documents(recipe: Path) -> "list[tuple[str, str]]":
    """Documents of the recipe's corpus with their sides; none where it names no corpus, or one that is not here."""
    from ....config.recipe_file import corpus_of
    from ....corpora.reader import load_corpus

    section = corpus_of(recipe)
    if section is None:
        return []
    try:
        sets = load_corpus(section)
    except EvenhandError as error:
        say(
            f"words of the sides are learned from the articles alone, since the recipe's corpus cannot be read: {error}"
        )
        return []
    documents = (document for document_set in sets for document in document_set.documents)
    return [(side, document.text) for document in documents if (side := document.attributes.get(section.attribute))]


def _sides(sides: str) -> tuple[str, str]:
    names = [name.strip() for name in sides.split(",")]
    if len(names) != 2 or not all(names) or names[0].casefold() == names[1].casefold():
        raise RecipeError(f"--sides {sides!r}: write two different names with a comma between them, such as left,right")
    return names[0], names[1]


AUDIT_JUDGE = Verb(audit_judge, epilog=EXAMPLE, former="audit-judge")
