"""ThemeFinder's files, made up in the form of i-dot-ai/themefinder 0.8.2, and the card of a consultation's data."""

import json
import re
from functools import partial
from pathlib import Path

import pytest
from commands import invoked

from evenhand.errors import EvenhandError
from evenhand.plugins.consultations.themefinder import read_themefinder

THEMES = [
    {
        "topic_id": "A",
        "topic_label": "Fares",
        "topic_description": "They cost too much.",
        "topic": "Fares: They cost too much.",
    },
    {"topic_id": "B", "topic": "Night buses: None run at night.", "source_topic_count": 3},
]
RESPONSES = [
    {"response_id": 1, "response": "Lower the fares and run buses at night."},
    {"response_id": 2, "response": "Fares are fine."},
    {"response_id": 3, "response": "I like trams."},
    {"response_id": 4, "response": "Not Provided"},
]
PART, RESULT = "inputs/question_part_1", "outputs/mapping/2026-05-07/question_part_1"
MAPPING = [
    {"response_id": 1, "labels": ["A", "B"], "stances": ["POSITIVE", "NEUTRAL"]},
    {"response_id": 2, "labels": ["A"], "stances": ["NEGATIVE"]},
]
PEOPLE = [{"response_id": k, "demographic_data": {"Where do you live?": "town" if k % 2 else None}} for k in (1, 2, 3)]


def lines(path: Path, records) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{json.dumps(record)}\n" for record in records))


@pytest.fixture
def folder(tmp_path):
    root = tmp_path / "buses"
    part, result = root / PART, root / RESULT
    lines(part / "responses.jsonl", RESPONSES)
    (part / "question.json").write_text(json.dumps({"question_number": 1, "question_text": "What of\nthe buses?"}))
    lines(root / "inputs/respondents.jsonl", PEOPLE)
    lines(result / "mapping.jsonl", MAPPING)
    lines(
        result / "sentiment.jsonl",
        [{"response_id": 1, "position": "AGREE"}, {"response_id": 2, "position": "DISAGREE"}],
    )
    (result / "themes.json").write_text(json.dumps(THEMES))
    return root


def attributes(consultation, place=0):
    return {document.id: document.attributes for document in consultation.sets[place].documents}


def test_responses_have_their_themes_stances_positions_and_answers(folder):
    found = read_themefinder(folder)
    assert (found.sets[0].id, found.sets[0].topic) == ("question_part_1", "What of the buses?")
    assert attributes(found) == {
        "1": {"Where do you live?": "town", "Fares": "POSITIVE", "Night buses": "NEUTRAL", "position": "AGREE"},
        "2": {
            "Where do you live?": "no answer",
            "Fares": "NEGATIVE",
            "Night buses": "not named",
            "position": "DISAGREE",
        },
        "3": {
            "Where do you live?": "town",
            "Fares": "not named",
            "Night buses": "not named",
            "position": "no position",
        },
    }
    assert found.left_out == {"responses without a text": 1}
    assert found.votes == []


def test_the_names_of_its_setup_script_are_read_too_and_files_of_results_may_be_absent(folder):
    lines(folder / "inputs/question_part_2/responses.jsonl", [{"themefinder_id": 1, "text": "Trams."}])
    found = read_themefinder(folder)
    assert [documents.id for documents in found.sets] == ["question_part_1", "question_part_2"]
    # another question's themes were not asked of it, and it can be audited by them all the same
    assert attributes(found, 1)["1"] == {
        "Where do you live?": "town", "Fares": "not asked", "Night buses": "not asked", "position": "not asked",
    }  # fmt: skip


def test_the_last_date_of_a_question_counts_and_a_theme_without_stances_is_named(folder):
    result = folder / "outputs/mapping/2026-06-01/question_part_1"
    lines(result / "mapping.jsonl", [{"response_id": 3, "labels": ["T"]}])
    (result / "themes.json").write_text(json.dumps([{"topic_id": "T", "topic_label": "Trams"}]))
    (folder / "outputs/mapping/2026-07-01").mkdir()
    assert [values["Trams"] for values in attributes(read_themefinder(folder)).values()] == [
        "not named",
        "not named",
        "named",
    ]


def test_themes_of_one_name_are_told_apart(folder):
    path = folder / RESULT / "themes.json"
    path.write_text(json.dumps([THEMES[0], THEMES[0] | {"topic_id": "B"}]))
    assert {"Fares (A)", "Fares (B)"} < set(attributes(read_themefinder(folder))["1"])


def test_a_theme_called_position_is_not_lost(folder):
    path = folder / RESULT / "themes.json"
    path.write_text(json.dumps([{"topic_id": "A", "topic_label": "position"}, *THEMES[1:]]))
    first = attributes(read_themefinder(folder))["1"]
    assert (first["position (A)"], first["position"]) == ("POSITIVE", "AGREE")


def test_an_answer_of_the_name_of_a_theme_is_not_lost(folder):
    answers = {"Fares": "monthly", "position": "clerk"}
    lines(folder / "inputs/respondents.jsonl", [{"response_id": 1, "demographic_data": answers}])
    first = attributes(read_themefinder(folder))["1"]
    assert (first["Fares (of the person)"], first["position (of the person)"]) == ("monthly", "clerk")
    assert (first["Fares"], first["position"]) == ("POSITIVE", "AGREE")


def test_what_is_mapped_and_is_not_there_is_counted(folder):
    lines(folder / "inputs/question_part_1/responses.jsonl", RESPONSES[:1])
    assert read_themefinder(folder).left_out == {"responses that were mapped and are not there": 1}


@pytest.mark.parametrize(
    ("file", "records", "message"),
    [
        (f"{PART}/responses.jsonl", [*RESPONSES, RESPONSES[0]], r"responses\.jsonl:5: response '1' stands in line 1"),
        (f"{PART}/responses.jsonl", [{"response_id": 1}], r"responses\.jsonl:1: .*response"),
        (f"{RESULT}/mapping.jsonl", [MAPPING[0] | {"stances": ["POSITIVE"]}], "2 labels and 1 stances"),
        (f"{RESULT}/mapping.jsonl", [{"response_id": 1, "labels": ["Z"]}], "'Z' of response 1"),
        (f"{RESULT}/mapping.jsonl", [{"response_id": 1, "labels": ["A", "A"]}], "theme 'A' is there twice"),
        (f"{RESULT}/themes.json", [THEMES[0], THEMES[0]], "topic_id 'A' stands there twice"),
        (f"{RESULT}/themes.json", [{"topic_id": ""}], "is no list of themes.*topic_id"),
        (f"{RESULT}/themes.json", ["A"], "is no list of themes"),
    ],
)  # fmt: skip
def test_wrong_files_are_refused_with_their_place(folder, file, records, message):
    lines(folder / file, records)
    if file.endswith(".json"):
        (folder / file).write_text(json.dumps(records))
    with pytest.raises(EvenhandError, match=message):
        read_themefinder(folder)


def test_a_folder_of_something_else_is_refused(tmp_path):
    with pytest.raises(EvenhandError, match=r"has no inputs/question_part_\*/responses\.jsonl"):
        read_themefinder(tmp_path)


imported = partial(invoked, "import")


def test_themefinder_is_imported_with_a_card_without_votes(folder, tmp_path):
    done = imported("themefinder", folder, "--out", tmp_path / "b.jsonl", "--card", tmp_path / "b.md")
    assert "3 statements" in done.output and "left out: 1 response without a text" in done.output
    card = (tmp_path / "b.md").read_text()
    assert card.startswith("# The data of question_part_1\n") and "| AGREE | 1 |" in card and "| voters" not in card
    with pytest.raises(EvenhandError, match=r"--card .*b\.md: already exists"):
        imported("themefinder", folder, "--out", tmp_path / "c.jsonl", "--card", tmp_path / "b.md")
    with pytest.raises(EvenhandError, match=r"ends in \.md"):
        imported("themefinder", folder, "--out", tmp_path / "c.jsonl", "--card", tmp_path / "b.txt")


def test_the_card_of_votes_counts_groups_and_what_was_left_out(tmp_path):
    town = tmp_path / "town"
    town.mkdir()
    comments = "comment-id,author-id,moderated,comment-body\n0,1,1,<b>Trams</b> @all.\n1,2,-1,No.\n2,2,1,Buses.\n"
    (town / "comments.csv").write_text(comments)
    (town / "participants-votes.csv").write_text("participant,group-id,0,1,2\n1,0,1,1,0\n2,1,-1,,1\n3,0,1,,\n")
    imported("polis", town, "--out", tmp_path / "t.jsonl", "--votes", tmp_path / "v.jsonl", "--card", tmp_path / "t.md")
    card = (tmp_path / "t.md").read_text()
    # group 0: two people with two votes that agree and one that passes; group 1 one of each
    assert "| group 0 | 1 | 2 | 2 | 0 | 1 | 1.5 |" in card and "| group 1 | 1 | 1 | 1 | 1 | 0 | 2.0 |" in card
    assert re.search(r"\| statements that a moderator rejected \| 1 \|", card)
    assert "2 texts in 1 document set, 5 votes of 3 voters" in card
    assert "- t.jsonl: `" in card and "- v.jsonl: `" in card and "licence: unknown" in card
