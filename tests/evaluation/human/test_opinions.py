"""Opinion labels scored: bias, votes, and their agreement for each source."""

import pytest

from evenhand.corpora.opinions import AnnotatedSummary
from evenhand.evaluation.human.opinions import opinion_results
from evenhand.fairness.opinion import perceived_opinion_bias


def annotated(summary, labels, fairness, source="us"):
    n = len(labels)
    return AnnotatedSummary(
        set_id=source,
        summary_id=summary,
        annotators=tuple("abc"[:n]),
        opinions=("wall", "tax"),
        labels=tuple(labels),
        fairness=tuple(fairness),
        reasons=("opinions", *[None] * (n - 1)),
    )


ONE = annotated("1", [("complete", "absent"), ("somewhat", None)], ["very_unfair", None])
TWO = annotated("2", [("complete", "complete")], ["very_fair"])
THREE = annotated("3", [("somewhat", "absent"), ("somewhat", "inadequate")], ["very_unfair", "very_fair"])


def test_a_summary_is_scored_by_hand():
    (found,) = opinion_results([ONE]).summaries
    # means 3/4 and -1: exposures 7/8 and 0, Gini 1/2
    assert found.bias == pytest.approx(0.5)
    assert found.by_opinion == {"wall": 0.75, "tax": -1.0}
    assert (found.very_unfair, found.very_fair, found.n_votes) == (1.0, 0.0, 1)
    assert found.reasons == {"opinions": 1}


def test_an_unlabelled_opinion_is_none_and_an_absent_one_is_not():
    (found,) = opinion_results([annotated("x", [(None, "absent")], [None])]).summaries
    assert found.by_opinion == {"wall": None, "tax": -1.0}
    assert found.bias is None
    assert found.unscored == "every opinion is absent for every annotator"
    assert found.very_fair is None


def test_agreement_is_told_source_by_source():
    other = annotated("4", [("absent", "complete")], ["very_unfair"], source="uk")
    us, uk = opinion_results([ONE, other, TWO, THREE]).sources
    # bias 1/2, 0 and, of exposures 3/4 and 1/8, (2 - 1)(3/4 - 1/8) / (2 * 7/8) = 5/14; votes 1, 0, 1/2
    # deviations of bias from 2/7: 3/14, -4/14, 1/14; of votes: 1/2, -1/2, 0: r = 7/28 / sqrt(26/196 * 1/2)
    assert us.r == pytest.approx(0.25 / (13 / 196) ** 0.5)
    assert (us.n, us.left_out) == (3, 0)
    assert (uk.r, uk.n) == (None, 1)


def test_the_signature_is_that_of_the_measure():
    assert opinion_results([TWO], "abs").signature == perceived_opinion_bias(TWO.labels, "abs").signature
