"""The verb that trains a judge on controlled sets. Only the command line's files print."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from ....cli import completion
from ....cli.door import Verb
from ....cli.inputs import Evidence, Ratings, Scales, named_values, refuse_unknown_judges, single_keys
from ....cli.progress import say_judging
from ....cli.terminal import say, show_page
from ....config.recipe_file import load_judges
from ....errors import RecipeError
from ..ratings.options import (
    Attribute,
    PurposeDimensions,
    RatedTexts,
    SetsOrDocuments,
    SummaryColumns,
    purposes_of,
    rated_of,
)

if TYPE_CHECKING:
    from ..combination import Sign

EXAMPLE = "Example: evenhand judges train sample --purpose coverage --out runs/judges/coverage"


def train_judge(  # noqa: PLR0913, PLR0917 (a verb has as many parameters as it has options)
    purpose: Annotated[Literal["coverage", "faithfulness"], typer.Option(help="What the judge is to measure.")],
    out: Annotated[Path, typer.Option(help="Folder for judge.json, the page, training.json and judgements.jsonl.")],
    file: SetsOrDocuments = None,
    judges: Annotated[
        Path | None,
        typer.Option(
            help="A recipe or a YAML file whose section 'judges' names the judges to combine with ROUGE.",
            autocompletion=completion.recipes,
        ),
    ] = None,
    judge: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Combine these judges of it alone. Repeatable.")
    ] = None,
    monotone: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=up|down",
            callback=single_keys("--monotone"),
            help="The score may only rise, or only fall, with this feature. Repeatable.",
        ),
    ] = None,
    evidence: Evidence = None,
    ratings: Ratings = None,
    dimension: PurposeDimensions = None,
    scale: Scales = None,
    summaries: RatedTexts = None,
    summary_columns: SummaryColumns = None,
    attribute: Attribute = None,
) -> None:
    """Combine judges by what is known of summaries, or by what people said: a judge of kind combined, tried on unseen topics."""
    sections = load_judges(judges) if judges else {}
    if judge and judges is None:
        raise RecipeError("--judge takes some of the judges of a recipe; name the recipe with --judges RECIPE")
    refuse_unknown_judges(judge or (), sections)
    up_or_down: tuple[Sign, ...] = ("up", "down")
    signs = named_values("--monotone", monotone, up_or_down)
    from ....evaluation.pages.write import PAGE
    from ....judges import try_judges
    from ..train_judge import JUDGE, TrainingRequest
    from ..train_judge import train_judge as train
    from ..training_page import page

    purposes = purposes_of(dimension)
    rated = rated_of(
        file,
        ratings,
        attribute=attribute,
        summaries=summaries,
        summary_columns=summary_columns,
        dimensions=[*purposes.values()],
        scales=scale,
        evidence=evidence,
    )
    members = {name: section for name, section in sections.items() if not judge or name in judge}
    try_judges(members)
    request = TrainingRequest(purpose, members, signs, rated.for_purposes(purposes) if rated else None)
    say_judging()
    training = train(file or Path(), request, out, evidence=evidence, say=say)
    show_page(page(training))
    say(f"judge: {{kind: combined, file: {out / JUDGE}}}")
    say(f"report: {out / PAGE}")


TRAIN_JUDGE = Verb(train_judge, epilog=EXAMPLE, former="train-judge")
