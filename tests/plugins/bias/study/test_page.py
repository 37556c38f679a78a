import math
import re

import pytest

from evenhand.evaluation.pages import html, markdown
from evenhand.evaluation.pages.blocks import tables
from evenhand.evaluation.pages.cells import Table
from evenhand.evaluation.pages.numbers import number
from evenhand.evaluation.pages.tables import estimate
from evenhand.evaluation.pages.words import with_interval
from evenhand.plugins.bias.study import bias_study, page
from evenhand.plugins.bias.study.contents import BiasNumber, BiasReport
from evenhand.plugins.bias.study.figures import KEPT
from evenhand.plugins.bias.study.page import how_decided


@pytest.fixture
def report(make_recipe):
    return bias_study(make_recipe(simulated="one-sided", name="<b>study</b>")).report


def measures_of(report):
    (found,) = (each for each in tables(page(report).body) if each.name == "measures")
    assert isinstance(found, Table)
    return {row.cells[0].text: dict(zip((c.name for c in found.columns), row.cells, strict=True)) for row in found.rows}


def test_page_stands_alone_and_escapes_what_comes_from_data(report):
    text = html.render(page(report))
    assert "<script" not in text and "http" not in text.replace("http-equiv", "")
    assert "<b>study" not in text and "&lt;b&gt;study" in text


def test_page_and_markdown_show_groups_before_scores_and_every_measure(report):
    for text in (html.render(page(report)), markdown.render(page(report))):
        # the bodies, below the headings of the document
        places = [text.index(part) for part in ("gendered words of the summaries", number(report.measures[0].score))]
        assert places == sorted(places)
        for measure in report.measures:
            assert measure.name in text
            assert number(measure.score) in text
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
    assert "Examples" not in [heading.text for heading in page(report).sections]


def test_infinite_and_absent_bounds_are_written_as_such():
    drawn = BiasNumber(what="score", value=math.inf, low=0.5, high=math.inf, n_sets=10)
    assert with_interval(estimate(drawn)) == "\u221e (0.500 to \u221e)"
    assert with_interval(estimate(BiasNumber(what="score", value=1, n_sets=10))) == "1.000 (no interval)"


def test_verdicts_say_where_a_measure_leans(report):
    found = measures_of(report)
    assert [(row["verdict"].text, row["verdict"].tone) for row in found.values()][:2] == [
        ("leans to male", "worse")
    ] * 2
    written = report.model_dump_json().replace('"verdict":"leans"', '"verdict":"no clear difference"')
    unsure = BiasReport.model_validate_json(written)
    assert {row["verdict"].tone for row in measures_of(unsure).values()} == {"unsure"}


def test_plots_of_all_measures_have_one_axis_with_zero_in_its_middle(report):
    strips = [row["plot"] for row in measures_of(report).values()]
    drawn = [strip for strip in strips if strip.marks]
    assert len(drawn) > 2
    assert len({strip.scale for strip in drawn}) == 1
    for strip in drawn:
        (mark,) = strip.marks
        assert strip.scale.at(0) == 50
        assert mark.number.low is None or mark.number.low <= mark.value <= mark.number.high
    # what could not be tested is not drawn
    untested = report.measures[0].model_copy(update={"numbers": report.measures[0].numbers[:2]})
    assert measures_of(report.model_copy(update={"measures": (untested,)}))[untested.name]["plot"].marks == ()


@pytest.mark.parametrize(("level", "chance"), [(0.95, "5.0 %"), (0.8, "20.0 %")])
def test_share_of_chance_verdicts_follows_from_the_level(report, level, chance):
    assert f"{chance} at most are to say that anything leans" in how_decided(report.model_copy(update={"level": level}))


def test_same_numbers_stand_in_page_and_json(report):
    text = html.render(page(report))
    male = report.figures(KEPT)[0]
    assert re.search(rf"{male.count:,}</span><span class=\"range\">{100 * male.value:.1f} %<", text)


def test_files_of_the_page_stand_beside_it(make_recipe):
    study = bias_study(make_recipe(simulated="one-sided"))
    folder = study.page.parent
    assert {"index.html", "report.md", "report.json", "tables"} <= {path.name for path in folder.iterdir()}
    lines = (folder / "tables" / "measures.csv").read_text(encoding="utf-8").splitlines()
    assert len(lines) == 1 + len(study.report.measures)
    # as they are, and not as they are shown
    assert str(study.report.measures[0].score) in lines[1]


def test_the_first_lines_have_the_numbers_and_what_the_study_cannot_see_is_on_the_page(report):
    shown = page(report)
    assert len(shown.title.split()) <= 18
    men, women = report.figures(KEPT)
    assert f"{100 * men.value:.1f} % of the men" in " ".join((shown.title, *(b.text for b in shown.findings)))
    assert f"{100 * women.value:.1f} % of the women" in " ".join((shown.title, *(b.text for b in shown.findings)))
    assert "What this study cannot see: adjectives" in markdown.render(shown)
