import pytest
from audit_inputs import ATTRIBUTE, make_input, make_set, two_sided

from evenhand.config.fairness import MatcherSection
from evenhand.evaluation.audit.build import build_audit
from evenhand.evaluation.audit.plan import AuditPlan
from evenhand.evaluation.audit.shares import ValueShares
from evenhand.judges.measures import open_matcher
from evenhand.resampling import Bootstrap

ALL, LEFT = "Apple berry. Cherry grape. River stone.", "Apple. Berry. Cherry."


def choices(n=12, least_group=3, sets=None, **systems):
    plan = AuditPlan(bootstrap=Bootstrap(level=0.95, resamples=200, seed=0), least_group=least_group)
    given = make_input(sets or two_sided(n), **systems)
    shares = ValueShares(open_matcher(MatcherSection(kind="words")), ATTRIBUTE, given.values, "drop_zero", 0.8, "ratio")
    return build_audit(given, plan, [shares]).choices


def test_the_system_whose_worst_value_fares_best_is_chosen():
    (choice,) = choices(biased=[LEFT] * 12, fair=[ALL] * 12)
    assert choice.found.choice == "fair"
    worst = {each.system: (each.group, each.mean) for each in choice.found.systems}
    # the biased one has no word of the right in any set
    assert worst["biased"] == ("right", 1.0)
    assert worst["fair"][1] == 0.0
    assert choice.sentence == (
        "By the value that each serves worst (under-represented), choose fair: it is the best in 100.0 % of the draws "
        "(biased right 100.0; fair left 0.0; in per cent)."
    )


def test_equal_systems_cannot_be_told_apart():
    (choice,) = choices(one=[ALL] * 12, other=[ALL] * 12)
    assert choice.found.choice is None
    assert "no system is clearly the best" in choice.sentence
    assert [each.chance_of_best for each in choice.found.systems] == pytest.approx([0.5, 0.5])


def test_sets_that_a_system_lacks_and_small_values_take_no_part():
    (choice,) = choices(n=4, least_group=4, one=[ALL, ALL, ALL, None], other=[LEFT] * 4)
    assert choice.found.left_out == 2
    assert choice.found.choice is None
    assert "no value has 4 sets" in choice.sentence


def test_values_without_part_are_named_and_one_alone_makes_no_choice():
    alone = [make_set(f"alone-{k}", ("left", "apple berry")) for k in range(6)]
    (choice,) = choices(sets=[*two_sided(6), *alone], least_group=8, one=[ALL] * 12, other=["Apple. River."] * 12)
    # by the left alone, the first would be chosen: the other gives it 1/2 of the due 2/3 in six sets of 12
    assert [each.mean for each in choice.found.systems] == [0.0, 0.5]
    assert choice.found.choice is None
    assert choice.sentence.endswith("(one left 0.0; other left 50.0; in per cent). right: 6 sets, takes no part.")


def test_one_system_alone_leaves_nothing_to_choose():
    assert choices(mine=[ALL] * 12) == ()
