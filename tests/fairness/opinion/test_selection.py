"""Quotas, fair selection, and the invented posts."""

from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from group_samples import read_posts, value_of
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.errors import DataError
from evenhand.fairness.encoding import text_similarity
from evenhand.fairness.groups.quotas import group_quotas
from evenhand.plugins.opinions.measures.correlation import pearson
from evenhand.plugins.opinions.measures.exposure import exposure_extractive
from evenhand.plugins.opinions.measures.interaction import opinion_graph
from evenhand.plugins.opinions.measures.objective import Objective, ObjectivePlan, cluster_units
from evenhand.plugins.opinions.measures.selection import (
    biased_batch,
    check_quotas,
    select,
    select_batch,
    select_fair,
)

SIZES = st.dictionaries(st.sampled_from("abcde"), st.integers(0, 30), min_size=1)
NOTIONS = st.sampled_from(["equal", "proportional"])


@given(SIZES, NOTIONS, st.data())
def test_quotas_fill_the_summary_and_ask_no_group_for_more_than_it_has(sizes, notion, data):
    length = data.draw(st.integers(0, sum(sizes.values())))
    found = group_quotas(sizes, length, notion)
    assert list(found) == list(sizes)
    assert sum(found.values()) == length
    assert all(0 <= found[group] <= size for group, size in sizes.items())
    assert check_quotas(found, sizes, length) == found


@given(SIZES, st.data())
def test_proportional_quotas_are_the_share_rounded_up_or_down(sizes, data):
    total = sum(sizes.values())
    length = data.draw(st.integers(0, total))
    for group, quota in group_quotas(sizes, length, "proportional").items():
        # whole numbers: |quota - length * size / total| < 1
        assert abs(quota * total - length * sizes[group]) < max(total, 1)


@given(SIZES, st.data())
def test_equal_quotas_differ_by_at_most_one_among_groups_with_units_left(sizes, data):
    length = data.draw(st.integers(0, sum(sizes.values())))
    found = group_quotas(sizes, length, "equal")
    open_groups = [quota for group, quota in found.items() if quota < sizes[group]]
    assert not open_groups or max(found.values()) - min(open_groups) <= 1


def test_the_surplus_of_a_small_group_goes_where_most_is_owed():
    # shares 10/3 each: 1 from a; floors 3 and 3; three left: owed 1/3 each to b and c, b first, then c, then b again
    assert group_quotas({"a": 1, "b": 9, "c": 9}, 10, "equal") == {"a": 1, "b": 5, "c": 4}


def test_impossible_requests_are_refused():
    with pytest.raises(DataError, match=r"3 units cannot be taken from groups of sizes \{'a': 2\}"):
        group_quotas({"a": 2}, 3, "equal")
    with pytest.raises(DataError, match="cannot be taken"):
        group_quotas({"a": 2, "b": -1}, 1, "equal")
    with pytest.raises(DataError, match="cannot be taken"):
        group_quotas({"a": 2}, -1, "equal")
    with pytest.raises(DataError, match="notion 'fair' is not known"):
        group_quotas({"a": 2}, 1, "fair")


def test_all_that_is_wrong_with_custom_quotas_is_told_together():
    with pytest.raises(DataError) as caught:
        check_quotas({"a": 3, "z": 1, "b": -1}, {"a": 2, "b": 5}, 4)
    assert str(caught.value) == (
        "quotas cannot be met: group 'z' is not among ['a', 'b']; group 'a' has 2 units, quota 3; "
        "group 'b' has 5 units, quota -1; quotas sum to 3, the summary has 4 units"
    )


def test_quotas_are_whole_numbers():
    with pytest.raises(DataError, match=r"group 'a' has 2 units, quota 1\.5"):
        check_quotas({"a": 1.5, "b": 0.5}, {"a": 2, "b": 5}, 2)


def test_groups_without_a_quota_give_nothing():
    assert check_quotas({"b": 2}, {"a": 2, "b": 5}, 2) == {"a": 0, "b": 2}


@given(st.integers(0, 20), st.integers(1, 5), st.integers(0, 10))
def test_every_summary_of_a_batch_has_the_length_and_the_fixed_quota(length, step, fixed):
    if fixed > length:
        with pytest.raises(DataError, match="fixed quotas from 0 to the length"):
            biased_batch(length, "rep", "dem", step, {"neutral": fixed})
        return
    batch = biased_batch(length, "rep", "dem", step, {"neutral": fixed})
    assert [quotas["rep"] for quotas in batch] == list(range(0, length - fixed + 1, step))
    assert all(sum(quotas.values()) == length and quotas["neutral"] == fixed for quotas in batch)


@pytest.mark.parametrize("arguments", [(5, "a", "b", 0), (5, "a", "b", 1, {"c": -1})])
def test_batches_out_of_range_are_refused(arguments):
    with pytest.raises(DataError, match="a batch needs step >= 1"):
        biased_batch(*arguments)


@pytest.mark.parametrize("arguments", [(5, "a", "a", 1), (5, "a", "b", 1, {"b": 1})])
def test_a_group_is_named_once(arguments):
    with pytest.raises(DataError, match="each group is named once"):
        biased_batch(*arguments)


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
        values = [value_of(objective, [*chosen, i]) for i in open_units]
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
    assert Counter(groups[unit] for unit in found.selected) == +Counter(quotas)


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
    best = max(value_of(objective, s) for s in fair)
    selected = select(objective, groups, {"a": 2, "b": 2}).selected
    assert best / 2 <= value_of(objective, selected) <= best + 1e-9


def taken(selection):
    """Group -> units selected."""
    return Counter(GROUPS[unit] for unit in selection.selected)


def test_a_summary_lists_its_units_in_source_order():
    found = select_fair(TEXTS, GROUPS, {"a": 2, "b": 2})
    assert found.in_source_order == tuple(sorted(found.selected))
    assert taken(found) == {"a": 2, "b": 2}


@pytest.mark.parametrize(("notion", "expected"), [("equal", {"a": 2, "b": 2}), ("proportional", {"a": 2, "b": 2})])
def test_quotas_are_made_by_a_notion(notion, expected):
    # proportional: 4 * 3/8 = 1.5 and 2.5: floors 1 and 2, equal remainders, the earlier group gets the last
    assert taken(select_fair(TEXTS, GROUPS, notion, 4)) == expected


def test_without_quotas_the_objective_alone_decides():
    free = select_fair(TEXTS, GROUPS, length=4)
    one_group = select_fair(TEXTS, length=4)
    assert free.selected == one_group.selected
    assert len(free.selected) == 4


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
    assert found.selected == ()
    with pytest.raises(DataError, match=r"summary of 3 units cannot be taken from groups of sizes \{\}"):
        select_fair([], length=3)


def test_posts_are_those_that_their_reader_says():
    sample = read_posts()
    assert Counter(unit.group for unit in sample) == {"for": 14, "against": 14, "neutral": 8}
    assert Counter(group for group, _ in {(unit.group, unit.opinion) for unit in sample}) == {
        "for": 3,
        "against": 3,
        "neutral": 1,
    }
    assert len({unit.text for unit in sample}) == 36


def test_a_biased_batch_is_scored_in_the_order_of_its_bias():
    pytest.importorskip("networkx")
    sample = read_posts()
    texts, names = [unit.text for unit in sample], list(dict.fromkeys(unit.opinion for unit in sample))
    batch = biased_batch(12, "for", "against", 2, {"neutral": 2})
    graph = opinion_graph(texts)
    found, known = [], []
    for quotas, selection in zip(batch, select_batch(texts, [unit.group for unit in sample], batch), strict=True):
        groups = Counter(sample[unit].group for unit in selection.selected)
        assert groups == +Counter({"for": quotas["for"], "against": quotas["against"], "neutral": 2})
        summary = [texts[i] for i in selection.in_source_order]
        found.append(graph.bias(summary).score)
        known.append(exposure_extractive(texts, [names.index(u.opinion) for u in sample], len(names), summary).score)
    assert all(score is not None for score in found)
    # 0/10, 2/8, 4/6, 6/4, 8/2, 10/0: the mixed ones are the fairest, the one-sided ones the least fair
    assert max(found[2:4]) < min(found[1], found[4]) <= max(found[1], found[4]) < min(found[0], found[5])
    assert pearson(found, known).r > 0.9
