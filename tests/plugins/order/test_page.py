import pytest

from evenhand.evaluation.audit.findings import MOST_WORDS
from evenhand.number import Number
from evenhand.plugins.order.page import headline


def effect(place, gap, verdict="no clear difference"):
    return Number(measure="place", side=place, value=gap, n_sets=9, verdict=verdict)


@pytest.mark.parametrize(
    ("effects", "said"),
    [
        ([effect("first third", -0.1, "lower"), effect("last third", 0.2, "higher")], "first third"),
        ([effect("first third", -0.1)], "no third"),
        ([effect("first third", None)], "cannot be separated"),
    ],
)
def test_every_kind_of_headline_is_short(effects, said):
    found = headline(effects)
    assert said in found
    assert len(found.split()) <= MOST_WORDS, found
    assert not found.endswith(".")
