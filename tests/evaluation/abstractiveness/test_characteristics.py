from dataclasses import astuple

import pytest

from evenhand.evaluation.abstractiveness import characteristics, mean_characteristics
from evenhand.evaluation.human.annotation import read_human
from evenhand.text import fold

SOURCE = ["Nurses need the ferry at night."]


def test_characteristics_worked_by_hand():
    # tokens the left keeps the ferry: fragments "the" (1) and "the ferry" (2), so coverage 3/5, density (1 + 4)/5, 6/5;
    # new 1-grams left, keeps; of the 2-grams only "the ferry" is known; no 3- or 4-gram is
    found = characteristics(SOURCE, "The Left keeps the ferry.")
    assert (found.novel_1, found.novel_2, found.novel_3, found.novel_4) == pytest.approx((0.4, 0.75, 1.0, 1.0))
    assert (found.coverage, found.density, found.compression) == pytest.approx((0.6, 1.0, 1.2))
    assert (found.tokens, found.characters, found.multi_sentence) == (5, 25, 0)


def test_two_sentences_are_counted():
    assert characteristics(SOURCE, "The Left keeps it. It pays.").multi_sentence == 1


def test_an_empty_summary_tells_only_its_length():
    found = characteristics(SOURCE, " ")
    assert [value for value in astuple(found) if value is not None] == [0.0, 1.0]
    assert (found.tokens, found.multi_sentence) == (0, None)


def test_a_mean_is_over_the_summaries_that_tell():
    # 2 tokens have no 3-gram: the mean of novel_3 is that of the other summary alone
    found = mean_characteristics(
        [characteristics(SOURCE, text) for text in ("The ferry.", "The Left keeps the ferry.")]
    )
    assert (found.novel_3, found.tokens) == (1.0, 3.5)
    assert set(astuple(mean_characteristics([]))) == {None}


# docs/papers.md#ri-values: novel 1, 2, 3, 4; density, coverage, tokens
RELEASED = {
    "baseline": (0.314, 0.746, 0.882, 0.928, 1.894, 0.686, 40.8),
    "self_refine": (0.398, 0.817, 0.927, 0.960, 1.263, 0.602, 41.4),
    "debate": (0.373, 0.812, 0.934, 0.972, 1.156, 0.627, 37.6),
    "pine": (0.259, 0.635, 0.768, 0.816, 4.258, 0.741, 41.0),
    "baseline-reranking": (0.431, 0.823, 0.921, 0.948, 1.357, 0.569, 45.4),
    "dpo-7c326c564f80b421-reranking": (0.389, 0.799, 0.910, 0.951, 1.338, 0.611, 44.1),
}


def test_characteristics_of_the_released_summaries_are_reproduced(polisum):
    units = [
        unit
        for n in (1, 2, 3)
        for unit in read_human(polisum / f"human_{n}.json", polisum / f"human_items_{n}.json", str(n))
    ]
    # the earlier copy of a shared document stays
    distinct = list({fold(unit.document): unit for unit in reversed(units)}.values())
    assert (len(units), len(distinct)) == (55, 50)
    for method, expected in RELEASED.items():
        found = mean_characteristics([characteristics(unit.passages, unit.summaries[method]) for unit in distinct])
        novel = (found.novel_1, found.novel_2, found.novel_3, found.novel_4)
        assert (*novel, found.density, found.coverage) == pytest.approx(expected[:6], abs=0.002), method
        assert found.tokens == pytest.approx(expected[6], abs=0.06), method
