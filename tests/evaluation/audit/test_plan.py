import sys

import pytest

from evenhand.errors import DataError
from evenhand.evaluation.audit.plan import MEASURES, read_measures, read_target, usual_measures


def test_measures_stand_in_their_own_order():
    assert read_measures("word-lists, value-shares") == ("value-shares", "word-lists")


def test_usual_measures_leave_out_and_name_what_cannot_run(monkeypatch):
    assert usual_measures() == (MEASURES, ())
    # a library that is set to None cannot be imported
    monkeypatch.setitem(sys.modules, "networkx", None)
    measures, (note,) = usual_measures()
    assert measures == ("value-shares", "coverage", "word-lists")
    assert "evenhand[fairness]" in note


@pytest.mark.parametrize("text", ["", "value-share", "coverage,colour"])
def test_unknown_measures_are_refused(text):
    with pytest.raises(DataError, match="Measures are value-shares, coverage"):
        read_measures(text)


@pytest.mark.parametrize(("text", "family"), [("bur", "value-shares"), ("Coverage Parity", "coverage")])
def test_a_measure_named_alone_is_answered_with_its_family(text, family):
    with pytest.raises(DataError, match=f"is one of '{family}'"):
        read_measures(text)


def test_weights_stand_in_the_order_of_the_values():
    assert read_target("neg=1,pos=3", ("pos", "neg")) == (3.0, 1.0)
    assert read_target("equal", ("pos",)) == "equal"


def test_values_may_hold_an_equals_sign():
    assert read_target("a=b=1,c=2", ("a=b", "c")) == (1.0, 2.0)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("pso=1,neg=1", "did you mean 'pos'"),
        ("pos=-1,neg=x", "'pos=-1' is no VALUE=WEIGHT.*'neg=x' is no VALUE=WEIGHT"),
        ("pos=1", "no weight for neg"),
        ("pos=1,pos=1,neg=1", "named twice"),
        # of a value that is due nothing even 0 is not more than its due, so that every summary would be unfair
        ("pos=1,neg=0", "'neg=0' is no VALUE=WEIGHT with a weight above 0"),
        ("pos=nan,neg=1", "no VALUE=WEIGHT"),
        ("rato", "or write ratio or equal"),
    ],
)
def test_wrong_targets_are_refused(text, said):
    with pytest.raises(DataError, match=said):
        read_target(text, ("pos", "neg"))
