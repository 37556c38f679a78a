import pytest
from pydantic import TypeAdapter, ValidationError

from evenhand.evaluation.audit.contents import KINDS, Measure, WrittenMeasure

WRITTEN = TypeAdapter(WrittenMeasure)


@pytest.mark.parametrize("by", ["", "ngram", "gender words"])
def test_a_measure_is_read_back_from_its_name(by):
    for kind in KINDS.values():
        measure = Measure(kind, by)
        assert WRITTEN.validate_json(WRITTEN.dump_json(measure)) == measure


def test_a_measure_that_is_not_known_is_refused():
    with pytest.raises(ValidationError, match=r"'BURR \(ngram\)' is not known"):
        WRITTEN.validate_python("BURR (ngram)")
