"""Contraries by rules."""

import pytest

from evenhand.plugins.trained_encoders.contrary import contrary


@pytest.mark.parametrize(
    ("sentence", "turned"),
    [
        ("The ferry is not cheap.", "The ferry is cheap."),
        ("It can't be late.", "It can be late."),
        ("They cannot wait.", "They can wait."),
        ("Nobody didn't pay.", "Nobody did pay."),
        ("It no longer runs.", "It still runs."),
        ("The ferry is cheap and will stay.", "The ferry is not cheap and will stay."),
        ("Fares rose in May.", "Fares fell in May."),
        ("Supports of the bridge cost 90 crowns.", "Opposes of the bridge cost 90 crowns."),
        ("Tickets cost 90 crowns.", "Tickets cost 40 crowns."),
        ("Tickets cost 1,400 crowns.", "Tickets cost 6,400 crowns."),
        ("Nurses praised the captain.", "Nurses criticised the captain."),
        ("Nurses met the captain.", None),
        # as newspapers print it
        ("It won\u2019t be late.", "It will be late."),
        ("Clerks mustn't wait.", "Clerks must wait."),
        # what only looks like a negation, and what has one already, gets no other
        ("The ferry is not only quiet, but old.", None),
        ("The ferry is not only quiet, but it won.", "The ferry is not only quiet, but it lost."),
        ("The ferry is certainly not loud.", None),
        ("There is no safe harbour.", "There is no dangerous harbour."),
        ('"Is the ferry cheap?"', None),
        # numbers of names stay
        ("The G7 met near the COVID-19 ward.", None),
        ("", None),
    ],
)
def test_one_thing_is_changed_by_the_first_rule_that_fits(sentence, turned):
    assert contrary(sentence) == turned


def test_a_number_never_stays_what_it_was():
    for first in "0123456789":
        assert contrary(f"Tickets cost {first}7 crowns.") != f"Tickets cost {first}7 crowns."
