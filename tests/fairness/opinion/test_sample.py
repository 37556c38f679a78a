"""The invented posts, and the whole path from them to a batch of scored summaries."""

from collections import Counter

import pytest

from evenhand.fairness.opinion import (
    biased_batch,
    exposure_extractive,
    opinion_graph,
    pearson,
    read_sample,
    select_batch,
)


def test_it_holds_what_its_docstring_says():
    sample = read_sample()
    assert Counter(unit.group for unit in sample) == {"for": 14, "against": 14, "neutral": 8}
    assert Counter(group for group, _ in {(unit.group, unit.opinion) for unit in sample}) == {
        "for": 3,
        "against": 3,
        "neutral": 1,
    }
    assert len({unit.text for unit in sample}) == 36


def test_a_biased_batch_is_scored_in_the_order_of_its_bias():
    pytest.importorskip("networkx")
    sample = read_sample()
    texts, names = [unit.text for unit in sample], list(dict.fromkeys(unit.opinion for unit in sample))
    batch = biased_batch(12, "for", "against", 2, {"neutral": 2})
    graph = opinion_graph(texts)
    found, known = [], []
    for quotas, selection in zip(batch, select_batch(texts, [unit.group for unit in sample], batch), strict=True):
        assert selection.by_group == {"for": quotas["for"], "against": quotas["against"], "neutral": 2}
        summary = [texts[i] for i in selection.in_source_order]
        found.append(graph.bias(summary).score)
        known.append(exposure_extractive(texts, [names.index(u.opinion) for u in sample], len(names), summary).score)
    assert all(score is not None for score in found)
    # 0/10, 2/8, 4/6, 6/4, 8/2, 10/0: the mixed ones are the fairest, the one-sided ones the least fair
    assert max(found[2:4]) < min(found[1], found[4]) <= max(found[1], found[4]) < min(found[0], found[5])
    assert pearson(found, known).r > 0.9
