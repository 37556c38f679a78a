"""How many test sets a report needs so that anything can be clear."""

from collections.abc import Collection

from ..config import Recipe
from ..records import SummaryRequest
from ..resampling import few_for_headline
from ..runfolder.phases import BASE, open_phase


def few_sets(recipe: Recipe, requests: Collection[SummaryRequest]) -> str:
    """What to know of so few test sets, as the report will say it, and how many its corrected tests need; "" of enough.

    Args:
        recipe: checked by itself.
        requests: of the test sets.
    """
    n = len({request.document_set.id for request in requests})
    if not n or (not recipe.rounds and open_phase(recipe, BASE).n_candidates == 1):
        # nothing is compared
        return ""
    level = recipe.evaluation.level
    judges, further = _headline(recipe)
    is_alone = not further and len({request.side for request in requests}) == 1 and not recipe.rounds
    return few_for_headline(n, level, len(judges), is_alone=is_alone)


def _headline(recipe: Recipe) -> tuple[list[str], list[str]]:
    """The judges that the headline goes by, and all others of the report: as `evaluation.systems.roles` has them."""
    trained_on = {*recipe.reward.judges, recipe.pairs.judge}
    directed = [name for name in recipe.evaluation.judges if recipe.judges[name].better]
    judges = [name for name in directed if name not in trained_on] or directed
    everyone = dict.fromkeys((*recipe.evaluation.judges, *recipe.reward.judges))
    return judges, [name for name in everyone if name not in judges]
