"""One correction over the questions of a page of systems."""

import pytest

from evenhand.evaluation.systems.contents import Difference
from evenhand.evaluation.systems.correction import HEADLINE, corrected

MAIN, OTHER = (True, HEADLINE), (True, "what reranking adds")


def told(p_values, n_sets, resamples=1000):
    """Tests whose differences are as large as can be wherever p is that small."""
    return [
        Difference(
            measure="overlap", signature="", subject=f"{place} - zero-shot", side=None, mean=1.0, low=0.9, high=1.1, n=n_sets,
            n_sets=n_sets, left_out=0, level=0.95, resamples=resamples, seed=0, p_value=p, adjusted=None,
            verdict="no clear difference",
        )
        for place, p in enumerate(p_values)
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("n_sets", "n_tests", "resamples", "at_once"),
    # 2 / 2**6 times 8 is 5 times 5 %; 1 / 20,001 times 1001 is above 5 % however many sets there are
    [
        (6, 8, 1000, 5),
        (6, 1, 1000, 1),
        (9, 8, 1000, 1),
        (50, 1000, 1000, 1),
        (50, 1001, 1000, 2),
        (50, 1001, 30_000, 1),
    ],
)
def test_where_a_difference_is_clear_only_with_others_the_sentence_says_with_how_many(
    n_sets, n_tests, resamples, at_once
):
    n_exchanges = max(resamples, 20_000)
    smallest = max(2.0 ** (1 - n_sets), 1 / (n_exchanges + 1) if 2**n_sets > n_exchanges else 0)

    def clear(n_small):
        tests = told([smallest] * n_small + [1.0] * (n_tests - n_small), n_sets, resamples)
        return sum(each.verdict == "higher" for each in corrected(tests, [(True, HEADLINE)] * n_tests).differences)

    assert not any(map(clear, range(at_once)))
    assert clear(at_once) == at_once
    said = corrected(told([1.0] * n_tests, n_sets, resamples), [(True, HEADLINE)] * n_tests).few_together
    assert bool(said) == (at_once > 1)
    assert at_once == 1 or f"unless {at_once} of them are" in said


def test_a_question_by_itself_does_not_make_another_clear():
    found = corrected(told([2 / 64, 1.0], 6), [MAIN, OTHER])
    # half of the level: twice; both in one part: twice, by Benjamini and Hochberg
    assert [each.adjusted for each in found.differences] == [4 / 64, 1.0]
    assert [each.adjusted for each in corrected(told([2 / 64, 1.0], 6), [MAIN, MAIN]).differences] == [4 / 64, 1.0]
    # where the other has an answer, the first has all of the level
    found = corrected(told([2 / 64, 1e-4], 6), [MAIN, OTHER])
    assert [each.adjusted for each in found.differences] == [2 / 64, 2e-4]
    assert [each.verdict for each in found.differences] == ["higher", "higher"]


def test_what_the_rewards_own_judges_say_is_a_part_of_its_own():
    own = [(False, "what reranking adds")] * 30
    found = corrected(told([0.03, *[1e-4] * 30], 12), [MAIN, *own])
    assert found.differences[0].adjusted == pytest.approx(0.03)
    assert corrected(told([0.03, *[1.0] * 30], 12), [MAIN, *own]).differences[0].adjusted == pytest.approx(0.06)


def few(n_sets, n_main, n_other):
    parts = [MAIN] * n_main + [OTHER] * n_other
    return corrected(told([1.0] * len(parts), n_sets), parts).few_together


def test_the_page_says_where_the_headline_cannot_be_clear_by_itself():
    # of ten sets no p is below 2 / 1024: times 16 tests, and twice for half of the level
    assert few(10, 12, 0) == few(10, 12, 99) == ""
    said = few(10, 16, 1)
    assert "10 document sets and 1,024 exchanges give no p below 0.002." in said
    assert "Corrected for 16 tests of the headline and for the other questions of the page" in said
    assert "unless 2 of them are" in said
    # of six it is 2 / 64, which twice is above 5 %: nothing of the page can be clear; of one question eight of eight
    assert few(6, 1, 1).endswith("no difference can be clear, however large; take more sets.")
    assert "unless 5 of them are" in few(6, 8, 0)
    assert few(6, 1, 0) == ""


def test_where_nothing_can_be_clear_nothing_is():
    tests = told([2 / 64] * 9, 6)
    assert {each.verdict for each in corrected(tests, [MAIN] + [OTHER] * 8).differences} == {"no clear difference"}
