"""The options by which verbs on judges take people's ratings."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ....cli import completion
from ....cli.inputs import PANEL_OF_RATINGS as PANEL
from ....cli.inputs import labelled, summary_columns_option, useless_without_ratings
from ....config import SummaryColumnsSection
from ....errors import RecipeError
from ....text.mistakes import listed

if TYPE_CHECKING:
    from ....config.needs import Purpose
    from .rated import RatedSummaries

SetsOrDocuments = Annotated[
    Path | None,
    typer.Argument(
        metavar="SETS",
        help="Controlled sets: JSON lines, or the PoliSum authors' released file; sample is bundled. With --ratings the "
        "documents that were summarised, as `evenhand audit` reads them, unless the ratings have a column 'documents'.",
        show_default=False,
        autocompletion=completion.controlled_sets,
    ),
]
PurposeDimensions = Annotated[
    list[str] | None,
    typer.Option(
        "--dimension",
        metavar="PURPOSE=NAME",
        rich_help_panel=PANEL,
        help="Which dimension of the ratings is coverage, or faithfulness. Repeatable. Default: that of the name.",
    ),
]
RatedTexts = Annotated[
    list[str] | None,
    typer.Option(
        "--summaries",
        metavar="LABEL=FILE",
        rich_help_panel=PANEL,
        help="Summaries of the system that ratings call LABEL, where they do not have the texts. Repeatable.",
    ),
]
SummaryColumns = Annotated[SummaryColumnsSection | None, summary_columns_option(PANEL)]
Attribute = Annotated[
    str | None,
    typer.Option(
        rich_help_panel=PANEL, help="Social attribute of the documents, whose values are sides of rated summaries."
    ),
]


def purposes_of(dimensions: Sequence[str] | None) -> "dict[Purpose, str]":
    """Purpose -> the dimension that is it, from "coverage=aspect coverage".

    Raises:
        RecipeError: an entry has another form, or a purpose is named twice; all are listed.
    """
    from ....judges.benchmark import ATTRIBUTES

    purposes: dict[Purpose, str] = {}
    mistakes = []
    for entry in dimensions or ():
        name, equals, dimension = entry.partition("=")
        purpose = next((x for x in ATTRIBUTES if x == (name.strip() if equals else entry.strip().casefold())), None)
        if purpose is None or purpose in purposes or (equals and not dimension.strip()):
            mistakes.append(f"--dimension {entry!r}: write coverage=NAME or faithfulness=NAME, each once")
        else:
            purposes[purpose] = dimension.strip() or entry.strip()
    if mistakes:
        raise RecipeError(listed(mistakes))
    return purposes


def rated_of(  # noqa: PLR0913 (of a verb's options)
    file: Path | None,
    ratings: Path | None,
    *,
    attribute: str | None = None,
    summaries: Sequence[str] | None = None,
    summary_columns: SummaryColumnsSection | None = None,
    dimensions: Sequence[str] | None = None,
    scales: Sequence[str] | None = None,
    evidence: Path | None = None,
) -> "RatedSummaries | None":
    """What people said of summaries; None where controlled sets are given.

    Raises:
        RecipeError: neither is given, or options of ratings without them.
        DataError: a file is wrong; all mistakes are listed.
    """
    options = {
        "--attribute": attribute, "--summaries": summaries, "--summary-columns": summary_columns, "--dimension": dimensions,
        "--scale": scales,
    }  # fmt: skip
    if ratings is None:
        stray = useless_without_ratings(options)
        if file is None:
            stray.append("name controlled sets (sample is bundled), or people's ratings with --ratings FILE")
        if stray:
            raise RecipeError(listed(stray))
        return None
    if evidence:
        raise RecipeError(
            "--evidence is of the PoliSum authors' controlled sets, and people's ratings have none; leave it out"
        )
    from ....api.documents import load_documents
    from ....corpora.summaries import read_texts
    from ....corpora.summary_columns import columns_of
    from ....corpora.summary_ids import Targets
    from .articles import RatingsRequest
    from .rated import read_rated
    from .scales import scales_of

    stated = scales_of(scales or ())
    documents = load_documents(str(file), attribute) if file else None
    called = {}
    for each in documents or ():
        called[each.id] = each
        called |= {f"{each.id}/{side}": each for side in (each.values(attribute) if attribute else ())}
    targets = Targets(by_side=True)
    texts = {
        label: read_texts(path, called, targets=targets, allow_missing=True, columns=columns_of(summary_columns))
        for label, path in (labelled(entry, "--summaries") for entry in summaries or ())
    }
    return read_rated(
        RatingsRequest(
            file=ratings,
            documents=None if documents is None else list(documents),
            attribute=attribute,
            summaries=texts,
            dimensions=tuple(dimensions or ()),
            scales=stated,
        )
    )
