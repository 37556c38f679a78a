import json

import pytest

from evenhand.errors import DataError
from evenhand.plugins.judge_studies.people.agreement import annotator_agreement
from evenhand.plugins.judge_studies.people.annotations.annotation import (
    Span,
    place_span,
    read_annotation,
    read_human,
)
from evenhand.plugins.judge_studies.people.results import human_results
from evenhand.resampling import Bootstrap


def span(start, label):
    return {"start": start, "end": start + len(label), "label": label}


RECORD = {
    "highlight_document": [[[span(0, "one")], [], [span(9, " ")], [span(20, "two"), span(30, "three")]], [[], [span(40, "red")]]],
    "highlight_summary_a-b": ["first", "", "second"],
    # key points 1 and 2 have no label, and point 1 of the summary no text: they have no flags
    "in_doc_nin_summary_a-b_0": True,
    "in_doc_nin_summary_a-b_3": False,
    "nin_doc_in_summary_a-b_0": False,
    "nin_doc_in_summary_a-b_2": True,
    "comment": "other keys are nobody's business",
}  # fmt: skip


def test_key_points_without_a_label_are_ignored_and_flags_keep_their_places():
    found = read_annotation(RECORD)
    assert [[part.label for part in point] for point in found.key_points] == [["one"], ["two", "three"]]
    assert [[part.label for part in point] for point in found.without] == [["red"]]
    marks = found.summaries["a-b"]
    assert (marks.points, marks.omitted, marks.hallucinated) == (("first", "second"), (True, False), (False, True))


def test_all_missing_and_wrong_flags_are_listed():
    record = {**RECORD, "in_doc_nin_summary_a-b_0": "yes"}
    del record["nin_doc_in_summary_a-b_2"]
    with pytest.raises(DataError) as caught:
        read_annotation(record)
    assert str(caught.value).splitlines() == [
        "'in_doc_nin_summary_a-b_0' needs true or false, got 'yes'",
        "'nin_doc_in_summary_a-b_2' needs true or false, got None",
    ]


@pytest.mark.parametrize("highlights", [None, [], [[[{"start": 5, "end": 2, "label": "x"}]], []], [[["x"]], []]])
def test_highlights_that_cannot_be_understood_are_refused(highlights):
    with pytest.raises(DataError, match="'highlight_document' needs key points"):
        read_annotation({**RECORD, "highlight_document": highlights})


def test_a_summary_without_a_list_of_points_is_refused():
    with pytest.raises(DataError, match="'highlight_summary_a-b' needs a list of texts"):
        read_annotation({**RECORD, "highlight_summary_a-b": "first"})


STORED = "Keep the ferry.\nNurses need it."
SHOWN = "Keep the ferry.\n\nNurses need it."
ITEM = {
    "topic": "Ferry",
    "stance": "left",
    "input": "-",
    "document": STORED,
    "summaries": {"pine": "The Left keeps it."},
}


def marks(**changes):
    record = {
        "highlight_document": [[[{"start": 0, "end": 14, "label": "Keep the ferry"}], []], []],
        "highlight_summary_pine": ["keeps it"],
        "in_doc_nin_summary_pine_0": False,
        "nin_doc_in_summary_pine_0": True,
    }
    return record | changes


def read(tmp_path, records, items):
    (tmp_path / "marks.json").write_text(json.dumps(records))
    (tmp_path / "items.json").write_text(json.dumps(items))
    return read_human(tmp_path / "marks.json", tmp_path / "items.json", "1")


@pytest.mark.parametrize(
    "span",
    [
        # offsets into the shown text, into the stored one, and one character off
        Span(start=17, end=23, label="Nurses"),
        Span(start=16, end=22, label="Nurses"),
        Span(start=18, end=24, label="Nurses"),
        # with the blank line that stands before it
        Span(start=15, end=23, label="\n\nNurses"),
    ],
)
def test_a_span_is_found_whichever_text_its_offsets_count_in(span):
    assert place_span(span, SHOWN, STORED) == Span(start=17, end=23, label="Nurses")
    assert SHOWN[17:23] == "Nurses"


def test_of_several_places_the_nearest_is_taken():
    # "it" at 2, 7 and 12; 11 gives " i"
    assert place_span(Span(start=11, end=13, label="it"), "a it b it c it", "a it b it c it").start == 12


def test_a_label_that_stands_nowhere_is_refused():
    with pytest.raises(DataError, match="'bridge' is not in the document"):
        place_span(Span(start=0, end=6, label="bridge"), SHOWN, STORED)


def test_a_unit_has_what_was_shown_and_what_was_marked(tmp_path):
    (unit,) = read(tmp_path, [marks()], [ITEM])
    assert (unit.annotator, unit.number, unit.topic, unit.side) == ("1", 1, "Ferry", "left")
    assert unit.document == SHOWN
    assert unit.passages == ["Keep the ferry.", "Nurses need it."]
    assert unit.annotation.key_points == ((Span(start=0, end=14, label="Keep the ferry"),),)
    assert unit.summaries == {"pine": "The Left keeps it."}


def test_all_wrong_entries_are_listed_by_number(tmp_path):
    unknown = marks(highlight_document=[[[{"start": 0, "end": 4, "label": "None"}]], []])
    other = {**ITEM, "summaries": {"debate": "The Left."}}
    with pytest.raises(DataError) as caught:
        read(tmp_path, [marks(), unknown, marks(), marks()], [ITEM, ITEM, other, {**ITEM, "stance": "up"}])
    lines = str(caught.value).splitlines()
    assert len(lines) == 3
    assert "entry 2: the marked text 'None'" in lines[0]
    assert "entry 3: summaries of ['pine'] are marked, but those of ['debate'] were shown" in lines[1]
    assert "items.json: entry 4: 'stance'" in lines[2]


def test_files_of_different_length_are_refused(tmp_path):
    with pytest.raises(DataError, match="belong together one by one"):
        read(tmp_path, [marks()], [])


# docs/papers.md#ri-values: coverage, faithfulness, included, omitted, hallucinated
PEOPLE = {
    "baseline": (0.3616, 0.6728, 1.778, 3.000, 0.667),
    "self_refine": (0.3735, 0.6281, 1.815, 2.963, 0.685),
    "debate": (0.3849, 0.6543, 1.815, 2.963, 0.611),
    "pine": (0.3428, 0.6667, 1.630, 3.148, 0.667),
    "baseline-reranking": (0.4196, 0.6790, 2.019, 2.759, 0.648),
    "dpo-7c326c564f80b421-reranking": (0.4673, 0.7377, 2.259, 2.519, 0.593),
}


@pytest.fixture(scope="session")
def people(polisum):
    """The units of annotators 1 to 3."""
    return {n: read_human(polisum / f"human_{n}.json", polisum / f"human_items_{n}.json", str(n)) for n in (1, 2, 3)}


def test_every_mark_of_the_released_files_is_found_in_its_document(people):
    for unit in (unit for units in people.values() for unit in units):
        for span in (span for point in unit.annotation.key_points for span in point):
            assert unit.document[span.start : span.end] == span.label


def test_published_human_evaluation_is_reproduced(people):
    found = human_results([unit for units in people.values() for unit in units], {}, Bootstrap(resamples=100))
    assert sum(each.count for each in found.left_out) == 1
    numbers = {(each.system, each.measure): each for each in found.numbers if each.side is None}
    for method, (*shares, included, omitted, hallucinated) in PEOPLE.items():
        of = {measure: number for (system, measure), number in numbers.items() if system == method}
        assert (of["coverage"].n, of["faithfulness"].n) == (54, 54)
        assert [of["coverage"].value, of["faithfulness"].value] == pytest.approx(shares, abs=6e-5)
        counts = [of[measure].value for measure in ("included", "omitted", "hallucinated")]
        assert counts == pytest.approx([included, omitted, hallucinated], abs=6e-4)


def test_agreement_of_annotators_1_and_2_is_reproduced(people):
    found = annotator_agreement(people[1], people[2])
    assert found.shared == 5
    assert (found.documents.n, found.summaries.n) == (5, 30)
    assert found.documents.overlap == pytest.approx(0.795, abs=0.002)
    assert found.summaries.overlap == pytest.approx(0.924, abs=0.002)
    assert found.documents.chance < found.documents.overlap
    assert found.summaries.chance < found.summaries.overlap


def test_annotators_without_a_common_document_are_refused(people):
    with pytest.raises(DataError, match="no document in common"):
        annotator_agreement(people[1], people[3])
