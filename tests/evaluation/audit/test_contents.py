import pytest
from pydantic import ValidationError

from evenhand.evaluation.audit.contents import FAMILY_BY_KIND, KINDS, AuditNumber, Measure
from evenhand.evaluation.audit.plan import MEASURES


@pytest.mark.parametrize("by", ["", "ngram", "gender words"])
def test_a_measure_is_read_back_from_its_name(by):
    for kind in KINDS.values():
        measure = Measure(kind, by)
        assert Measure.read(str(measure)) == measure
        number = AuditNumber(measure=str(measure), system="mine", value=0.5)
        assert AuditNumber.model_validate_json(number.model_dump_json()) == number
        assert (number.kind, number.by) == (kind, by)


def test_every_kind_of_number_is_of_one_family():
    assert set(FAMILY_BY_KIND.values()) == set(MEASURES)
    assert set(FAMILY_BY_KIND) == set(KINDS.values())


def test_a_measure_that_is_not_known_is_refused():
    with pytest.raises(ValidationError, match=r"'BURR \(ngram\)' is not known"):
        AuditNumber(measure="BURR (ngram)", system="mine")
