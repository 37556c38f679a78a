"""Dialogue sets out of transcripts."""

import gzip
import json

import pytest

from evenhand.errors import DataError
from evenhand.fairness.groups.preparation import SpokenTurn
from evenhand.plugins.perspectivesumm.dialogue import build_dialogues, read_court, read_debates


def count(text):
    return len(text.split())


TALK = {
    "talk": (
        SpokenTurn("Ann", ("one two", "three")),
        SpokenTurn("Bo", ("four: five",)),
        SpokenTurn("Ann", ("six seven eight nine",)),
        SpokenTurn("Bo", ("ten",)),
    )
}


def texts(sets):
    return [[d.text for d in documents.documents] for documents in sets]


def test_a_turn_that_overflows_opens_a_segment_and_is_not_charged_to_it():
    # turns have 5, 4, 6 and 3 words, names and colons counted; limit 9: 5 + 4 fit, the third opens the second
    # segment at 0, where 3 more fit
    sets = build_dialogues(TALK, 9, count)
    assert texts(sets) == [
        ["Ann : one two three", "Bo : four: five"],
        ["Ann : six seven eight nine", "Bo : ten"],
    ]
    assert [documents.id for documents in sets] == ["talk-01", "talk-02"]


def test_exact_charges_it():
    # the third turn counts 6, with the fourth's 3 that is 9, which still fits; with limit 8 it does not
    assert [len(segment) for segment in texts(build_dialogues(TALK, 9, count, exact=True))] == [2, 2]
    assert [len(segment) for segment in texts(build_dialogues(TALK, 8, count, exact=True))] == [1, 1, 1, 1]
    assert [len(segment) for segment in texts(build_dialogues(TALK, 8, count))] == [1, 2, 1]


def test_a_first_turn_over_the_limit_leaves_no_empty_set():
    # 5 words are over 4: the released rule emits an empty segment, then the second turn's 4 are counted from 0
    assert [len(segment) for segment in texts(build_dialogues(TALK, 4, count))] == [2, 2]


def test_without_limit_a_dialogue_is_one_set():
    (documents,) = build_dialogues(TALK, None, count)
    assert len(documents.documents) == 4


def test_speakers_are_values_in_order_of_their_first_turn():
    (documents,) = build_dialogues(TALK, None, count)
    assert documents.notes["values"] == {"speaker": ["Ann", "Bo"]}
    assert documents.notes["separator"] == "\n"
    assert [d.attributes["speaker"] for d in documents.documents] == ["Ann", "Bo", "Ann", "Bo"]


def test_debates_are_read_from_the_release(tmp_path):
    path = tmp_path / "iq2.json"
    turn = {"speaker": "John Don: Moderator", "paragraphs": ["Welcome.", "Sit down."], "segment": 0}
    path.write_text(json.dumps({"d1": {"title": "x", "transcript": [turn]}}))
    debates = read_debates(path).dialogues
    assert debates == {"d1": (SpokenTurn("John Don: Moderator", ("Welcome.", "Sit down.")),)}
    (documents,) = build_dialogues(debates, 1500, count)
    # the value is what stands before the first colon
    assert documents.documents[0].attributes == {"speaker": "John Don"}
    assert documents.documents[0].text == "John Don: Moderator : Welcome. Sit down."


def test_wrong_debates_are_listed(tmp_path):
    path = tmp_path / "iq2.json"
    path.write_text(json.dumps({"d1": {"transcript": [{"speaker": "A"}]}, "d2": {}}))
    with pytest.raises(DataError, match=r"'d1\.transcript\.0\.paragraphs': is missing; 'd2\.transcript': is missing"):
        read_debates(path)
    path.write_text(json.dumps({"d1": {"transcript": [{"speaker": " ", "paragraphs": ["x"]}]}}))
    with pytest.raises(DataError, match="'d1': turn 1 has no speaker"):
        read_debates(path)


def court_line(case, speaker, text):
    return " +++$+++ ".join((case, "0", "FALSE", speaker, "JUSTICE", "NA", "PETITIONER", text)) + "\n"


def test_court_cases_are_read_in_order_of_their_first_turn(tmp_path):
    path = tmp_path / "court.txt"
    lines = (
        court_line("9", "JUSTICE A", "Order.") + court_line("3", "MR. B", "Yes.") + court_line("9", "MR. C", "S\u00ed.")
    )
    path.write_bytes(lines.encode("latin-1"))
    found = read_court(path).dialogues
    assert list(found) == ["9", "3"]
    assert found["9"] == (SpokenTurn("JUSTICE A", ("Order.",)), SpokenTurn("MR. C", ("S\u00ed.",)))
    found = read_court(path, limit=1)
    assert list(found.dialogues) == ["9"]
    assert found.left_out == {"cases: beyond the first 1": 1}


def test_wrong_court_lines_are_listed(tmp_path):
    path = tmp_path / "court.txt"
    path.write_text(court_line("9", "A", "Order.") + "9 +++$+++ 1\n" + court_line("9", " ", "Who?"))
    with pytest.raises(DataError) as caught:
        read_court(path)
    assert [line.split(": ")[0] for line in str(caught.value).splitlines()] == [f"{path}:2", f"{path}:3"]


def test_a_hundred_cases_are_taken_and_the_others_counted(tmp_path):
    path = tmp_path / "court.txt"
    path.write_text("".join(court_line(str(case), "A", "Order.") for case in range(150)))
    found = read_court(path)
    assert len(found.dialogues) == 100
    assert found.left_out == {"cases: beyond the first 100": 50}
    assert len(read_court(path, limit=None).dialogues) == 150


def test_empty_fields_at_the_ends_of_a_line_shift_no_column(tmp_path):
    path = tmp_path / "court.txt"
    path.write_text(court_line("9", "A", "Order.") + court_line("9", "B", "") + court_line("", "C", "Whose?"))
    with pytest.raises(DataError) as caught:
        read_court(path)
    assert str(caught.value) == f"{path}:3: has no case in its first field; name one"
    path.write_text(court_line("9", "A", "Order.") + court_line("9", "B", ""))
    found = read_court(path)
    # not "PETITIONER", which is the field before
    assert found.dialogues == {"9": (SpokenTurn("A", ("Order.",)),)}
    assert found.left_out == {"turns: no text": 1}


def test_a_packed_transcript_is_read(tmp_path):
    path = tmp_path / "court.txt.gz"
    path.write_bytes(gzip.compress(court_line("9", "A", "Order.").encode()))
    assert list(read_court(path).dialogues) == ["9"]


@pytest.mark.parametrize("content", ["", "\n", court_line("9", "A", " ")])
def test_a_court_transcript_of_nothing_is_refused(tmp_path, content):
    path = tmp_path / "court.txt"
    path.write_text(content)
    with pytest.raises(DataError, match="holds no turn with text"):
        read_court(path)


@pytest.mark.parametrize(
    ("content", "match"),
    [
        ("{}", "holds no turn with text"),
        ('{"d1": {"transcript": []}}', r"'d1\.transcript': needs at least 1, and there are 0"),
        ('{"d1": {"transcript": [{"speaker": "A", "paragraphs": [" "]}]}}', "holds no turn with text"),
        ('{"": {"transcript": [{"speaker": "A", "paragraphs": ["x"]}]}}', "is empty; give it some text"),
        ('{"d1": {}, "d1": {}}', "the key 'd1' twice"),
        (r'{"d1": {"transcript": [{"speaker": "A", "paragraphs": ["\ud800"]}]}}', "half a character"),
        ('{"d1": ' + "[" * 5000, "nested too deeply"),
    ],
)
def test_debates_of_which_no_sets_can_be_made_are_refused(tmp_path, content, match):
    path = tmp_path / "iq2.json"
    path.write_text(content)
    with pytest.raises(DataError, match=match):
        read_debates(path)


def test_nameless_turns_are_counted_after_the_first_twenty(tmp_path):
    path = tmp_path / "iq2.json"
    path.write_text(json.dumps({"d1": {"transcript": [{"speaker": " ", "paragraphs": ["x"]}] * 900}}))
    with pytest.raises(DataError) as caught:
        read_debates(path)
    assert str(caught.value).splitlines()[20:] == ["... and 880 more"]
