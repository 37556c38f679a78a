"""`evenhand compare`: methods, sweeps and rounds side by side."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from . import completion
from .gate import BaselineFile, FailIf, Junit, Markdown, Options, Profile, Strict, read_earlier
from .inputs import Dimensions, Ratings, Scales, overrides_option, ratings_file, single_keys
from .progress import run_with_progress
from .terminal import note, print_plan, say, show_page

if TYPE_CHECKING:
    from ..evaluation.report.comparison.entries import NamedRecipe


def compare(  # noqa: PLR0913, PLR0917 (a verb has as many parameters as it has options)
    recipes: Annotated[
        list[Path],
        typer.Argument(
            metavar="RECIPE",
            help="Recipes to run and compare; the first is the reference of the tests.",
            autocompletion=completion.recipes,
        ),
    ],
    out: Annotated[
        Path,
        typer.Option(
            help="Folder for the runs and for index.html, details.html, comparison.json, comparison.md and tables/."
        ),
    ],
    set_: Annotated[
        list[str] | None,
        overrides_option("Change a key of all the recipes. Repeatable."),
    ] = None,
    over: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KEY=VALUE,VALUE",
            callback=single_keys("--over"),
            help="Run once for each value, in the recipes that have the key's section: --over seed=1,2,3.",
        ),
    ] = None,
    budgets: Annotated[
        str,
        typer.Option(
            metavar="N,N",
            help="Numbers of candidates to compare at. Default: 1, 3, 9, 18, and as many as a recipe asks for.",
        ),
    ] = "",
    rounds: Annotated[
        bool, typer.Option("--rounds", help="Show methods that ask in rounds after each of them, from one run.")
    ] = False,
    ratings: Ratings = None,
    dimension: Dimensions = None,
    scale: Scales = None,
    fail_if: FailIf = None,
    profile: Profile = None,
    baseline: BaselineFile = None,
    strict: Strict = False,
    junit: Junit = None,
    markdown: Markdown = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show the steps with their counts; do nothing.")] = False,
) -> None:
    """Run several recipes on the same requests, and compare them at equal budgets.

    Who leads, on which side, and how sure is that?

    What is done already is reused, and what was interrupted continues. What two runs make from the very same inputs is made once:
    recipes of one name and seed share candidates. Differences are tested and corrected for their number.
    """
    from ..api.studies import check_runs, run_and_compare
    from ..evaluation.gate.calibrated import refuse_uncalibrated
    from ..evaluation.gate.decide import Gating
    from ..evaluation.pages.write import PAGE
    from ..evaluation.report.comparison.page import page
    from ..evaluation.report.comparison.runs import name_runs, usual_budgets
    from ..evaluation.report.named import COMPARISON_PAGE, subject_of
    from ..evaluation.report.people.page import people_blocks

    rated = ratings_file(ratings, dimension, scale)
    gate = Options(fail_if, profile, baseline, junit, markdown, strict)
    limits = gate.read(COMPARISON_PAGE)
    earlier = read_earlier(limits, COMPARISON_PAGE)
    runs = name_runs(recipes, set_ or [], over or [], out)
    budget_sizes = _budgets(budgets) if budgets else usual_budgets(runs)
    check_runs(runs, budget_sizes, out, say, rated)
    for run in runs:
        refuse_uncalibrated(limits, run.recipe)
    gating = Gating(COMPARISON_PAGE, limits, earlier)
    gating.refuse_before(lambda: subject_of(runs[0].recipe))
    if dry_run:
        for run in runs:
            say(f"{run.label}:")
            print_plan(run.recipe)
        return

    def run_one(run: "NamedRecipe", twins: Sequence[Path]) -> None:
        note(f"{run.label}: {run.recipe.output}")
        run_with_progress(run.recipe, twins)

    comparison = run_and_compare(runs, out, budget_sizes, run_one, gating.judged, by_round=rounds, ratings=rated)
    show_page(page(comparison), people_blocks(comparison.people))
    say(f"comparison: {out / PAGE}")
    gate.end(comparison.gate, "compare")


def _budgets(text: str) -> list[int]:
    from ..errors import RecipeError

    parts = [part.strip() for part in text.split(",")]
    if not all(part.isdecimal() and int(part) > 0 for part in parts):
        raise RecipeError(
            f"--budgets {text!r}: write whole numbers of at least 1 with commas between them, such as 1,3,9,18"
        )
    return [int(part) for part in parts]
