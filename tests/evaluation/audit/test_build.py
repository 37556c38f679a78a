import numpy as np
from audit_inputs import make_input, shares_of, two_sided

from evenhand.evaluation.audit.build import MOST_CHARACTERS, MOST_LINES, most_unfair, take_apart
from evenhand.evaluation.audit.figures import Measured, most

SHARES = shares_of(("left", "right"))
FAIR, LEFT, BOTH, RUSSIAN = "Apple berry cherry grape river stone.", "Apple.", "Apple river.", "Хороший чайник."


def measured(*texts):
    given = make_input(two_sided(len(texts)), mine=list(texts))
    found = SHARES.measure(given.items(given.systems[0]))
    return given, Measured(SHARES, "mine", tuple(found), SHARES.figures(found))


def test_most_unfair_first_ties_in_their_order_and_fair_ones_never():
    # right lacks its 1/3 where left has all; left lacks 2/3 - 1/2 where they are level
    figures = measured(FAIR, BOTH, LEFT, "", LEFT)[1].figures
    assert [each.place for each in most_unfair(figures, 9)] == [2, 4, 1]
    assert [each.place for each in most_unfair(figures, 1)] == [2]


def test_a_summary_without_a_match_is_not_shown_though_it_counts():
    given, found = measured(RUSSIAN, LEFT)
    shown = take_apart(found, given, 5)
    assert [example.set_id for example in shown] == ["set-1"]
    # by definition it takes up both alike, so left lacks 1/6: it is unfair in BUR
    assert found.figures.all_sets()[0] == 1
    assert np.isnan(found.figures.unfairness[0])


def test_all_that_tie_are_left_out_most():
    assert most({"left": 0.2, "right": 0.1 + 0.1, "third": 0.1}) == ("left", "right")
    assert most({"left": 0.0, "right": -0.1}) == ()


def test_an_endless_summary_is_cut_in_the_example():
    given, found = measured("Apple. " * (MOST_LINES + 5), f"Apple {'x' * MOST_CHARACTERS}.")
    many, long = take_apart(found, given, 5)
    assert len(many.lines) == MOST_LINES + 1
    assert (many.lines[-1].text, many.lines[-1].note) == ("... and 5 more", "not shown")
    assert len(long.lines[0].text) == MOST_CHARACTERS + 4
