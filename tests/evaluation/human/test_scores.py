import pytest

from evenhand.errors import DataError
from evenhand.evaluation.human import Annotation, HumanMeans, HumanScores, Span, SummaryMarks, aggregate, human_scores


def annotation(omitted, hallucinated):
    """As many key points of document and summary as there are flags."""
    points = tuple((Span(start=i, end=i + 1, label="x"),) for i in range(len(omitted)))
    marks = SummaryMarks(tuple("x" for _ in hallucinated), tuple(omitted), tuple(hallucinated))
    return Annotation(points, (), {"pine": marks})


def test_scores_worked_by_hand():
    # 1 of 3 key points is there; 1 of 2 points is supported
    found = human_scores(annotation([True, True, False], [False, True]), "pine")
    assert found == HumanScores(pytest.approx(1 / 3), 0.5, included=1, omitted=2, hallucinated=1)


def test_what_cannot_be_told_is_none():
    assert human_scores(annotation([], []), "pine") == HumanScores(None, None, 0, 0, 0)


def test_a_method_that_was_not_marked_is_refused():
    with pytest.raises(DataError, match="'debate' was marked; methods of this record are pine"):
        human_scores(annotation([], []), "debate")


def test_units_without_document_key_points_count_for_nothing():
    # (1/2 + 1) / 2 and (0 + 1) / 2; the third has no key point
    units = [annotation([True, False], [True]), annotation([False], [False]), annotation([], [True])]
    assert aggregate(units, ["pine"])["pine"] == HumanMeans(
        n=2,
        coverage=0.75,
        faithfulness=0.5,
        included=1.0,
        omitted=0.5,
        hallucinated=0.5,
        left_out=1,
        without_faithfulness=0,
    )


def test_a_summary_without_points_is_missing_from_faithfulness_alone_and_counted():
    found = aggregate([annotation([True], []), annotation([False], [False])], ["pine"])["pine"]
    assert (found.n, found.coverage, found.faithfulness, found.without_faithfulness) == (2, 0.5, 1.0, 1)


def test_no_unit_gives_no_mean():
    found = aggregate([annotation([], [])], ["pine"])["pine"]
    assert (found.n, found.coverage, found.faithfulness, found.included, found.left_out) == (0, None, None, None, 1)
