"""Families of verbs that the core begins and plug-ins add to: `evenhand judges` and `evenhand run`."""

from .verbs import Verbs

JUDGES = Verbs(
    help="What judges are worth: compare them with known truth, train better ones.\n\n"
    "Do so before they reward, report or gate. "
    "[bold]evenhand judges benchmark sample[/bold]  compares some judges on summaries of known quality.\n\n"
    "Those of a recipe, and what leads them astray:  [bold]evenhand judges audit sample --judges quickstart[/bold]",
    epilog="Judging a run's candidates is a stage of its own: evenhand judge RECIPE",
    no_args_is_help=True,
    rich_markup_mode="rich",
)
RUN = Verbs(
    help="More to do with a recipe or its run: costs, clusters, shards, pairs, cards, exports.\n\n"
    "Before a run:  [bold]evenhand run estimate quickstart[/bold]  says what it needs.\n\n"
    "After it:  [bold]evenhand run pairs runs/quickstart[/bold]  shows what was learnt from, and "
    "[bold]evenhand run card runs/quickstart[/bold]  writes a model card.",
    epilog="The run itself: evenhand loop RECIPE",
    no_args_is_help=True,
    rich_markup_mode="rich",
)
