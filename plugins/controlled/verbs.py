"""The verb that builds controlled test sets. Only the command line's files print."""

from collections import Counter
from pathlib import Path
from typing import Annotated

import typer

from ...cli import completion
from ...cli.door import Verb
from ...cli.estimate import print_asked
from ...cli.inputs import overrides_option
from ...cli.progress import watched
from ...cli.terminal import say
from .recipe import ControlledRecipe, load_controlled

EXAMPLE = "Example: evenhand judges controlled recipes/controlled/sample.yaml --dry-run"


def build_controlled(
    recipe: Annotated[
        Path,
        typer.Argument(
            metavar="RECIPE",
            help="What to build, for example recipes/controlled/sample.yaml.",
            autocompletion=completion.recipes,
        ),
    ],
    set_: Annotated[
        list[str] | None,
        overrides_option("Change a key: --set input=articles.jsonl. Repeatable."),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show how many texts a model would write, and at what price; do nothing.")
    ] = False,
) -> None:
    """Make summaries of known coverage and faithfulness from annotated articles, for judges benchmark."""
    loaded = load_controlled(recipe, set_ or [])
    if dry_run:
        _show_expected(loaded)
        return
    from .build import MANIFEST
    from .build import build_controlled as build

    with watched("judges controlled", loaded.output):
        built = build(loaded)
    n_summaries = sum(len(article_set.summaries) for article_set in built.sets)
    say(f"{built.path}: {len(built.sets)} of {built.n_articles} articles, {n_summaries} of {built.n_planned} summaries")
    for row in built.left_out:
        say(f"left out: {row.count} {row.what} ({row.side}): {row.reason}")
    say(f"what it was made with: {loaded.output / MANIFEST}")
    say(f"next: evenhand judges benchmark {built.path} --judges RECIPE")


def _show_expected(loaded: ControlledRecipe) -> None:
    from ...config.model import LanguageModel
    from .build import read_input
    from .expected import expected_asks, expected_tasks
    from .points import without_opposite

    articles = read_input(loaded)
    expected = expected_tasks(loaded, articles)
    for step, tasks in expected.items():
        for side, count in Counter(task.side for task in tasks).items():
            say(f"{step:12} {side:10} {count:8,} texts")
    if loaded.backend.server is not None:
        print_asked("texts", LanguageModel(loaded.model, loaded.backend), expected_asks(loaded, expected))
        say("- prompts quote texts that are not written yet: each counts as long as it may be")
    for side, count in without_opposite(articles).items():
        say(f"{count} articles ({side}) have no opposite points, so no summary of theirs will have any")
    say(f"{len(articles)} articles; a text that breaks its form is asked for at most {loaded.attempts} times")
    say(f"output: {loaded.output}")


BUILD_CONTROLLED = Verb(build_controlled, epilog=EXAMPLE, recipe=ControlledRecipe, former="build-controlled")
