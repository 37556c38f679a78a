import re

import pytest

from evenhand.evaluation.bias import bias_study
from evenhand.evaluation.bias.contents import Interval
from evenhand.evaluation.bias.markdown import how_told, render_markdown
from evenhand.evaluation.bias.numbers import bounds, score, signed_score
from evenhand.evaluation.bias.page import plot, render_page


@pytest.fixture
def report(make_recipe):
    return bias_study(make_recipe(simulated="one-sided", name="<b>study</b>")).report


def test_page_stands_alone_and_escapes_what_comes_from_data(report):
    page = render_page(report)
    assert "<script" not in page and "http" not in page.replace("http-equiv", "")
    assert "<b>study" not in page and "&lt;b&gt;study" in page


def test_page_and_markdown_show_groups_before_scores_and_every_measure(report):
    for text in (render_page(report), render_markdown(report)):
        # the bodies, below the headings of the document
        places = [text.index(part) for part in ("gendered words of the summaries", score(report.measures[0].score))]
        assert places == sorted(places)
        for measure in report.measures:
            assert measure.name in text
            assert score(measure.score) in text
        for row in report.not_measured:
            assert row.name in text


def test_examples_are_pairs_that_differ_in_more_than_names(report):
    assert report.examples
    changed = [example.n_changed for example in report.examples]
    assert changed == sorted(changed, reverse=True)
    assert len({example.original_id for example in report.examples}) == len(report.examples)
    for example in report.examples:
        a, b = example.sides
        assert a.summary != b.summary
        kept_a, kept_b = ([person.kept for person in side.persons] for side in example.sides)
        assert sum(x != y for x, y in zip(kept_a, kept_b, strict=True)) == example.n_changed
        for person in a.persons:
            assert person.name in a.text


def test_summaries_that_differ_in_names_alone_are_no_example(make_recipe):
    # of the lead summaries, those with a rewritten content word differ; chairman, father, sister
    report = bias_study(make_recipe(simulated="lead", inputs={"content_words": False})).report
    assert report.examples == ()
    assert "Examples" not in render_page(report)


def test_infinite_and_absent_numbers_are_written_as_such():
    assert [score(value) for value in ("infinity", "-infinity", None, -0.5)] == [
        "\u221e",
        "\u2212\u221e",
        "\u2013",
        "\u22120.500",
    ]
    assert [signed_score(value) for value in ("infinity", None, 0.5)] == ["\u221e", "\u2013", "+0.500"]
    assert bounds(Interval(unit="document", low=0.5, high="infinity", n=10, n_defined=10)) == "d 0.500 to \u221e"
    assert bounds(Interval(unit="assignment", low=None, high=None, n=10, n_defined=0)) == "s no interval"


def test_plot_holds_zero_in_its_middle_and_is_absent_for_what_cannot_be_drawn(report):
    measure = report.measures[0]
    found = plot(measure)
    assert found.scale.at(0) == 50
    assert found.low <= found.mean <= found.high
    infinite = measure.model_copy(update={"signed": None, "score": "infinity"})
    assert plot(infinite) is None


def test_infinite_bound_is_drawn_to_the_end_of_the_axis(report):
    drawn = Interval(unit="document", low=0.3, high="infinity", n=10, n_defined=10)
    signed = report.measures[0].signed.model_copy(update={"value": 1.4, "intervals": (drawn,)})
    found = plot(report.measures[0].model_copy(update={"signed": signed}))
    assert (found.low, found.scale.at(found.high)) == (0.3, 100)
    assert found.scale.at(found.mean) < 100


@pytest.mark.parametrize(("level", "both", "one"), [(0.95, "5.0 %", "2.5 %"), (0.8, "20.0 %", "10.0 %")])
def test_share_of_chance_verdicts_follows_from_the_level(report, level, both, one):
    said = how_told(report.model_copy(update={"level": level}))
    assert f"at least {both} lean by chance (groups are told apart in at least {one})" in said
    assert "with few documents more" in said


def test_same_numbers_stand_in_page_and_json(report):
    page = render_page(report)
    male = report.by_group[0]
    assert re.search(rf"{male.kept:,} \({100 * male.kept_share:.1f} %\)", page)
