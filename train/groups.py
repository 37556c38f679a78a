"""Preference pairs of one prompt as a group: the prompt once, its candidates once, and which pairs they form.

Nine candidates form up to 36 pairs. All that a pair's loss needs of a summary is its log-probability, so a group is all that
shared-prefix DPO needs to see.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, fields
from itertools import pairwise
from typing import Any

from ..errors import RecipeError
from ..generate.prefixes import LEAST_SHARED, n_common
from .examples import TokenPair


@dataclass
class TokenGroup:
    """One prompt with the summaries and pairs that share it. Summaries of the same tokens are one candidate."""

    prompt_ids: list[int]
    # tokens of each candidate, end token included
    candidate_ids: list[list[int]] = field(default_factory=list)
    # of each pair: place of its chosen and of its rejected candidate, and its weight in the loss
    chosen: list[int] = field(default_factory=list)
    rejected: list[int] = field(default_factory=list)
    weights: list[float] = field(default_factory=list)
    # of each pair, for FairPO alone: weights and powers of the chosen summary's slots, then of the rejected one's
    slots: list[list[list[float]]] = field(default_factory=list)

    @property
    def length(self) -> int:
        """Tokens of the packed sequence."""
        return packed_length(self.prompt_ids, self.candidate_ids)

    @property
    def longest(self) -> int:
        """Tokens of the prompt and the longest candidate alone: what no split can bring down."""
        return len(self.prompt_ids) + max(len(ids) - 1 for ids in self.candidate_ids)

    @property
    def columns(self) -> dict[str, Any]:
        """A training row; without slots where there are none."""
        return {name: value for name, value in asdict(self).items() if name != "slots" or value}


COLUMNS = tuple(column.name for column in fields(TokenGroup))


def packed_length(prompt_ids: Sequence[int], candidate_ids: Sequence[Sequence[int]]) -> int:
    """Tokens of a packed sequence: a candidate's last token predicts nothing and stays out of it."""
    return len(prompt_ids) + sum(len(ids) - 1 for ids in candidate_ids)


def build_groups(rows: Sequence[TokenPair], *, slots: bool = False) -> list[TokenGroup]:
    """The groups of these pairs, in order of their first pair; every pair is in exactly one.

    Args:
        rows: with `slots`, each says what is fair.
        slots: whether the groups take along what FairPO weighs pairs by.
    """
    groups: dict[tuple[int, ...], TokenGroup] = {}
    places: dict[tuple[int, ...], dict[tuple[int, ...], int]] = {}
    for row in rows:
        key = tuple(row.prompt_ids)
        group = groups.setdefault(key, TokenGroup(row.prompt_ids))
        for ids, side in ((row.chosen_ids, group.chosen), (row.rejected_ids, group.rejected)):
            place = places.setdefault(key, {}).setdefault(tuple(ids), len(group.candidate_ids))
            if place == len(group.candidate_ids):
                group.candidate_ids.append(ids)
            side.append(place)
        group.weights.append(row.weight)
        if slots:
            fairness = row.fairness
            assert fairness is not None, "checked before"
            sides = (fairness.weight_chosen, fairness.pow_chosen, fairness.weight_rejected, fairness.pow_rejected)
            group.slots.append([list(side) for side in sides])
    return list(groups.values())


def families(prompts: Sequence[Sequence[int]]) -> list[tuple[int, int]]:
    """Of each prompt the number of its family, and the tokens that all prompts of the family begin with alike.

    Prompts that follow each other in the order of their tokens are of one family where they share at least half of the longer
    one, and LEAST_SHARED tokens: both sides of a document set, where the template has the documents first.
    """
    order = sorted(range(len(prompts)), key=lambda place: list(prompts[place]))
    numbers: dict[int, int] = {order[0]: 0}
    shared = [len(prompts[order[0]])]
    for first, second in pairwise(order):
        n_alike = n_common(prompts[first], prompts[second])
        if n_alike >= max(LEAST_SHARED, len(prompts[first]) / 2, len(prompts[second]) / 2):
            shared[-1] = min(shared[-1], n_alike)
        else:
            shared.append(len(prompts[second]))
        numbers[second] = len(shared) - 1
    return [(numbers[place], shared[numbers[place]]) for place in range(len(prompts))]


def refuse_unsplittable(groups: Sequence[TokenGroup], most_tokens: int) -> None:
    """Refuse groups of which not even one candidate fits into a pass.

    Raises:
        RecipeError: says what would fit.
    """
    longest = max(group.longest for group in groups)
    if longest > most_tokens:
        raise RecipeError(
            f"key 'train.max_tokens_per_pass': {most_tokens}, but a prompt with one candidate has {longest} tokens; write "
            f"{longest} or more, or shorten the prompts"
        )
