"""Fair selection."""

from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.errors import DataError
from evenhand.fairness.opinion import (
    Objective,
    ObjectivePlan,
    cluster_units,
    select,
    select_batch,
    select_fair,
    text_similarity,
)

TEXTS = [
    "Cats chase mice", "Cats chase birds", "Mice fear cats", "Dogs chase cats",
    "Trams need rails", "Rails need steel", "Trams carry steel", "Steel costs money",
]  # fmt: skip
GROUPS = list("aaabbbbb")


def objective_on(n, seed, length, coverage, grid=None):
    draw = np.random.default_rng(seed)
    half = np.triu(draw.integers(0, grid, (n, n)) / grid if grid else draw.random((n, n)), k=1)
    table = half + half.T + np.eye(n)
    return Objective(table, cluster_units(table, min(3, n)), length, ObjectivePlan(coverage))


def plain_greedy(objective, groups, quotas):
    """By definition: every candidate evaluated at every step."""
    chosen, left = [], Counter(quotas)
    while sum(left.values()):
        open_units = [i for i in range(objective.n_units) if i not in chosen and left[groups[i]] > 0]
        values = [objective.value([*chosen, i]).objective for i in open_units]
        unit = next(i for i, value in zip(open_units, values, strict=True) if value >= max(values) - 1e-12)
        chosen.append(unit)
        left[groups[unit]] -= 1
    return tuple(chosen)


@given(
    seed=st.integers(0, 1000),
    coverage=st.sampled_from(["per_unit", "global"]),
    grid=st.sampled_from([None, 2, 4]),
    quotas=st.fixed_dictionaries({"a": st.integers(0, 4), "b": st.integers(0, 4), "c": st.integers(0, 4)}),
)
@settings(max_examples=60)
def test_lazy_greedy_chooses_as_plain_greedy(seed, coverage, grid, quotas):
    objective = objective_on(12, seed, sum(quotas.values()), coverage, grid)
    groups = list("abcabcabcabc")
    found = select(objective, groups, quotas)
    assert found.selected == plain_greedy(objective, groups, quotas)
    assert found.by_group == quotas
    assert found.value == objective.value(found.selected)


def test_gains_that_only_rounding_tells_apart_are_tied():
    # units 0 and 1 have the same similarities in another order, whose sums differ by one bit
    table = np.eye(7)
    table[0, 2:] = table[2:, 0] = [0.1, 0.2, 0.3, 0.4, 0.6]
    table[1, 2:] = table[2:, 1] = [0.1, 0.3, 0.4, 0.2, 0.6]
    objective = Objective(table, [list(range(7))], 1, ObjectivePlan("global", lambda_coverage=0.0))
    first, second = objective.gains(objective.start(), np.arange(2))
    assert first < second
    assert select(objective, ["a"] * 7, {"a": 1}).selected == (0,)


def test_a_unit_far_down_the_queue_wins_when_all_before_it_have_lost_their_gain():
    # 200 copies of one text and 100 of another; diversity of a copy: sqrt(200/300) first, sqrt(400/300) - sqrt(200/300) = 0.34
    # second, and sqrt(100/300) = 0.58 for the other text
    table = np.zeros((300, 300))
    table[:200, :200] = table[200:, 200:] = 1.0
    objective = Objective(table, [range(200), range(200, 300)], 2, ObjectivePlan(lambda_coverage=0.0))
    assert select(objective, ["a"] * 300, {"a": 2}).selected == (0, 200)


class Counting(Objective):
    """Counts the gains that are evaluated."""

    evaluated = 0

    def gains(self, chosen, candidates):
        self.evaluated += len(candidates)
        return super().gains(chosen, candidates)


@pytest.mark.parametrize("coverage", ["per_unit", "global"])
def test_units_whose_gain_cannot_win_are_not_evaluated_again(coverage):
    n, quotas, groups = 600, {"a": 12, "b": 3}, ["ab"[i % 2] for i in range(600)]
    model = objective_on(n, 3, 15, coverage)
    # the default alpha of a long source, and clusters as a source of that length has them
    objective = Counting(model.similarity, cluster_units(model.similarity), 15, model.plan)
    chosen, left, expected = objective.start(), Counter(quotas), []
    while sum(left.values()):
        # every open unit is evaluated
        units = np.array([i for i in range(n) if i not in expected and left[groups[i]] > 0])
        gains = Objective.gains(objective, chosen, units)
        expected.append(int(units[gains >= gains.max() - 1e-12][0]))
        objective.add(chosen, expected[-1])
        left[groups[expected[-1]]] -= 1
    assert select(objective, groups, quotas).selected == tuple(expected)
    # plain greedy evaluates at least 600 + 599 + 598 + 12 * 290
    assert objective.evaluated < 4000


@given(st.integers(0, 300))
@settings(max_examples=25)
def test_greedy_reaches_half_of_the_best(seed):
    objective = objective_on(8, seed, 4, "per_unit")
    groups = list("aaaabbbb")
    fair = [s for s in combinations(range(8), 4) if sum(i < 4 for i in s) == 2]
    best = max(objective.value(s).objective for s in fair)
    assert best / 2 <= select(objective, groups, {"a": 2, "b": 2}).value.objective <= best + 1e-9


def test_a_summary_lists_its_units_in_source_order():
    found = select_fair(TEXTS, GROUPS, {"a": 2, "b": 2})
    assert found.in_source_order == tuple(sorted(found.selected))
    assert found.by_group == {"a": 2, "b": 2}


@pytest.mark.parametrize(("notion", "expected"), [("equal", {"a": 2, "b": 2}), ("proportional", {"a": 2, "b": 2})])
def test_quotas_are_made_by_a_notion(notion, expected):
    # proportional: 4 * 3/8 = 1.5 and 2.5: floors 1 and 2, equal remainders, the earlier group gets the last
    assert select_fair(TEXTS, GROUPS, notion, 4).by_group == expected


def test_without_quotas_the_objective_alone_decides_and_groups_are_still_counted():
    free = select_fair(TEXTS, GROUPS, length=4)
    one_group = select_fair(TEXTS, length=4)
    assert free.selected == one_group.selected
    assert sum(free.by_group.values()) == 4 and list(free.by_group) == ["a", "b"]
    assert one_group.by_group == {"all": 4}


def test_a_batch_is_its_selections_one_by_one():
    batch = [{"a": 0, "b": 4}, {"a": 2, "b": 2}, {"a": 3, "b": 1}]
    assert list(select_batch(TEXTS, GROUPS, batch)) == [select_fair(TEXTS, GROUPS, quotas) for quotas in batch]


def test_a_given_similarity_takes_the_place_of_tfidf():
    assert select_fair(TEXTS, GROUPS, "equal", 4, similarity=text_similarity(TEXTS)) == select_fair(
        TEXTS, GROUPS, "equal", 4
    )
    with pytest.raises(DataError, match="8 units, but similarities of 2"):
        select_fair(TEXTS, GROUPS, "equal", 4, similarity=np.eye(2))


def test_repeated_texts_are_different_units():
    assert select_fair(["Cats", "Cats", "Dogs"], length=3).in_source_order == (0, 1, 2)


def test_an_empty_summary_is_possible():
    assert select_fair(TEXTS, GROUPS, {}).selected == ()


def test_what_does_not_fit_together_is_refused():
    with pytest.raises(DataError, match="a summary needs its length"):
        select_fair(TEXTS, GROUPS, "equal")
    with pytest.raises(DataError, match="quotas sum to 2, the summary has 3 units"):
        select_fair(TEXTS, GROUPS, {"a": 2}, 3)
    with pytest.raises(DataError, match="group 'z' is not among"):
        select_fair(TEXTS, GROUPS, {"z": 2})
    with pytest.raises(DataError, match="summary of 9 units cannot be taken from groups of sizes"):
        select_fair(TEXTS, length=9)
    with pytest.raises(DataError, match="8 units, but 2 groups"):
        select_fair(TEXTS, ["a", "b"], {"a": 1})


def test_nothing_is_selected_from_nothing():
    found = select_fair([], length=0)
    assert (found.selected, found.by_group, found.value.objective) == ((), {}, 0.0)
    with pytest.raises(DataError, match=r"summary of 3 units cannot be taken from groups of sizes \{\}"):
        select_fair([], length=3)
