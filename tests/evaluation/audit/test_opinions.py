import pytest

from evenhand.evaluation.audit.opinions import Opinions
from evenhand.fairness.groups import Unscored
from evenhand.fairness.labelled import LabelledSummary, LabelledText
from evenhand.fairness.opinion import opinion_graph

pytest.importorskip("networkx")

FERRY = "The ferry is cheap. The cheap ferry runs at night."
BRIDGE = "A bridge costs taxes. Bridge taxes hurt shops."
DOCUMENTS = (LabelledText(FERRY, "left"), LabelledText(BRIDGE, "right"))


def item(summary):
    return LabelledSummary("s", ("left", "right"), DOCUMENTS, summary)


def test_score_is_that_of_the_graph():
    units = [
        "The ferry is cheap.",
        "The cheap ferry runs at night.",
        "A bridge costs taxes.",
        "Bridge taxes hurt shops.",
    ]
    graph = opinion_graph(units)
    mine = Opinions()
    one_sided, both = mine.measure([item("The ferry is cheap."), item("The ferry is cheap. A bridge costs taxes.")])
    assert one_sided.score == graph.bias(["The ferry is cheap."]).score
    assert one_sided.score > both.score
    figures = mine.figures([one_sided, both])
    assert figures.all_sets().tolist() == pytest.approx([(one_sided.score + both.score) / 2])


def test_example_names_the_opinion_of_each_sentence_and_who_voices_it():
    mine = Opinions()
    asked = item("The ferry is cheap. Snow.")
    (found,) = mine.measure([asked])
    example = mine.example(asked, found, found.score)
    assert example.lines[0].takes == {"left": 2.0}
    assert "ferry" in example.lines[0].note
    assert (example.lines[1].takes, example.lines[1].note) == ({}, "no opinion")
    assert example.left_out == ("taxes",)
    assert example.documents == ("A bridge costs taxes.", "Bridge taxes hurt shops.")


def test_nothing_shown_is_no_score():
    found = Opinions().measure([item(""), item("Snow.")])
    assert found == [Unscored("empty summary"), Unscored("the summary shows no opinion")]
