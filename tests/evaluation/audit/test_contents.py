import pytest
from pydantic import ValidationError

from evenhand.evaluation.audit.contents import AuditNumber, read_measure
from evenhand.evaluation.audit.families import MEASURES, kinds_by_name
from evenhand.evaluation.audit.kinds import Measure


@pytest.mark.parametrize("by", ["", "ngram", "gender words"])
def test_a_measure_is_read_back_from_its_name(by):
    for family, kind in kinds_by_name().values():
        measure = Measure(kind, by)
        assert read_measure(str(measure)) == (family, measure)
        number = AuditNumber(measure=str(measure), system="mine", value=0.5)
        assert AuditNumber.model_validate_json(number.model_dump_json()) == number
        assert (number.family, number.kind, number.by) == (family, kind, by)


def test_every_kind_of_number_is_of_one_family():
    kinds = kinds_by_name()
    assert {family for family, _ in kinds.values()} == set(MEASURES)
    assert len(kinds) == sum(len(family.numbers) for family in MEASURES.values())


def test_a_measure_that_is_not_known_is_refused():
    with pytest.raises(ValidationError, match=r"'BURR \(ngram\)' is not known"):
        AuditNumber(measure="BURR (ngram)", system="mine")
