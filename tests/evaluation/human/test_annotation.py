import pytest

from evenhand.errors import DataError
from evenhand.evaluation.human import read_annotation


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
