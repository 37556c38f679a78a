"""`evenhand judges benchmark`: judges beside what is known of summaries."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from ....cli import completion
from ....cli.door import Verb
from ....cli.inputs import Evidence, Sets
from ....cli.terminal import say, show_page
from ....config.recipe_file import load_judges

EXAMPLE = "Example: evenhand judges benchmark sample --judges quickstart"


def benchmark_judges(
    file: Sets,
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
) -> None:
    """Compare judges, ROUGE and length with known coverage and faithfulness: correlation and winrate with intervals.

    Start with what is bundled: evenhand judges benchmark sample
    """
    from ....evaluation.pages.write import PAGE
    from ....judges import try_judges
    from ..benchmark import benchmark_judges as benchmark
    from ..benchmark_page import page

    named = load_judges(judges) if judges else {}
    try_judges(named)
    found = benchmark(file, named, out, ties, evidence=evidence, say=say)
    show_page(page(found))
    say(f"report: {out / PAGE}")


BENCHMARK_JUDGES = Verb(benchmark_judges, epilog=EXAMPLE, former="benchmark-judges")
