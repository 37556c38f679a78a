"""One correction over the questions of a page of systems."""

import re
from itertools import product

import pytest

from evenhand.evaluation.systems.contents import Difference, JudgeNote, Plane, PlanePoint
from evenhand.evaluation.systems.correction import HEADLINE, Other, corrected

RERANKING = "what reranking adds"
JUDGES = [
    JudgeNote(name=name, signature="", role=role, better="higher")
    for name, role in (("overlap", "report"), ("fit", "both"))
]
HOW = {"level": 0.95, "seed": 0}


def told(p_values, n_sets, measure="overlap", resamples=1000):
    """Tests whose differences are as large as can be wherever p is that small."""
    return [
        Difference(
            measure=measure, signature="", subject=f"{place} - zero-shot", side=None, mean=1.0, low=0.9, high=1.1, n=n_sets,
            n_sets=n_sets, left_out=0, resamples=resamples, **HOW, p_value=p, adjusted=None, verdict="no clear difference",
        )
        for place, p in enumerate(p_values)
    ]  # fmt: skip


def plane(p, quality="overlap", fairness="overlap"):
    mean = {"signature": "", "subject": "", "side": None, "mean": 1.0, "low": 0.9, "high": 1.1, "n": 24, "n_sets": 12}
    means = {
        part: {"measure": part, "left_out": 0, "resamples": 1000, **mean, **HOW} for part in ("quality", "fairness")
    }
    points = (
        PlanePoint(name=name, label=name, k=3, standing=standing, behind=behind, **means)
        for name, standing, behind in (("dpo", "on the front", ()), ("base", "off the front", ("dpo",)))
    )
    return Plane(quality=quality, fairness=fairness, points=tuple(points), p_value=p)


def test_a_question_by_itself_does_not_make_another_clear():
    def adjusted(p_values, *questions):
        return [each.adjusted for each in corrected(JUDGES, told(p_values, 6), questions).differences]

    # half of the level: twice; both in one part: twice, by Benjamini and Hochberg
    assert adjusted([2 / 64, 1.0], HEADLINE, RERANKING) == [4 / 64, 1.0]
    assert adjusted([2 / 64, 1.0], HEADLINE, HEADLINE) == [4 / 64, 1.0]
    # where the other has an answer, the first has all of the level
    assert adjusted([2 / 64, 1e-4], HEADLINE, RERANKING) == [2 / 64, 2e-4]


@pytest.mark.parametrize(("p_of_own", "adjusted"), [(1e-4, 0.03), (1.0, 0.06)])
def test_what_the_rewards_own_judges_say_is_a_part_of_its_own(p_of_own, adjusted):
    tests = [*told([0.03], 12), *told([p_of_own] * 30, 12, "fit")]
    assert corrected(JUDGES, tests, [HEADLINE] * 31).differences[0].adjusted == pytest.approx(adjusted)


def test_worst_sides_and_planes_are_corrected_with_the_rest_and_those_of_the_reward_apart():
    tests = told([1.0], 12)
    others = [Other("overlap", "worst sides", 0.04), Other("fit", "worst sides", 1e-6)]
    # of three questions: half for the headline, a quarter each; the reward's own first, and then a third of three quarters
    assert corrected(JUDGES, tests, [HEADLINE], others=others).others == pytest.approx([0.12, 4e-6])
    for p, quality, standing in (
        (0.01, "overlap", "off the front"),
        (0.03, "overlap", "no clear difference"),
        # in one part with the one that follows
        (0.02, "fit", "off the front"),
    ):
        planes = [plane(p, quality), plane(1e-6, "fit")]
        (first, _) = corrected(JUDGES, tests, [HEADLINE], planes).planes
        assert [point.standing for point in first.points] == ["on the front", standing]
        assert first.points[1].behind == ("dpo",) and first.adjusted is not None and first.adjusted >= p


def n_clear(n_sets, small, sizes, resamples=1000, planes=()):
    """Clear differences of the headline where so many of each question are as small as can be, and the others show nothing."""
    n_exchanges = max(resamples, 20_000)
    smallest = max(2.0 ** (1 - n_sets), 1 / (n_exchanges + 1) if 2**n_sets > n_exchanges else 0)
    p_values = [p for k, n in zip(small, sizes, strict=True) for p in [smallest] * k + [1.0] * (n - k)]
    questions = [HEADLINE] * sizes[0] + [RERANKING] * sizes[1]
    found = corrected(JUDGES, told(p_values, n_sets, resamples=resamples), questions, planes)
    return sum(each.verdict == "higher" for each in found.differences[: sizes[0]]), found.few_together


@pytest.mark.parametrize("sizes", [(1, 0), (1, 1), (2, 1), (4, 2), (8, 0), (8, 1), (16, 3)])
@pytest.mark.parametrize("n_sets", [6, 7, 8, 10, 12])
def test_what_the_page_says_of_what_can_be_clear_holds_for_every_pattern(n_sets, sizes):
    clear = {small: n_clear(n_sets, small, sizes)[0] for small in product(range(sizes[0] + 1), range(sizes[1] + 1))}
    said = n_clear(n_sets, (0, 0), sizes)[1]
    if not said:
        assert clear[1, 0] == 1
    elif "no difference can be clear" in said:
        assert not any(clear.values())
    else:
        together = re.search(r"unless (\d+) of them are", said)
        needed = int(together[1]) if together else sizes[0] + 1
        # "by itself cannot be clear, however large" is of all patterns, the other one of those in which nothing else is clear
        of_all = "by itself cannot be clear" in said
        assert of_all or "another question of the page" in said
        fewer = [found for (main, other), found in clear.items() if main < needed and (of_all or other == 0)]
        assert not any(fewer) and (needed > sizes[0] or clear[needed, sizes[1]] == needed)


def test_tests_are_too_many_for_the_exchanges_that_are_drawn():
    # 1 / 20,001 times 1001 is above 5 % however many sets there are
    assert n_clear(50, (0, 0), (1000, 0))[1] == ""
    assert "50 document sets and 20,000 exchanges" in n_clear(50, (0, 0), (1001, 0))[1]
    assert "unless 2 of them are" in n_clear(50, (0, 0), (1001, 0))[1]
    assert n_clear(50, (0, 0), (1001, 0), resamples=30_000)[1] == ""


def test_a_plane_may_be_answered_where_no_difference_can_be():
    assert "no difference can be clear" in n_clear(6, (0, 0), (1, 1))[1]
    n, said = n_clear(6, (1, 0), (1, 0), planes=[plane(1e-6)])
    assert n == 1 and "another question of the page has a clear answer" in said
