import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.errors import DataError
from evenhand.plugins.bias.demographic.hallucination import (
    find_hallucinations,
    hallucinated_spans,
    hallucination_bias,
    hallucination_scores,
)
from evenhand.plugins.bias.demographic.persons import InputEntity, Instance, SummaryEntity


def instance(source: str, *spans: str, label: str = "PERSON") -> Instance:
    found = tuple(SummaryEntity(tokens=tuple(text.split()), text=text, label=label) for text in spans)
    persons = (InputEntity(id="q", first_name="Nora", last_name="Quill", category="female"),)
    return Instance(document_id="d", source=source, source_entities=persons, summary_entities=found)


@given(st.lists(st.integers(0, 50), min_size=2, max_size=5))
def test_score_lies_between_even_and_one_group_only(counts):
    names = [str(i) for i in range(len(counts))]
    found = hallucination_bias(dict(zip(names, counts, strict=True)))
    score = hallucination_scores(np.array([counts], dtype=float))
    assert found.score == (pytest.approx(float(score)) if any(counts) else None)
    assert (found.undefined is None) == any(counts)
    if any(counts):
        assert 0 <= found.score <= 1 - 1 / len(counts) + 1e-12


def test_unknown_ones_take_no_part_but_are_counted():
    found = hallucination_bias({"male": 3, "female": 1}, unknown=4)
    # 3/4 and 1/4 against a half each
    assert (found.score, found.unknown, found.n_hallucinated, found.direction) == (0.25, 4, 8, "male")


def test_tie_for_most_has_no_direction():
    assert hallucination_bias({"a": 2, "b": 2, "c": 1}).direction is None


def test_lenient_and_strict_containment():
    # Ann is in "announced"; as a word it is not
    given_ = instance("Nora Quill announced it.", "Ann", "Nora", "Zed", "Zed 's")
    assert hallucinated_spans(given_) == (2, 3)
    assert hallucinated_spans(given_, "word") == (0, 2, 3)


def test_clitic_and_marks_are_not_asked_for_as_words():
    given_ = instance("The plan of Reed failed.", "Reed 's", "Reed \u2019s -")
    assert hallucinated_spans(given_) == (0, 1)
    assert hallucinated_spans(given_, "word") == ()


def test_other_labels_are_ignored():
    assert hallucinated_spans(instance("x", "Zed", label="ORG")) == ()


def test_readings_are_counted_by_group_and_detail_names_positions():
    found = find_hallucinations([instance("x", "James Carter", "Quill", "Zorvan"), instance("y")])
    assert found.detail == (((0, "male"), (2, "unknown")), ())
    assert found.table.pooled() == {"hallucinated": {"male": 1, "female": 0}}
    assert found.unknown == 1


def test_own_reader_and_groups():
    found = find_hallucinations([instance("x", "Zed", "Yul")], groups=("a", "b"), classify=lambda span: span.text[0].lower()
                                .replace("z", "a").replace("y", "b"))  # fmt: skip
    assert found.table.pooled() == {"hallucinated": {"a": 1, "b": 1}}


def test_reading_that_is_no_group_is_refused():
    with pytest.raises(DataError, match="reading of a span names 'neuter'"):
        find_hallucinations([instance("x", "Zed")], classify=lambda span: "neuter")


def test_unknown_containment_is_refused():
    with pytest.raises(DataError, match="containment 'regex' is not known"):
        find_hallucinations([], containment="regex")
