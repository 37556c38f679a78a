from dataclasses import replace

import numpy as np
import pytest
from audit_inputs import ATTRIBUTE

from evenhand.config.fairness import MatcherSection
from evenhand.evaluation.audit.conclusions import conclude
from evenhand.evaluation.audit.contents import (
    BUR,
    OPINION_GRAPH,
    SHARE_IN_SUMMARIES,
    UER,
    WORDS_COMPARED,
    Measure,
    Quantity,
)
from evenhand.evaluation.audit.figures import Figures, Measured
from evenhand.evaluation.audit.opinions import Opinions
from evenhand.evaluation.audit.plan import AuditPlan
from evenhand.evaluation.audit.shares import ValueShares
from evenhand.evaluation.audit.word_lists import ListedWords
from evenhand.fairness.demographic.word_lists import WordLists
from evenhand.fairness.groups.coverage import over
from evenhand.judges.measures import open_matcher
from evenhand.resampling import Bootstrap

VALUES = ("left", "right")
SHARES = ValueShares(open_matcher(MatcherSection(kind="words")), ATTRIBUTE, VALUES, "drop_zero", 0.8, "ratio")
OPINIONS, WORDS = Opinions(), ListedWords(WordLists())
LEAST = 5
PLAN = AuditPlan(bootstrap=Bootstrap(level=0.95), least_group=LEAST)
# what is expected of every quantity
EXPECTED = 0.5


def gaps(*means, n=20, spread=0.02, seed=0):
    """Gaps of n sets with exactly these means and this standard deviation, a column each."""
    noise = np.random.default_rng(seed).normal(size=(n, len(means)))
    noise -= noise.mean(axis=0)
    return means + spread * noise / noise.std(axis=0, ddof=1)


def planted(system, table, *, family=SHARES, kind=SHARE_IN_SUMMARIES, names=VALUES, null="a null"):
    """What a family would have found, by the gaps of each set to what is expected; nan where a set has none."""
    known = ~np.isnan(table)
    width = table.shape[1]
    has_answer = known.any(axis=1)
    figures = Figures(
        quantities=tuple(Quantity(Measure(kind, family.by), name) for name in names),
        columns=np.hstack([known, np.nan_to_num(table)]),
        reduce=lambda sums: EXPECTED + over(sums[..., width:], sums[..., :width]),
        expect=lambda sums: EXPECTED + 0 * over(sums[..., :width], sums[..., :width]),
        nulls=(null,) * len(names),
        rests_on=known,
        unfairness=np.full(len(table), np.nan),
        left_out=tuple(None if answered else "nothing" for answered in has_answer),
    )
    return Measured(family, system, (), figures)


def chances(measured):
    systems = list(dict.fromkeys(each.system for each in measured))
    return conclude(measured, systems, PLAN).chances


def vote(mine, base, **keys):
    measured = [planted("base", base, **keys), planted("mine", mine, **keys)]
    (found,) = conclude(measured, ["base", "mine"], PLAN).votes
    return found


@pytest.mark.parametrize(
    ("mine", "base", "verdict"),
    [
        (0.02, 0.10, "fairer"),
        (-0.02, 0.10, "fairer"),
        (0.10, 0.02, "less fair"),
        (-0.10, 0.02, "less fair"),
        # as far on the other side
        (-0.10, 0.10, "differs"),
        (0.10, 0.10, "no clear difference"),
        (0.0, 0.0, "no clear difference"),
    ],
)
def test_the_system_nearer_to_chance_is_fairer(mine, base, verdict):
    found = vote(gaps(mine, -mine, seed=1), gaps(base, -base, seed=2))
    assert found.verdict == verdict
    sign = 1 if found.value == "left" else -1
    assert (found.gap, found.reference_gap) == pytest.approx((sign * mine, sign * base))
    assert found.difference == pytest.approx(sign * (mine - base))
    assert found.low <= found.difference <= found.high
    assert (found.system, found.reference, found.n) == ("mine", "base", 20)


def test_a_difference_that_chance_explains_is_not_clear():
    found = vote(gaps(0.02, -0.02, spread=0.3, seed=1), gaps(0.10, -0.10, spread=0.3, seed=2))
    assert (found.verdict, found.low < 0 < found.high) == ("no clear difference", True)


@pytest.mark.parametrize(
    ("n", "verdict"),
    [(LEAST - 1, "too few sets"), (LEAST, "no clear difference"), (6, "no clear difference"), (7, "fairer")],
)
def test_fewer_sets_than_asked_for_give_no_verdict(n, verdict):
    # so little noise that t would be sure of it; equal signs of all sets are not, and two systems share the level
    found = vote(gaps(0.02, -0.02, n=n, spread=1e-4, seed=1), gaps(0.10, -0.10, n=n, spread=1e-4, seed=2))
    assert (found.n, found.verdict, found.adjusted) == (n, verdict, 2 * 2.0 ** (1 - n))


def test_sets_scored_under_one_system_only_are_left_out_of_the_pair():
    mine, base = gaps(0.02, -0.02, seed=1), gaps(0.10, -0.10, seed=2)
    # there the system is far off, but the reference has no summary
    mine[:2], base[:2] = 0.9, np.nan
    found = vote(mine, base)
    assert (found.n, found.verdict) == (18, "fairer")
    assert abs(found.gap) < 0.05


def test_values_that_contradict_each_other_make_no_system_fairer():
    # three values, as the gaps of two are one
    mine, base = gaps(0.02, 0.10, -0.12, seed=1), gaps(0.10, 0.02, -0.12, seed=2)
    names = ("left", "right", "third")
    assert vote(mine, base, names=names).verdict == "differs"
    # without the second value the same systems differ in fairness
    assert vote(mine[:, [0, 2]], base[:, [0, 2]], names=("left", "third")).verdict == "fairer"


def test_a_vote_speaks_of_a_value_that_differs():
    # gaps of opposite sign and equal size, clear at the left; at the right in too few sets, though its p is smaller
    mine, base = gaps(-0.1, -0.1, spread=0.1, seed=1), gaps(0.1, 0.1, spread=0.1, seed=2)
    mine[:, 1], base[:, 1] = gaps(-0.1, spread=1e-6)[:, 0], gaps(0.1, spread=1e-6, seed=1)[:, 0]
    mine[LEAST - 1 :, 1] = base[LEAST - 1 :, 1] = np.nan
    found = vote(mine, base)
    assert (found.verdict, found.value, found.n) == ("differs", "left", 20)


def test_every_system_but_the_first_is_voted_on():
    systems = {"base": 0.1, "near": 0.0, "far": 0.3}
    measured = [planted(name, gaps(mean, -mean, seed=seed)) for seed, (name, mean) in enumerate(systems.items())]
    found = conclude(measured, list(systems), PLAN).votes
    assert [(each.system, each.reference, each.verdict) for each in found] == [
        ("near", "base", "fairer"),
        ("far", "base", "less fair"),
    ]


def test_a_family_that_knows_no_chance_level_has_neither_levels_nor_a_vote():
    measured = [planted(name, gaps(mean, -mean), null="") for name, mean in (("base", 0.1), ("mine", 0.0))]
    assert conclude(measured, ["base", "mine"], PLAN).votes == ()
    assert chances(measured[1:]) == {}
    # nor by measures that do not vote, nor where one of the two knows none, or they share no set
    published = [planted(name, gaps(mean, -mean), kind=UER) for name, mean in (("base", 0.1), ("mine", 0.0))]
    assert conclude(published, ["base", "mine"], PLAN).votes == ()
    alike = [planted("base", gaps(0.1, -0.1)), measured[1]]
    for systems in (["base", "mine"], ["mine", "base"]):
        assert conclude(alike, systems, PLAN).votes == ()
    half = np.repeat([[True], [False]], 10, axis=0)
    apart = [planted(name, np.where(kept, gaps(0.1, -0.1), np.nan)) for name, kept in (("base", half), ("mine", ~half))]
    assert conclude(apart, ["base", "mine"], PLAN).votes == ()


def test_votes_are_corrected_for_their_number():
    mine, base = gaps(0.02, -0.02, spread=0.05, seed=1), gaps(0.055, -0.055, spread=0.05, seed=2)
    alone = vote(mine, base)
    assert (alone.p_value > 0.01, alone.verdict) == (True, "fairer")
    many = ["base", "mine", *(f"other {k}" for k in range(9))]
    tables = [base, mine, *(base + gaps(0.0, 0.0, seed=k + 3) for k in range(9))]
    found = conclude([planted(name, table) for name, table in zip(many, tables, strict=True)], many, PLAN).votes
    assert found[0].p_value == pytest.approx(alone.p_value)
    assert found[0].adjusted > 0.05
    assert {each.verdict for each in found} == {"no clear difference"}


def test_where_few_sets_agree_a_vote_is_no_surer_than_who_is_named():
    # every set says the same but for a hair, of which t makes certainty: five equal signs are chance in 2 of 32
    mine, base = (np.full((5, 2), [0.1, -0.1]) * size + np.arange(5)[:, None] * 1e-4 for size in (2.0, 1.0))
    found = vote(mine, base)
    assert (found.p_value, found.verdict) == (2 / 32, "no clear difference")
    assert vote(np.vstack([mine] * 2), np.vstack([base] * 2)).verdict == "less fair"


def test_below_five_sets_there_is_no_vote_however_few_are_asked_for():
    few = [planted(name, gaps(mean, -mean)[:4]) for name, mean in (("base", 0.1), ("mine", 0.0))]
    (found,) = conclude(few, ["base", "mine"], replace(PLAN, least_group=1)).votes
    assert found.verdict == "too few sets"


def test_who_is_named_is_corrected_over_all_systems():
    lean = gaps(0.02, -0.02, spread=0.06, seed=1)
    alone = chances([planted("mine", lean)])
    fair = [planted(f"other {k}", gaps(0.0, 0.0, spread=0.06, seed=k + 3)) for k in range(9)]
    beside = chances([planted("mine", lean), *fair])
    (key,) = (key for key in alone if key[2].value == "left" and key[2].kind == SHARE_IN_SUMMARIES)
    assert beside[key].p_value == alone[key].p_value
    assert beside[key].adjusted > 2 * alone[key].adjusted


def levels(*measured):
    found = chances(measured)
    return {(family, quantity.kind, quantity.value): each for (family, _, quantity), each in found.items()}


def test_a_level_is_the_number_less_what_is_expected():
    found = levels(planted("mine", gaps(0.1, -0.1)))
    left = found["value-shares", SHARE_IN_SUMMARIES, "left"]
    assert (left.null, left.expected, left.verdict) == ("a null", EXPECTED, "higher")
    # by the usual t interval, as the gap is a mean over sets: 2.093 is the 97.5 % point of 19 degrees of freedom
    reach = 2.093 * 0.02 / np.sqrt(20)
    assert (left.gap, left.low, left.high) == pytest.approx((0.1, 0.1 - reach, 0.1 + reach), rel=1e-3)
    assert found["value-shares", SHARE_IN_SUMMARIES, "right"].verdict == "lower"
    assert levels(planted("mine", gaps(0.0, 0.0)))["value-shares", SHARE_IN_SUMMARIES, "left"].verdict == (
        "no clear difference"
    )


def test_a_value_of_few_sets_has_a_level_and_no_verdict():
    table = gaps(0.1, -0.1, spread=1e-4)
    table[LEAST - 1 :, 1] = np.nan
    found = levels(planted("mine", table))
    assert found["value-shares", SHARE_IN_SUMMARIES, "left"].verdict == "higher"
    right = found["value-shares", SHARE_IN_SUMMARIES, "right"]
    assert (right.verdict, right.adjusted) == ("no clear difference", 2.0 ** (2 - LEAST))


def test_levels_are_corrected_over_all_gaps_of_the_system_that_name_somebody():
    # t of the first gap is 0.01 / (0.02 / sqrt(20)) = 2.24, so that p is near 0.0375; the others are 0
    alone = levels(planted("mine", gaps(0.01), names=("left",)))
    key = ("value-shares", SHARE_IN_SUMMARIES, "left")
    assert alone[key].p_value == pytest.approx(0.0375, abs=5e-3)
    assert (alone[key].adjusted, alone[key].verdict) == (alone[key].p_value, "higher")
    found = levels(planted("mine", gaps(0.01, 0.0, 0.0), names=(*VALUES, "third")))
    # the smallest of three
    assert found[key].adjusted == pytest.approx(3 * found[key].p_value)
    assert found[key].verdict == "no clear difference"
    # published measures are beside the point: they neither name anybody nor count
    score = planted("mine", gaps(0.0), family=OPINIONS, kind=OPINION_GRAPH, names=(None,))
    both = levels(planted("mine", gaps(0.01), names=("left",)), score)
    assert both[key].adjusted == alone[key].adjusted
    beside = both["opinions", OPINION_GRAPH, None]
    assert (beside.gap, beside.p_value, beside.adjusted, beside.verdict) == (pytest.approx(0), None, None, None)


def test_who_is_named_is_corrected_over_the_families_of_the_page():
    # p of the first gap is 0.0375, which shares alone would be named by; half of the level is theirs, but for a second family
    alone = planted("mine", gaps(0.01), names=("left",))
    key = ("value-shares", SHARE_IN_SUMMARIES, "left")
    lists = planted("mine", gaps(0.0), family=WORDS, kind=WORDS_COMPARED, names=("women",))
    beside = levels(alone, lists)[key]
    assert (levels(alone)[key].verdict, beside.verdict) == ("higher", "no clear difference")
    assert beside.adjusted == pytest.approx(2 * beside.p_value)
    # a family without a chance level, or that names nobody, does not count
    silent = planted("mine", gaps(0.0), family=WORDS, kind=WORDS_COMPARED, names=("women",), null="")
    assert levels(alone, silent)[key] == levels(alone)[key]
    # where both are clear, the second one is tested at the whole level
    clear = planted("mine", gaps(0.1), names=("left",))
    weak = planted("mine", gaps(0.01), family=WORDS, kind=WORDS_COMPARED, names=("women",))
    found = levels(clear, weak)["word-lists", WORDS_COMPARED, "women"]
    assert (found.verdict, found.adjusted) == ("higher", pytest.approx(found.p_value))


@pytest.mark.parametrize("rate", [0.0, 1.0])
def test_what_is_expected_is_uncertain_also_where_the_rate_is_the_same_in_all_sets(rate):
    # expected of 48 sets with a mean of 0.8: the truth lies in 19 of 20 intervals, not in half of them
    generator, n_trials, hits = np.random.default_rng(0), 400, 0
    for _ in range(n_trials):
        expected = generator.beta(8, 2, 48)
        made = planted("mine", np.full((48, 1), rate) - EXPECTED, kind=BUR, names=(None,))
        columns = np.hstack([made.figures.columns, expected[:, None]])
        figures = replace(
            made.figures,
            columns=columns,
            reduce=lambda sums: EXPECTED + over(sums[..., 1:2], sums[..., :1]),
            expect=lambda sums: over(sums[..., 2:], sums[..., :1]),
        )
        (found,) = levels(replace(made, figures=figures)).values()
        hits += found.low <= rate - 0.8 <= found.high
    assert hits >= 0.93 * n_trials


@pytest.mark.parametrize(("share", "between"), [(0.5, (0.7354, 1.0)), (-0.5, (0.0, 0.2646))])
def test_the_gap_of_a_rate_that_all_sets_have_or_none_has_an_exact_interval(share, between):
    # all of 12 sets: 0.025 ** (1 / 12) = 0.7354, which the spread of twelve equal sets knows nothing of
    table = np.full((12, 1), share)
    found = levels(planted("mine", table, kind=BUR, names=(None,)))["value-shares", BUR, None]
    assert (found.gap, found.verdict) == (pytest.approx(share), None)
    assert (found.low, found.high) == pytest.approx([end - EXPECTED for end in between], abs=1e-4)
    # but of a rate that some sets have, and of what is no rate, the spread says it
    table[0] = 0.0
    mixed = levels(planted("mine", table, kind=BUR, names=(None,)))["value-shares", BUR, None]
    assert (mixed.low + mixed.high) / 2 == pytest.approx(mixed.gap)
    flat = levels(planted("mine", np.full((12, 1), share), kind=UER, names=(None,)))["value-shares", UER, None]
    assert flat.low == flat.high == pytest.approx(share)
