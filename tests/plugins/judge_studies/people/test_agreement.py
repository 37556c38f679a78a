"""Agreement of two annotators, on a text of ten letters."""

from io import StringIO

import pytest
from rich.console import Console

from evenhand.errors import DataError
from evenhand.evaluation.pages import terminal
from evenhand.plugins.judge_studies.people.agreement import annotator_agreement, group_agreement
from evenhand.plugins.judge_studies.people.annotations.annotation import (
    Annotation,
    HumanUnit,
    Span,
    SummaryMarks,
)
from evenhand.plugins.judge_studies.people.result_pages import agreement_page

DOCUMENT = "abcde\n\nfghij"
SUMMARY = "The Left wants the ferry kept for its nurses"


def unit(annotator, spans, points, document=DOCUMENT):
    key_points = tuple((Span(start=start, end=end, label=document[start:end]),) for start, end in spans)
    flags = (False,) * len(key_points), (False,) * len(points)
    marks = SummaryMarks(tuple(points), *flags)
    return HumanUnit(
        annotator, 1, "t", "left", document, {"pine": SUMMARY}, Annotation(key_points, (), {"pine": marks})
    )


def test_overlap_of_documents_and_summaries_worked_by_hand():
    # 1 of 2 and 1 of 1 highlights match: 0.75; 1 of 1 and 1 of 2: 0.75
    a = unit("1", [(0, 5), (7, 9)], ["the ferry kept"])
    b = unit("2", [(0, 4)], ["wants the ferry", "nurses"])
    found = annotator_agreement([a], [b], draws=3)
    assert (found.documents.overlap, found.summaries.overlap, found.shared) == (0.75, 0.75, 1)


def test_documents_that_only_one_of_them_saw_do_not_count():
    a = [unit("1", [(0, 5)], []), unit("1", [(0, 5)], [], "something else")]
    whole = group_agreement({"anna": a, "ben": [unit("2", [(0, 5)], [])]}, draws=3)
    (found,) = whole.pairs.values()
    assert (found.shared, found.documents.n, found.documents.overlap) == (1, 1, 1.0)
    assert (found.only_a, found.only_b) == (1, 0)
    console = Console(file=StringIO(), width=100)
    console.print(terminal.render(agreement_page(whole)))
    assert "left out: 1 document that only anna saw" in console.file.getvalue()
    assert "only ben saw" not in console.file.getvalue()
    with pytest.raises(DataError, match="no document in common"):
        annotator_agreement(a[1:], [unit("2", [(0, 5)], [])])


def test_texts_that_neither_marked_are_left_out_and_counted():
    found = annotator_agreement([unit("1", [], [])], [unit("2", [(0, 3)], [])], draws=3)
    assert (found.documents.overlap, found.documents.n, found.documents.left_out) == (0.0, 1, 0)
    assert (found.summaries.overlap, found.summaries.chance, found.summaries.n, found.summaries.left_out) == (
        None,
        None,
        0,
        1,
    )


def test_chance_of_whole_texts_is_1():
    # highlights of 10 of the 10 letters, always one: random ones are the whole text, too
    both = [unit(n, [(0, 12)], []) for n in "12"]
    assert annotator_agreement(both[:1], both[1:], draws=5).documents.chance == 1.0


def test_chance_of_single_letters_is_the_chance_to_meet():
    # one of ten letters each: they meet in a tenth of the drawings; six standard deviations of 2,000 are 0.04
    both = [unit("1", [(2, 3)], []), unit("2", [(9, 10)], [])]
    found = annotator_agreement(both[:1], both[1:], draws=2000, seed=3)
    assert found.documents.chance == pytest.approx(0.1, abs=0.04)
    assert found.documents.chance == annotator_agreement(both[:1], both[1:], draws=2000, seed=3).documents.chance


def test_chance_is_of_the_texts_that_the_overlap_is_of():
    # in ten letters single ones meet in a tenth of the drawings; that nobody marked the long document must not matter
    long = "abcdefghij" * 50
    a = [unit("1", [(2, 3)], []), unit("1", [], [], long)]
    b = [unit("2", [(9, 10)], []), unit("2", [], [], long)]
    found = annotator_agreement(a, b, draws=2000, seed=3).documents
    assert (found.n, found.left_out) == (1, 1)
    assert found.chance == annotator_agreement(a[:1], b[:1], draws=2000, seed=3).documents.chance


def test_documents_that_differ_in_white_space_are_not_shared_because_places_would_be_off():
    spaced = "abcde \n\nfghij"
    a, b = [unit("1", [(7, 12)], [])], [unit("2", [(8, 13)], [], spaced)]
    with pytest.raises(DataError, match="no document in common"):
        annotator_agreement(a, b)
