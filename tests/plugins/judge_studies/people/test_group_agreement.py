"""Agreement of two annotators and more, on documents of four words."""

from dataclasses import replace
from io import StringIO

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

from evenhand.errors import DataError
from evenhand.evaluation.pages import html, terminal
from evenhand.evaluation.pages.blocks import Marked
from evenhand.plugins.judge_studies.people.agreement import annotator_agreement, group_agreement
from evenhand.plugins.judge_studies.people.annotations.annotation import (
    Annotation,
    HumanUnit,
    Span,
    SummaryMarks,
)
from evenhand.plugins.judge_studies.people.result_pages import agreement_page

DOCUMENT = "keep the old ferry"
SUMMARY = "Nurses need boats"


def unit(annotator, highlight, points=(), document=DOCUMENT):
    """Somebody's marks: one highlight of the document, or none, and points of the summary."""
    start = document.index(highlight)
    key_points = ((Span(start=start, end=start + len(highlight), label=highlight),),) if highlight else ()
    marks = SummaryMarks(tuple(points), (False,) * len(key_points), (False,) * len(points))
    return HumanUnit(
        annotator, 1, "t", "left", document, {"pine": SUMMARY}, Annotation(key_points, (), {"pine": marks})
    )


def test_alpha_worked_by_hand_with_a_document_that_one_annotator_did_not_see():
    other = "tax it at once"
    units = {
        # marks of the words of the two documents: 1100 1000, 1110 1000, 0000 and nothing
        "anna": [unit("anna", "keep the"), unit("anna", "tax", document=other)],
        "ben": [unit("ben", "keep the old"), unit("ben", "tax", document=other)],
        "cleo": [unit("cleo", "")],
    }
    found = group_agreement(units, draws=3)
    # first document: words marked by 2, 2, 1, 0 of 3; unequal pairs over (3 - 1): 2*2*1/2 three times, 6; second: none.
    # values 12 + 8 = 20, of them 5 + 2 = 7 ones; observed 6/20, expected 2*7*13/(20*19)
    assert found.documents.alpha == pytest.approx(1 - (6 / 20) / (2 * 7 * 13 / (20 * 19)))
    assert found.documents.n_words == 8


def test_overlap_is_the_mean_of_the_pairs_that_saw_something_in_common():
    units = {
        "anna": [unit("anna", "keep the", ["need boats"])],
        "ben": [unit("ben", "keep the", ["need boats"])],
        "cleo": [unit("cleo", "ferry", ["Nurses"])],
        "dora": [unit("dora", "tax", document="tax it at once")],
    }
    found = group_agreement(units, draws=3)
    assert list(found.pairs) == [("anna", "ben"), ("anna", "cleo"), ("ben", "cleo")]
    assert found.unshared_pairs == (("anna", "dora"), ("ben", "dora"), ("cleo", "dora"))
    # 1, 0 and 0
    assert found.documents.overlap == found.summaries.overlap == pytest.approx(1 / 3)
    assert found.pairs["anna", "ben"] == annotator_agreement(units["anna"], units["ben"], draws=3)
    # of each of the 3 words of the summary two annotators say the same, one the other: 3 * 2*1*2/2 / 9 observed;
    # 5 ones and 4 zeros: 2*5*4 / (9*8) expected
    assert found.summaries.alpha == pytest.approx(1 - (6 / 9) / (40 / 72))


def test_alpha_of_equal_marks_is_1_and_of_none_is_none():
    units = {name: [unit(name, "ferry")] for name in ("anna", "ben", "cleo")}
    found = group_agreement(units, draws=3)
    assert found.documents.alpha == 1.0
    assert (found.summaries.alpha, found.summaries.overlap, found.summaries.n_words) == (None, None, 3)


def test_order_of_annotators_does_not_matter():
    texts = {"anna": "keep", "ben": "keep the old", "cleo": "old ferry"}
    units = {name: [unit(name, text)] for name, text in texts.items()}
    found, turned = (group_agreement(each, draws=3) for each in (units, dict(reversed(units.items()))))
    assert found.documents.alpha == pytest.approx(turned.documents.alpha)
    assert found.documents.overlap == pytest.approx(turned.documents.overlap)


def test_annotators_of_different_documents_have_no_agreement():
    units = {name: [unit(name, name, document=f"{name} it")] for name in ("anna", "ben", "cleo")}
    with pytest.raises(DataError, match="no two annotators saw a document in common"):
        group_agreement(units)


def test_table_shows_pairs_means_alpha_and_who_saw_nothing_in_common():
    units = {name: [unit(name, "ferry", ["boats"])] for name in ("anna", "ben")}
    units["dora"] = [unit("dora", "tax", document="tax it at once")]
    console = Console(file=StringIO(), width=80)
    found = group_agreement(units, draws=3)
    console.print(terminal.render(agreement_page(found)))
    shown = console.file.getvalue()
    assert "anna, ben" in shown
    assert "all, mean of pairs    1.000" in shown
    assert "4 words of documents and 3 of" in " ".join(shown.split())
    assert "anna and dora saw no document in common" in shown


def test_alpha_of_two_worked_by_hand_and_shown():
    # 1100 and 1110: of 8 values 5 ones, 3 zeros; one word of four unequal: 2 of 8 observed, 2*5*3 / (8*7) expected
    found = group_agreement({"anna": [unit("anna", "keep the")], "ben": [unit("ben", "keep the old")]}, draws=3)
    assert found.documents.alpha == pytest.approx(1 - (2 / 8) / (30 / 56))
    console = Console(file=StringIO(), width=80)
    console.print(terminal.render(agreement_page(found)))
    shown = " ".join(console.file.getvalue().split())
    assert f"{found.documents.alpha:.3f}" in shown
    assert "mean of pairs" not in shown
    assert "anna and ben saw 1 document in common" in shown


def unit_of_words(annotator, highlights):
    """Somebody's marks: words of the document, each by itself."""
    points = tuple(unit(annotator, word).annotation.key_points[0] for word in highlights)
    marks = SummaryMarks((), (False,) * len(points), ())
    return replace(unit(annotator, ""), annotation=Annotation(points, (), {"pine": marks}))


@settings(max_examples=30, deadline=None)
@given(st.lists(st.sets(st.integers(0, 3)), min_size=2, max_size=4))
def test_alpha_is_that_of_nltk(marked):
    agreement = pytest.importorskip("nltk.metrics.agreement")
    names = DOCUMENT.split()
    units = {f"a{n}": [unit_of_words(f"a{n}", [names[place] for place in places])] for n, places in enumerate(marked)}
    data = [(f"a{n}", word, place in places) for n, places in enumerate(marked) for place, word in enumerate(names)]
    if len({is_marked for *_, is_marked in data}) < 2:
        assert group_agreement(units, draws=1).documents.alpha is None
    else:
        expected = agreement.AnnotationTask(data=data).alpha()
        assert group_agreement(units, draws=1).documents.alpha == pytest.approx(expected)


def test_the_summaries_of_which_two_highlighted_least_in_common_are_opened():
    units = {
        "anna": [unit("anna", "keep the", ["Nurses"]), unit("anna", "old", ["need boats"], document="an old one")],
        "ben": [unit("ben", "old ferry", ["need boats"]), unit("ben", "old", ["need boats"], document="an old one")],
    }
    agreement = group_agreement(units, draws=3)
    # what is marked alike is not opened
    assert [(e.system, e.overlap, e.highlights) for e in agreement.examples] == [
        ("pine", 0.0, {"anna": ((0, 6),), "ben": ((7, 17),)}),
        ("", 0.0, {"anna": ((0, 8),), "ben": ((9, 18),)}),
    ]
    made = agreement_page(agreement)
    texts = [block for block in made.overview.blocks if isinstance(block, Marked)]
    assert [text.parts for text in texts] == [
        (("Nurses", True), (" need boats", False)),
        (("Nurses ", False), ("need boats", True)),
    ]
    assert made.overview.headline == "Highlights overlap by 50 % in documents and 50 % in summaries"
    assert "<script" not in html.overview(made, made.overview)


def test_where_nobody_highlighted_anything_nothing_is_opened():
    made = agreement_page(group_agreement({name: [unit(name, "")] for name in ("anna", "ben")}, draws=3))
    assert made.overview.headline == "Annotators highlighted nothing" and not made.overview.blocks
