"""What people's scores of several systems say of a judge that wrote for one of them."""

import numpy as np
import pytest

from evenhand.errors import DataError
from evenhand.evaluation.human.annotation import Annotation, HumanUnit, Span, SummaryMarks
from evenhand.evaluation.judges.preference import peoples_scores, preference

POINTS = tuple((Span(start=k, end=k + 1, label="x"),) for k in range(2))


def unit(number, **omitted):
    """A document of two key points, of which each system's summary lacks so many and has one of its own."""
    marks = {
        system: SummaryMarks(("a", "b"), tuple(k < n for k in range(2)), (False, True)) for system, n in omitted.items()
    }
    texts = {system: f"{system} says so" for system in omitted}
    return HumanUnit("anna", number, f"t{number}", "left", "x x\n\ny", texts, Annotation(POINTS, (), marks))


def test_scores_stand_documents_down_and_systems_across():
    found = peoples_scores([unit(1, mine=0, other=2), unit(2, mine=1)], "mine")
    assert found.systems == ("mine", "other") and found.topics == ("t1", "t2")
    assert np.array_equal(found.scores["coverage"], [[1.0, 0.0], [0.5, np.nan]], equal_nan=True)
    assert np.array_equal(found.scores["faithfulness"], [[0.5, 0.5], [0.5, np.nan]], equal_nan=True)
    assert [summary.text for summary in found.documents[0].summaries] == ["mine says so", "other says so"]


def test_a_system_that_nobody_scored_is_refused():
    with pytest.raises(DataError, match=r"--own 'min': people scored summaries of mine, other; did you mean 'mine'\?"):
        peoples_scores([unit(1, mine=0, other=2)], "min")


def test_what_people_like_as_well_is_no_preference():
    generator = np.random.default_rng(0)
    units = [unit(n, mine=n % 2, other=(n + 1) % 3, third=n % 3) for n in range(1, 25)]
    people = peoples_scores(units, "mine")
    said = people.scores["coverage"]
    fair = said + 0.1 * generator.normal(size=said.shape)
    assert abs(preference(people, fair, "coverage", 0.95).figure.value) < 0.2
    partial = fair + np.array([0.5, 0.0, 0.0])
    assert preference(people, partial, "coverage", 0.95).figure.low > 0.5
