"""What people's scores of several systems say of a judge that wrote for one of them."""

import numpy as np
import pytest

from evenhand.errors import DataError
from evenhand.plugins.judge_studies.people.annotations.annotation import (
    Annotation,
    HumanUnit,
    Span,
    SummaryMarks,
)
from evenhand.plugins.judge_studies.preference import PeoplesScores, peoples_scores, preference

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
    assert abs(preference(people, fair, "coverage").number.value) < 0.2
    partial = fair + np.array([0.5, 0.0, 0.0])
    assert preference(people, partial, "coverage").number.low > 0.5


def people_of(n, own_is_better, noise, generator):
    """Scores by people who err, and the truth, of three systems of which the judge's own is better by so much."""
    truth = generator.normal(size=(n, 3)) + np.array([own_is_better, 0.0, 0.0])
    said = truth + noise * generator.normal(size=truth.shape)
    topics = tuple(f"t{row}" for row in range(n))
    return PeoplesScores(("mine", "a", "b"), "mine", (), topics, {"coverage": said, "faithfulness": said}), truth


def test_a_judge_that_knows_better_than_people_does_not_prefer_itself():
    people, truth = people_of(200, 1.0, 1.0, np.random.default_rng(1))
    # regressed on people's scores alone, the perfect judge would seem to prefer the better writer by 0.4
    assert preference(people, truth, "coverage").number.value <= 0
    fond = truth + np.array([1.5, 0.0, 0.0])
    assert preference(people, fond, "coverage").number.low > 0.2


def test_of_a_judge_that_does_not_go_with_people_nothing_is_said():
    generator = np.random.default_rng(2)
    people, truth = people_of(40, 0.0, 0.5, generator)
    coin = generator.normal(size=truth.shape)
    assert preference(people, coin, "coverage").number.value is None
