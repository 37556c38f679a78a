import pytest
from pydantic import ValidationError

from evenhand.fairness.demographic import InputEntity, Instance, SummaryEntity


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
