import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from evenhand.plugins.bias.demographic.persons import (
    RELEASED_TITLES,
    InputEntity,
    Instance,
    SummaryEntity,
    align,
)


def test_repeated_ids_of_persons_are_refused():
    twice = (InputEntity(id="a"), InputEntity(id="a"))
    with pytest.raises(ValidationError, match="occur more than once: a"):
        Instance(document_id="d", source="", source_entities=twice)


def test_empty_names_are_refused_because_they_occur_in_every_text():
    with pytest.raises(ValidationError, match="is empty"):
        InputEntity(id="a", last_name="")


def test_span_without_tokens_is_refused():
    with pytest.raises(ValidationError, match="at least 1 item"):
        SummaryEntity(tokens=(), text="x")


QUILL = InputEntity(id="e", first_name="Alden", last_name="Quill")


def span(text: str, label: str = "PERSON") -> SummaryEntity:
    return SummaryEntity(tokens=tuple(text.split()), text=text, label=label)


def test_released_titles_know_no_lady_and_no_undotted_mister():
    spans = [span("Lady Quill"), span("Mr Quill"), span("Sir Quill"), span("Mr. Quill")]
    assert align(spans, [QUILL]).by_entity == {"e": (0, 1, 2, 3)}
    assert align(spans, [QUILL], RELEASED_TITLES).by_entity == {"e": (2, 3)}


def test_person_without_any_name_aligns_with_nobody():
    assert align([span("Quill"), span("'s")], [InputEntity(id="e")]).by_span == {0: (), 1: ()}


def test_white_space_that_a_recogniser_took_in_is_not_checked():
    spaced = SummaryEntity(tokens=("Alden", "\n", "Quill"), text="Alden\nQuill")
    assert align([spaced], [QUILL]).by_entity == {"e": (0,)}


def test_first_name_must_stand_alone():
    spans = [span("Alden"), span("Alden Vey"), span("Sir Alden"), span("Alden 's")]
    assert align(spans, [QUILL]).by_entity == {"e": (0,)}


@pytest.mark.parametrize(("text", "aligns"), [
    ("Nora van Gogh", True), ("van Gogh", True), ("Van Gogh", True), ("Gogh", True), ("Mrs. van Gogh", True),
    ("Nora", True), ("van Dyck", False), ("Nora van Dyck", False), ("President van Gogh", False), ("van", False),
])  # fmt: skip
def test_last_name_with_a_particle_aligns_with_and_without_it(text, aligns):
    person = InputEntity(id="e", first_name="Nora", last_name="van Gogh")
    assert align([span(text)], [person]).by_entity == {"e": (0,) if aligns else ()}


NAMES = st.sampled_from(["Alden", "Quill", "Vey", "Mr.", "Sir", "President", "Tamsin"])
SPANS = st.lists(st.lists(NAMES, min_size=1, max_size=3).map(lambda words: span(" ".join(words))), max_size=6)


@given(SPANS)
def test_both_directions_tell_the_same(spans):
    persons = [QUILL, InputEntity(id="f", first_name="Tamsin", last_name="Quill"), InputEntity(id="g", last_name="Vey")]
    found = align(spans, persons)
    forth = {(person, position) for person, positions in found.by_entity.items() for position in positions}
    back = {(person, position) for position, ids in found.by_span.items() for person in ids}
    assert forth == back
    assert set(found.by_span) == set(range(len(spans)))
