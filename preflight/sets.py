"""How many test sets a report needs so that anything can be clear."""

from collections.abc import Collection

from ..config import Recipe
from ..records import SummaryRequest
from ..resampling import HEADLINE_SHARE, sets_needed, too_few
from ..runfolder.phases import BASE, open_phase


def few_sets(recipe: Recipe, requests: Collection[SummaryRequest]) -> str:
    """What to know of so few test sets, as the report will say it, and how many its corrected tests need; "" of enough.

    Args:
        recipe: checked by itself.
        requests: of the test sets.
    """
    n = len({each.document_set.id for each in requests})
    if not n or (not recipe.rounds and open_phase(recipe, BASE).n_candidates == 1):
        # nothing is compared
        return ""
    level = recipe.evaluation.level
    few = too_few(n, level)
    judges, others = _headline(recipe)
    if not judges:
        return few
    sides = {each.side for each in requests}
    is_alone = not others and len(sides) == 1 and not recipe.rounds
    needed = sets_needed((1 - level) * (1.0 if is_alone else HEADLINE_SHARE) / len(judges))
    if n >= needed:
        return ""
    also = "" if is_alone else " and for the other questions of the page"
    tests = "the test" if len(judges) == 1 else f"{len(judges)} tests"
    return (
        f"{few or f'{n} document sets.'} Corrected for {tests} of the headline{also}, a difference by itself can be clear "
        f"from {needed} on."
    )


def _headline(recipe: Recipe) -> tuple[list[str], list[str]]:
    """The judges that the headline goes by, and all others of the report: as `evaluation.systems.roles` has them."""
    trained_on = {*recipe.reward.judges, recipe.pairs.judge}
    directed = [name for name in recipe.evaluation.judges if recipe.judges[name].better]
    judges = [name for name in directed if name not in trained_on] or directed
    everyone = dict.fromkeys((*recipe.evaluation.judges, *recipe.reward.judges))
    return judges, [name for name in everyone if name not in judges]
