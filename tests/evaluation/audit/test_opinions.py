import numpy as np
import pytest

from evenhand.fairness.groups.masses import Unscored
from evenhand.fairness.labelled import LabelledSource, LabelledSummary
from evenhand.plugins.opinions.family import OPINION_GRAPH, Opinions, by_chance
from evenhand.plugins.opinions.measures.exposure import exposure_of
from evenhand.plugins.opinions.measures.interaction import opinion_graph

pytest.importorskip("networkx")

FERRY = "The ferry is cheap. The cheap ferry runs at night."
BRIDGE = "A bridge costs taxes. Bridge taxes hurt shops."
DOCUMENTS = (LabelledSource(FERRY, "left"), LabelledSource(BRIDGE, "right"))


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
    assert one_sided.bias.score == graph.bias(["The ferry is cheap."]).score
    assert one_sided.bias.score > both.bias.score
    figures = mine.figures([one_sided, both])
    assert figures.all_sets().tolist() == pytest.approx([(one_sided.bias.score + both.bias.score) / 2])


def test_example_names_the_opinion_of_each_sentence_and_who_voices_it():
    mine = Opinions()
    asked = item("The ferry is cheap. Snow.")
    (found,) = mine.measure([asked])
    example = mine.example(asked, found)
    assert example.lines[0].takes == {"left": 2.0}
    assert "ferry" in example.lines[0].note
    assert (example.lines[1].takes, example.lines[1].note) == ({}, "no keyword of an opinion")
    assert example.left_out == ("taxes",)
    assert example.documents == ("A bridge costs taxes.", "Bridge taxes hurt shops.")


def test_nothing_shown_is_no_score():
    found = Opinions().measure([item(""), item("Snow.")])
    assert found == [Unscored("empty summary"), Unscored("the summary shows no opinion")]


def test_all_opinions_that_are_left_out_alike_are_named():
    documents = (
        LabelledSource("Cats purr. Dogs bark. Birds sing.", "left"),
        LabelledSource("Fish swim. Bees hum.", "right"),
    )
    asked = LabelledSummary("s", ("left", "right"), documents, "Cats purr.")
    mine = Opinions()
    (found,) = mine.measure([asked])
    example = mine.example(asked, found)
    unheard = [side.name for side in example.sides if side.source and not side.summary]
    assert len(unheard) > 1
    assert set(example.left_out) == set(unheard)
    assert len(example.documents) == len(unheard)


def test_a_summary_of_whole_posts_is_fair_where_posts_are_the_units():
    # two posts of three sentences on the ferry, two of one on the bridge; the summary has one of each: half of either opinion
    ferry = ["Ferry cheap. Cheap ferry runs. Night ferry cheap.", "Cheap ferry sails. Ferry runs cheap. Ferry night."]
    bridge = ["Bridge taxes hurt.", "Taxes bridge hurt."]
    documents = tuple(LabelledSource(text, "x") for text in (*ferry, *bridge))
    asked = LabelledSummary("s", ("x",), documents, f"{ferry[0]} {bridge[0]}")
    (by_posts,) = Opinions("documents").measure([asked])
    assert by_posts.bias.exposure.exposures == (0.5, 0.5)
    assert (by_posts.bias.score, by_posts.bias.mode, by_posts.n_units) == (0.0, "extractive", 2)
    assert "units:documents" in Opinions("documents").signature
    example = Opinions("documents").example(asked, by_posts)
    assert example.columns == ("posts in documents", "posts in summary")


def test_by_chance_as_many_units_are_drawn():
    # all of them: nothing is left to chance
    assert by_chance(exposure_of(np.array([3, 5]), np.array([3, 5]))) == 0
    assert by_chance(exposure_of(np.array([3, 5]), np.array([8, 0]))) == 0
    # one unit speaks for one of two opinions, whichever: a Gini coefficient of 1/2
    assert by_chance(exposure_of(np.array([3, 5]), np.array([0, 1]))) == pytest.approx(1 / 2)
    # longer summaries are expected to be more equal
    assert by_chance(exposure_of(np.array([4, 4]), np.array([4, 0]))) < by_chance(
        exposure_of(np.array([4, 4]), np.array([2, 0]))
    )


def test_the_opinion_graph_stands_beside_what_is_expected():
    mine = Opinions()
    found = mine.measure([item("The ferry is cheap."), item(""), item("The ferry is cheap. A bridge costs taxes.")])
    figures = mine.figures(found)
    levels = [each.expected for each in found if not isinstance(each, Unscored)]
    assert figures.expect(figures.columns.sum(axis=0)).tolist() == pytest.approx([sum(levels) / 2])


def test_summaries_with_fewer_sentences_than_opinions_are_counted():
    mine = Opinions()
    found = mine.measure(
        [item("The ferry is cheap."), item("The ferry is cheap. A bridge costs taxes. Bridge taxes hurt shops.")]
    )
    n_opinions = found[0].bias.exposure.n_opinions
    assert [each.is_too_short for each in found] == [n_opinions > 1, n_opinions > 3]
    said = mine.sentence(OPINION_GRAPH, "0.5", mine.figures(found))
    assert (
        f"{sum(each.is_too_short for each in found)} of 2 summaries have fewer sentences than there are opinions"
        in said
    )


def test_sentences_that_the_corpus_gives_are_the_units():
    lines = ("Great phone. Bad battery though.", "Ships fast.")
    documents = (LabelledSource("\n".join(lines), "left", lines), LabelledSource(BRIDGE, "right"))
    summary = f"{lines[0]} A bridge costs taxes."
    asked = LabelledSummary("s", ("left", "right"), documents, summary)
    (found,) = Opinions().measure([asked])
    units = [*lines, "A bridge costs taxes.", "Bridge taxes hurt shops."]
    assert found.bias.score == opinion_graph(units).bias([lines[0], "A bridge costs taxes."]).score
    # the first line is one unit though it has two full stops
    assert found.n_units == 2
    example = Opinions().example(asked, found)
    assert [line.text for line in example.lines] == [lines[0], "A bridge costs taxes."]
    assert "|v:3" in Opinions().signature
