"""Ways to choose pairs, the core's and those of packages, as far as a recipe has to know of them."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from ..doors import Door


@dataclass(frozen=True)
class PairRules:
    """What a recipe has to know of a way to choose pairs."""

    # most pairs of a request, of so many candidates and so many draws
    most_pairs: Callable[[int, int], int]
    # the judge that compares summaries in place of the reward, in words: "an equal-coverage judge"; "" where the reward does
    judge: str = ""
    # what of a recipe (`config.Recipe`) does not go with it
    mistakes: Callable[[Any], Iterable[str]] = lambda recipe: ()


def _every_pair(n_candidates: int, n_draws: int) -> int:
    return n_candidates * (n_candidates - 1) // 2


# ways of the core, which all go by the reward
CORE = {
    "all": PairRules(_every_pair),
    "best_k": PairRules(_every_pair),
    "top_bottom": PairRules(lambda n_candidates, n_draws: int(n_candidates > 1)),
}
# mode -> its rules; `rerank.pair_modes` has what makes the pairs of a package's way
PAIR_RULES: Door[PairRules] = Door(
    "pairs",
    "way to choose pairs",
    lambda thing: isinstance(getattr(thing, "rules", None), PairRules),
    CORE,
    lambda thing: thing.rules,
)
