"""Characteristics of the summaries that people annotated, against the published ones."""

from statistics import fmean

import pytest

from evenhand.evaluation.abstractiveness import fragments, novel_ngrams
from evenhand.plugins.judge_studies.people.annotations.annotation import read_human
from evenhand.text import fold, words

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
        texts = [(unit.passages, unit.summaries[method]) for unit in distinct]
        novel, copied = [novel_ngrams(*each) for each in texts], [fragments(*each) for each in texts]
        found = [fmean(each[n] for each in novel if each[n] is not None) for n in (1, 2, 3, 4)]
        found += [fmean(each.density for each in copied), fmean(each.coverage for each in copied)]
        assert found == pytest.approx(expected[:6], abs=0.002), method
        assert fmean(len(words(summary)) for _, summary in texts) == pytest.approx(expected[6], abs=0.06), method
