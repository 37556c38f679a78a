"""Judges at equal length, on ratings made up."""

import numpy as np
import pytest

from evenhand.benchmarks.equal_length import at_equal_length, people_of, said
from evenhand.plugins.judge_studies.ratings.rows import RatingRow

# by two people: what is longer is better, and of what is equally long the second is
ROWS = [
    RatingRow(set_id="p", system=f"s{k}", summary=f"text {k}", rater=rater, dimension="faithfulness", score=score + add)
    for k, score in enumerate((1, 2, 3, 4))
    for rater, add in (("a", 0.0), ("b", 0.5))
]
WORDS = {f"p#{k}": words for k, words in enumerate((10, 10, 20, 20))}


def worth(*scores):
    people = people_of(ROWS, ["faithfulness"])
    return at_equal_length({f"p#{k}": score for k, score in enumerate(scores)}, WORDS, people)[0, 0]


def test_people_are_averaged_by_summary_in_the_order_of_the_file():
    assert {name: scores.tolist() for name, scores in people_of(ROWS, ["faithfulness"]).items()} == {
        "p#0": [1.25], "p#1": [2.25], "p#2": [3.25], "p#3": [4.25],
    }  # fmt: skip


def test_a_judge_is_worth_what_it_says_of_summaries_of_equal_length():
    # one that is length says nothing beyond it; one that prefers the worse of two that are equally long is against people
    assert np.isnan(worth(1.0, 1.0, 2.0, 2.0))
    assert worth(0.1, 0.2, 0.3, 0.4) == pytest.approx(1.0)
    assert worth(2.0, 1.0, 4.0, 3.0) == pytest.approx(-1.0)
    assert worth(5.0, 6.0, 1.0, 2.0) == pytest.approx(1.0)


def test_the_mean_has_an_interval_over_articles():
    # 0.2 +- t(3) 3.18 x 0.1155 / 2
    assert said(np.array([0.1, 0.3, 0.1, 0.3, np.nan])) == "0.20 [0.02, 0.38]"
