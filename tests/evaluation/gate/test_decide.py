import re
from dataclasses import replace
from math import comb

import pytest

from evenhand.evaluation.gate.decide import judged
from evenhand.evaluation.gate.limits import parse_limit
from evenhand.evaluation.gate.names import MissingNumber, meant
from evenhand.evaluation.gate.numbers import NamedNumber, minus
from evenhand.evaluation.gate.page import sentence
from evenhand.resampling import Bootstrap, cluster_interval, exact_bounds

PLAN = Bootstrap()


def named(*values, side=None, **more):
    by_set = {f"s{place}": value for place, value in enumerate(values)}
    mean = sum(values) / len(values) if values else None
    return NamedNumber(("mean",), ("score",), side, "system", (), mean, by_set, "signature", **more)


def spread(mean, n=20):
    """Values of that mean, a half above it by 0.1."""
    return named(*(mean + 0.1 * (-1) ** place for place in range(n)))


def test_the_whole_interval_decides():
    # mean 0.5, standard error 0.1 / sqrt(19) = 0.023: about 0.45 to 0.55
    outcomes = {
        bound: judged(parse_limit(f"mean(score) < {bound}"), [spread(0.5)], PLAN, 1).outcome
        for bound in (0.3, 0.49, 0.7)
    }
    assert outcomes == {0.3: "passed", 0.49: "cannot tell", 0.7: "breach"}
    outcomes = {
        bound: judged(parse_limit(f"mean(score) > {bound}"), [spread(0.5)], PLAN, 1).outcome
        for bound in (0.3, 0.51, 0.7)
    }
    assert outcomes == {0.3: "breach", 0.51: "cannot tell", 0.7: "passed"}


def test_one_limit_on_one_number_has_the_interval_of_the_page():
    one = named(*(0.1 * place**2 for place in range(24)))
    found = judged(parse_limit("mean(score) < 0"), [one], PLAN, 1)
    page = cluster_interval(list(one.by_set.values()), list(one.by_set), PLAN)
    assert (found.low, found.high, found.level) == (pytest.approx(page.low), pytest.approx(page.high), 0.95)


def test_what_is_shown_has_no_bound_off_the_scale_and_the_verdict_is_that_of_the_interval():
    graded = [named(*[5.0] * 19, 4.0, scale=scale) for scale in (None, (1.0, 5.0))]
    free, kept = (judged(parse_limit("mean(score) > 5"), [each], PLAN, 1) for each in graded)
    assert free.high > 5 == kept.high and free.low == kept.low
    assert free.outcome == kept.outcome == "cannot tell"
    # a difference reaches from one end of the scale to the other, a share ends at 1 and its gap at -1
    assert minus(graded[1], graded[1]).reach == (-4, 4) and graded[0].reach is None
    share = named(0.5, is_share=True)
    assert (share.reach, replace(share, is_difference=True).reach) == ((0, 1), (-1, 1))


def test_levels_are_adjusted_for_limits_and_numbers():
    found = judged(parse_limit("worst_mean(score) < 0"), [spread(0.5), spread(0.6)], PLAN, 5)
    assert found.level == pytest.approx(1 - 0.05 / 10)
    wider = judged(parse_limit("mean(score) < 0"), [spread(0.5)], PLAN, 10)
    assert wider.high - wider.low > judged(parse_limit("mean(score) < 0"), [spread(0.5)], PLAN, 1).high - 0.5


def test_the_worst_is_the_farthest_beyond_the_limit():
    three = [spread(0.5), spread(0.2), spread(0.9)]
    assert judged(parse_limit("worst_mean(score) < 0"), three, PLAN, 1).value == pytest.approx(0.2)
    assert judged(parse_limit("worst_mean(score) > 1"), three, PLAN, 1).value == pytest.approx(0.9)


def test_too_few_sets_are_no_verdict():
    found = [judged(parse_limit("mean(score) < 1"), [spread(0.5, n)], PLAN, 1) for n in (4, 18, 20)]
    assert [each.outcome for each in found] == ["cannot tell", "cannot tell", "breach"]
    assert found[1].low is None
    # why, and what changes it
    assert "from 20 sets" in found[1].note and "least_sets" in found[1].note
    fewer = judged(parse_limit("mean(score) < 1"), [spread(0.5, 8)], PLAN, 1, least_sets=8)
    assert (fewer.outcome, fewer.note, fewer.n_sets) == ("breach", "", 8)
    # 20 that agree are too few only where 2^-19 is more than 0.05 of so many limits
    alike = judged(parse_limit("mean(score) < 1"), [named(*[0.5] * 20)], PLAN, 100_000)
    assert (alike.outcome, alike.note.startswith("all of its")) == ("cannot tell", True)


def test_a_value_of_few_sets_is_named_and_lets_no_limit_pass():
    few = named(-9.0, -9.0, side="rare")
    found = [judged(parse_limit("worst_mean(score) < 0"), [spread(mean), few], PLAN, 1) for mean in (0.5, -0.5)]
    assert [(each.outcome, "rare" in each.note) for each in found] == [("cannot tell", True), ("breach", True)]


def test_a_gap_inside_what_is_expected_passes_and_is_said_to_be_there():
    # 0 by definition, though sets speak against each other
    inside = replace(spread(0.0), is_inside=True)
    found = judged(parse_limit("mean(score) < -0.01"), [inside], PLAN, 1)
    assert (found.outcome, found.low, found.note.startswith("inside the expected")) == ("passed", None, True)
    assert "no variation" not in sentence(found)
    # beside one that is not, the intervals of both count
    both = judged(parse_limit("worst_mean(score) < -0.01"), [inside, replace(spread(-0.5), side="other")], PLAN, 1)
    assert (both.outcome, both.note) == ("breach", "")
    assert judged(parse_limit("mean(score) < -0.01"), [spread(0.0)], PLAN, 1).outcome == "cannot tell"
    # of few sets nothing is told, and a change is not inside anything
    assert judged(parse_limit("mean(score) < -0.01"), [replace(spread(0.0, 4), is_inside=True)], PLAN, 1).low is None
    assert not minus(inside, inside).is_inside


def test_an_undefined_number_fails_closed():
    assert judged(parse_limit("mean(score) < 0"), [named()], PLAN, 1).outcome == "missing"


def test_a_rate_of_all_sets_is_not_certain():
    # 20 of 20: the exact interval of Clopper and Pearson begins at 0.025 ** (1 / 20) = 0.832
    found = judged(parse_limit("rate(kept) < 0.9"), [named(*[1.0] * 20, is_rate=True)], PLAN, 1)
    assert (found.outcome, found.low, found.high) == ("cannot tell", pytest.approx(0.832, abs=5e-4), 1.0)
    assert found.low == exact_bounds(1.0, 20, 0.95)[0]


@pytest.mark.parametrize(
    ("values", "is_rate", "least", "said"),
    [
        (
            [0.5] * 8,
            False,
            20,
            "decided from 20 sets on, as with fewer skewed .*least_sets of a --profile asks for fewer",
        ),
        # the least that can be asked for, and what rates need: no advice that cannot be followed
        ([0.5] * 4, False, 5, "decided from 5 sets on"),
        ([1.0] * 3, True, 20, "decided from 5 sets on"),
    ],
)
def test_what_lacks_sets_says_how_many_it_needs(values, is_rate, least, said):
    found = judged(parse_limit("rate(kept) < 0.4"), [named(*values, is_rate=is_rate)], PLAN, 1, least)
    assert found.outcome == "cannot tell"
    assert re.fullmatch(said, found.note)


def test_a_rate_has_a_verdict_from_five_sets_on_for_its_interval_is_exact():
    # none of 8 kept: at most 1 - 0.025 ** (1 / 8) = 0.369 do
    none = named(*[0.0] * 8, is_rate=True)
    found = judged(parse_limit("rate(kept) < 0.4"), [none], PLAN, 1)
    assert (found.outcome, found.n_sets, found.high) == ("breach", 8, pytest.approx(0.369, abs=5e-4))
    assert judged(parse_limit("rate(kept) < 0.3"), [none], PLAN, 1).outcome == "cannot tell"
    assert judged(parse_limit("rate(kept) < 0.9"), [named(*[0.0] * 4, is_rate=True)], PLAN, 1).outcome == "cannot tell"
    # no exact interval is known of values between, nor of a change of some sets
    assert (
        judged(parse_limit("rate(kept) < 0.9"), [named(*[0.0] * 7, 0.5, is_rate=True)], PLAN, 1).outcome
        == "cannot tell"
    )


@pytest.mark.parametrize("n_sets", [5, 8, 12])
@pytest.mark.parametrize("rate", [0.5, 0.8, 0.95])
def test_a_rate_that_just_keeps_its_limit_fails_in_at_most_a_fortieth(n_sets, rate):
    limit = parse_limit(f"rate(kept) < {rate}")
    failed = 0.0
    for kept in range(n_sets + 1):
        sample = named(*[1.0] * kept, *[0.0] * (n_sets - kept), is_rate=True)
        chance = comb(n_sets, kept) * rate**kept * (1 - rate) ** (n_sets - kept)
        failed += chance * (judged(limit, [sample], PLAN, 1).outcome == "breach")
    assert failed <= 0.025


def test_nothing_changed_is_no_breach_of_no_change():
    same = spread(0.5)
    for limit in ("mean(score) < 0", "mean(score) > 0"):
        assert judged(parse_limit(limit), [minus(same, same)], PLAN, 1).outcome == "passed"


@pytest.mark.parametrize("kept", [0.0, 1.0])
def test_a_rate_that_changed_in_no_set_may_have_changed_in_some(kept):
    # none of 20 changed: 1 - 0.025 ** (1 / 20) = 0.168 may have
    same = named(*[kept] * 20, is_rate=True)
    limits = ("mean(score) < -0.1", "mean(score) > 0.1", "mean(score) < -0.2")
    found = [judged(parse_limit(limit), [minus(same, same)], PLAN, 1) for limit in limits]
    assert [each.outcome for each in found] == ["cannot tell", "cannot tell", "passed"]
    assert (found[0].low, found[0].high) == (pytest.approx(-0.168, abs=5e-4), pytest.approx(0.168, abs=5e-4))


def test_a_rate_that_changed_in_every_set_need_not_change_in_all():
    # of 20 sets all lost it: 0.168 may have kept or gained it, which is 2 from a loss
    lost = minus(named(*[0.0] * 20, is_rate=True), named(*[1.0] * 20, is_rate=True))
    found = judged(parse_limit("mean(score) < 0"), [lost], PLAN, 1)
    assert (found.outcome, found.low, found.high) == ("breach", -1.0, pytest.approx(-1 + 2 * 0.168, abs=1e-3))


def test_a_value_below_the_least_group_is_said_to_be():
    small, short = replace(spread(0.5), has_few=True), spread(0.5, 18)
    notes = [judged(parse_limit("mean(score) < 0"), [each], PLAN, 1).note for each in (small, short)]
    assert ["--least-group" in note for note in notes] == [True, False]


def test_a_change_is_paired_over_the_sets_that_both_have():
    now, before = named(1.0, 2.0, 3.0, 4.0, 5.0, 6.0), named(0.0, 1.1, 2.0, 3.1, 4.0)
    change = minus(now, before)
    assert list(change.by_set.values()) == pytest.approx([1.0, 0.9, 1.0, 0.9, 1.0])
    assert change.value == pytest.approx(0.96)


def test_a_judge_that_the_last_system_lacks_is_missing():
    judges = (("one", "first"), ("one", "last"), ("two", "first"))
    numbers = [replace(spread(0.5), measures=(judge,), system=system) for judge, system in judges]
    numbers.sort(key=lambda each: each.system)
    assert [each.system for each in meant(parse_limit("mean(one) < 0"), numbers)] == ["last"]
    assert [each.system for each in meant(parse_limit("mean(two, first) < 0"), numbers)] == ["first"]
    with pytest.raises(MissingNumber, match="last has no such number"):
        meant(parse_limit("mean(two) < 0"), numbers)


def test_a_value_that_is_called_as_a_system_is_told_from_it():
    def number(side, system):
        return replace(spread(0.5), side=side, system=system)

    found = [number(side, system) for system in ("left", "tuned") for side in ("left", "right")]
    with pytest.raises(
        MissingNumber, match="'left' is a value or side and a system, too; write value=left or system=left"
    ):
        meant(parse_limit("mean(score, left) < 0"), found)
    assert [(each.side, each.system) for each in meant(parse_limit("mean(score, value=Left) < 0"), found)] == [
        ("left", "tuned")
    ]
    both = meant(parse_limit("worst_mean(score, system=left) < 0"), found)
    assert {(each.side, each.system) for each in both} == {("left", "left"), ("right", "left")}
    (one,) = meant(parse_limit("mean(score, system=left, value=left) < 0"), found)
    assert (one.side, one.system) == ("left", "left")
    # where no name is both, none has to say what it is
    assert meant(parse_limit("mean(score, right) < 0"), found)[0].side == "right"


def test_the_same_input_gives_the_same_verdict():
    numbers = [named(*((7 * place) % 11 / 11 - 0.4 for place in range(23)))] * 2
    assert (
        len({judged(parse_limit("worst_mean(score) < 0"), numbers, PLAN, 3).model_dump_json() for _ in range(10)}) == 1
    )
