"""What of this plug-in is held to what every thing of its kind must do: see tests/conformance.py."""

from itertools import zip_longest
from typing import Any

import numpy as np

from evenhand.plugins.judge_studies.agreement import correlations, winrates

Given = dict[str, Any]


def metric_benchmark_of(given: Given) -> Given:
    articles, ties = given["articles"], given.get("ties", "half")
    truths, scores = (
        np.array([*zip_longest(*(each[key] for each in articles), fillvalue=None)], dtype=float).T
        for key in ("gt", "scores")
    )
    topics = list(map(str, range(len(articles))))
    pooled, within = correlations(truths, scores, topics, chooses=False)
    by_article, of_pairs, n_ties = winrates(truths, scores, topics, ties)
    return {
        "spearman_pooled": pooled.value, "spearman_macro": within.value, "spearman_articles": within.n,
        "winrate_macro": by_article.value, "winrate_micro": of_pairs.value, "winrate_articles": by_article.n,
        "pairs": of_pairs.n, "metric_ties": n_ties,
    }  # fmt: skip


OPERATIONS = {"metric_benchmark": metric_benchmark_of}
