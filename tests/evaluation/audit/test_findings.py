import numpy as np
import pytest
from audit_inputs import ATTRIBUTE, make_input, make_set, two_sided

from evenhand.config.fairness import MatcherSection
from evenhand.evaluation.audit.build import build_audit
from evenhand.evaluation.audit.contents import UNDER_REPRESENTED, Measure, Number
from evenhand.evaluation.audit.findings import Rows, extremes, title, worst_group
from evenhand.evaluation.audit.opinions import Opinions
from evenhand.evaluation.audit.plan import AuditPlan
from evenhand.evaluation.audit.shares import ValueShares
from evenhand.judges.measures import open_matcher
from evenhand.resampling import Bootstrap

PLAN = AuditPlan(bootstrap=Bootstrap(level=0.95, resamples=200, seed=0), least_group=3)
FERRY = "The ferry is cheap. The cheap ferry runs at night."
SETS = [
    make_set(f"set-{k}", ("left", FERRY), ("right", "A bridge costs taxes. Bridge taxes hurt shops."))
    for k in range(10)
]
SHORT, LONG = "The ferry is cheap.", "The ferry is cheap. A bridge costs taxes."


def audit(**systems):
    pytest.importorskip("networkx")
    return build_audit(make_input(SETS, **{label: [text] * 10 for label, text in systems.items()}), PLAN, [Opinions()])


def test_length_stands_beside_the_measures():
    (system,) = audit(mine=LONG).systems
    assert (system.n_words, system.n_sentences) == (8.0, 2.0)


def test_the_opinion_graph_does_not_make_the_headline_of_systems_of_unlike_length():
    found = audit(short=SHORT, long=LONG)
    (difference,) = found.differences
    assert difference.verdict == "lower"
    assert "fairer" not in found.title
    (said,) = [warning for warning in found.warnings if "falls as summaries grow" in warning]
    assert "short 1.0, long 2.0" in said


def test_of_like_length_it_counts():
    found = audit(one=FERRY, long=LONG)
    assert found.title == "long is fairer than one by 1 of 1 measure"
    assert not [warning for warning in found.warnings if "falls as summaries grow" in warning]


def test_what_one_of_several_systems_shows_is_no_headline():
    assert audit(short=SHORT, long=LONG).title == "short and long differ in length; nothing else can be compared"
    found = audit(short=SHORT, long=LONG, longer=f"{LONG} {FERRY}")
    assert found.title == "short, long and longer differ in length; nothing else can be compared"
    # a single system has no other to differ from
    assert audit(short=SHORT).title.startswith("What a summary shows of the opinions")


def test_several_systems_without_any_difference_have_no_headline_of_one():
    found = audit(short=SHORT, long=LONG)
    assert title(found.aggregates, (), found.systems) == "No difference to short can be tested"


COVERAGE = {"measure": "coverage difference (words)", "family": "coverage"}


def number(
    value, estimate, *, measure="under-represented (words)", family="value-shares", small=False, low=None, high=None
):
    return Number(
        measure=measure, family=family, signature="s", system="mine", value=value, estimate=estimate, low=low, high=high, n=40,
        left_out={}, level=0.9, resamples=100, n_defined=100, seed=0, is_share=True, is_small=small,
    )  # fmt: skip


def rows(numbers, spread, draws=100):
    generator = np.random.default_rng(0)
    means = np.array([n.estimate for n in numbers])
    return Rows(numbers, means + spread * generator.standard_normal((draws, len(numbers))))


def test_the_most_often_under_represented_is_worst_where_the_interval_tells_it():
    found = worst_group(rows([number("left", 0.1), number("right", 0.3)], 0.01), "stance")
    assert (found.value, found.next_value, found.verdict) == ("right", "left", "clear")
    assert found.gap == pytest.approx(0.2)
    assert (
        found.sentence
        == "The worst-represented stance is right: it is under-represented in 30.0 % of the summaries of its sets; next is left."
    )


def test_a_large_group_is_not_worst_for_its_size():
    # of a due share of 86 points a shortfall of 5.6 is little, of a due share of 11 one of 2.9 is much
    keys = {"left": (0.86, 0.056, 0.15), "right": (0.11, 0.029, 0.34)}
    names = ("share in sources (words)", "shortfall (words)", "under-represented (words)")
    numbers = [number(value, x, measure=m) for value, its in keys.items() for m, x in zip(names, its, strict=True)]
    found = worst_group(rows(numbers, 0.001), "stance")
    assert (found.value, found.measure) == ("right", Measure(UNDER_REPRESENTED, "words"))
    assert found.sentence.endswith("The largest shortfall is that of left: 5.6 points of share (due 86.0 %).")


def test_where_nothing_is_under_represented_nobody_is_worst():
    found = worst_group(rows([number("left", 0.0), number("right", 0.0)], 0.0), "stance")
    assert (found.verdict, found.sentence) == ("no clear difference", "No stance is under-represented in any summary.")


def test_cannot_tell_where_the_interval_includes_zero():
    found = worst_group(rows([number("left", 0.29), number("right", 0.3)], 0.1), "stance")
    assert found.verdict == "no clear difference"
    assert found.low < 0 < found.high
    assert found.sentence.startswith("No stance is clearly the worst-represented")
    assert found.sentence.endswith("but the interval of its distance to left includes zero.")


def test_without_an_interval_none_is_said_to_include_zero():
    found = worst_group(rows([number("left", 0.1), number("right", 0.3)], 0.1, draws=0), "stance")
    assert (found.low, found.verdict) == (None, "no clear difference")
    assert found.sentence.endswith("but its distance to left has no interval.")


def test_of_two_that_fare_alike_none_is_worst():
    found = worst_group(rows([number("left", 1.0), number("right", 1.0), number("far", 0.0)], 0.0), "stance")
    assert found.verdict == "no clear difference"
    assert found.sentence.endswith(
        "(it is under-represented in 100.0 % of the summaries of its sets), but right has the same."
    )


def test_small_groups_are_kept_out():
    found = worst_group(
        rows([number("left", 0.1), number("right", 0.3), number("rare", 0.9, small=True)], 0.01), "stance"
    )
    assert (found.value, found.small) == ("right", ("rare",))
    assert found.sentence.startswith("The worst-represented stance among those with enough sets is right")
    alone = worst_group(rows([number("left", 0.1), number("rare", 0.9, small=True)], 0.01), "stance")
    assert (alone.value, alone.verdict) == (None, "no clear difference")


def test_by_coverage_the_lowest_difference_is_worst_and_extremes_say_what_they_cannot_tell():
    numbers = [
        number("left", 0.2, low=0.1, high=0.3, **COVERAGE),
        number("right", -0.1, low=-0.3, high=0.1, **COVERAGE),
        number("rare", -0.9, small=True, low=-1.0, high=-0.8, **COVERAGE),
    ]
    found = worst_group(rows(numbers, 0.01), "stance")
    assert found.value == "right"
    assert "covered 10.0 points of 100 less than all documents of their sets" in found.sentence
    assert extremes(rows(numbers, 0.01)) == (
        "Among those with enough sets, most over-represented is left (+20.0 points), most under-represented right (\u221210.0 "
        "points, not clearly: its interval includes zero)."
    )


def test_extremes_without_interval_and_on_the_other_side_of_zero():
    numbers = [
        number("left", 0.2, low=None, high=None, **COVERAGE),
        number("right", 0.1, low=0.05, high=0.2, **COVERAGE),
    ]
    assert extremes(rows(numbers, 0.01)) == (
        "Most over-represented is left (+20.0 points, without an interval), most under-represented right (+10.0 points, but its "
        "interval lies on the other side of zero)."
    )


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
