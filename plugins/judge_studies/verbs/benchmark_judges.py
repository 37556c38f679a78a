"""`evenhand judges benchmark`: judges beside what is known of summaries."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from ....cli import completion
from ....cli.door import Verb
from ....cli.inputs import Dimensions, Evidence, Ratings, Scales
from ....cli.progress import say_judging
from ....cli.terminal import say, show_page
from ....config.recipe_file import load_judges
from ..ratings.options import Attribute, RatedTexts, SetsOrDocuments, SummaryColumns, rated_of

EXAMPLE = "Example: evenhand judges benchmark sample --judges quickstart"


def benchmark_judges(  # noqa: PLR0913, PLR0917 (a verb has as many parameters as it has options)
    file: SetsOrDocuments = None,
    judges: Annotated[
        Path | None,
        typer.Option(
            help="A recipe or a YAML file whose section 'judges' names the judges to try.",
            autocompletion=completion.recipes,
        ),
    ] = None,
    evidence: Evidence = None,
    out: Annotated[
        Path, typer.Option(help="Folder for index.html, benchmark.json, benchmark.md, tables/ and judgements.jsonl.")
    ] = Path("runs/benchmark-judges"),
    ties: Annotated[
        Literal["half", "wrong", "drop"], typer.Option(help="What a pair counts that a judge scores alike.")
    ] = "half",
    ratings: Ratings = None,
    dimension: Dimensions = None,
    scale: Scales = None,
    summaries: RatedTexts = None,
    summary_columns: SummaryColumns = None,
    attribute: Attribute = None,
) -> None:
    """Compare judges, ROUGE and length with known coverage and faithfulness, or with people: correlation and winrate.

    Start with what is bundled: evenhand judges benchmark sample. With --ratings the truth is what people said of summaries, each
    dimension by itself, and how far people agree among themselves stands beside the judges.
    """
    from ....evaluation.pages.write import PAGE
    from ....judges import try_judges
    from ..benchmark import benchmark_labels
    from ..benchmark_page import page
    from ..scoring import rated_labels, read_labels

    named = load_judges(judges) if judges else {}
    rated = rated_of(
        file,
        ratings,
        attribute=attribute,
        summaries=summaries,
        summary_columns=summary_columns,
        dimensions=dimension,
        scales=scale,
        evidence=evidence,
    )
    try_judges(named)
    labels = rated_labels(rated, named) if rated else read_labels(file or Path(), named, evidence)
    say_judging()
    show_page(page(benchmark_labels(labels, out, ties, say=say)))
    say(f"report: {out / PAGE}")


BENCHMARK_JUDGES = Verb(benchmark_judges, epilog=EXAMPLE, former="benchmark-judges")
