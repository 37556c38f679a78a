"""Controlled sets. The texts here are invented; the authors' may not be shipped."""

import json

import pytest

from evenhand.corpora.controlled import ControlledSet, ControlledSummary, GroundTruth, ground_truth, read_controlled
from evenhand.errors import DataError
from evenhand.storage import write_jsonl

PASSAGES = ["The ferry is cheap.", "Nurses need it."]


def summary(text, relevant, opposite=0, adversarial=0, coverage=None, faithfulness=None):
    n = relevant + opposite + adversarial
    return {
        "summary": text,
        "coverage": relevant / 2 if coverage is None else coverage,
        "faithfulness": relevant / n if faithfulness is None else faithfulness,
        "evidence_counts": {"adversarial": adversarial, "relevant": relevant, "opposite": opposite},
    }


def entry(*summaries):
    return {"source": PASSAGES, "summaries": list(summaries) or [summary("Both.", 2), summary("Dear.", 1, 2)]}


def write(path, value):
    path.write_text(json.dumps(value))
    return path


def test_released_entries_become_sets_with_their_truths(tmp_path):
    (found,) = read_controlled(write(tmp_path / "c.json", [entry()]))
    assert (found.n_key_points, found.topic, found.side) == (2, "", None)
    assert found.source == "The ferry is cheap.\nNurses need it."
    # 2 of 2 and 2 of 2; 1 of 2 and 1 of 3
    assert [(t.coverage, t.faithfulness) for t in found.truths] == [(1.0, 1.0), (0.5, pytest.approx(1 / 3))]


def test_mistakes_of_both_released_files_are_listed_together(tmp_path):
    path, evidence = write(tmp_path / "c.json", [{"source": []}]), write(tmp_path / "e.json", [{"topic": "Ferry"}])
    with pytest.raises(DataError, match=r"(?s)c\.json: entry 1: .*e\.json: entry 1: "):
        read_controlled(path, evidence)


def test_the_evidence_file_adds_topic_and_key_points(tmp_path):
    evidence = {"topic": "Ferry", "source": PASSAGES, "excerpts": [], "evidence": {"relevant": ["Cheap.", "Needed."]}}
    path = write(tmp_path / "c.json", [entry()])
    (found,) = read_controlled(path, write(tmp_path / "e.json", [evidence]))
    assert (found.topic, found.key_points) == ("Ferry", ("Cheap.", "Needed."))
    with pytest.raises(DataError, match="entry 1: its passages are not those"):
        read_controlled(path, write(tmp_path / "e.json", [{**evidence, "source": ["Other."]}]))
    with pytest.raises(DataError, match="has 2 entries"):
        read_controlled(path, write(tmp_path / "e.json", [evidence, evidence]))


@pytest.mark.parametrize(
    ("wrong", "part"),
    [
        (summary("x", 1, coverage=0.4), "summary 2: coverage is 0.4, but its counts give 0.5"),
        (summary("x", 1, 1, faithfulness=1.0), "summary 2: faithfulness is 1.0, but its counts give 0.5"),
        (summary("x", 3), "3 relevant"),
    ],
)
def test_values_that_contradict_their_counts_are_refused(tmp_path, wrong, part):
    with pytest.raises(DataError, match=f"entry 1: .*{part}"):
        read_controlled(write(tmp_path / "c.json", [entry(summary("Both.", 2), wrong)]))


def test_without_a_full_summary_the_number_of_key_points_cannot_be_told(tmp_path):
    with pytest.raises(DataError, match="is unknown; give the evidence file"):
        read_controlled(write(tmp_path / "c.json", [entry(summary("x", 1))]))


def test_all_wrong_entries_are_listed_by_number(tmp_path):
    path = write(tmp_path / "c.json", [{}, entry(), {"source": [], "summaries": []}])
    with pytest.raises(DataError) as caught:
        read_controlled(path)
    assert [line.split(": ")[1] for line in str(caught.value).splitlines()] == ["entry 1", "entry 3"]


def controlled(**changes):
    values = {"id": "a", "passages": PASSAGES, "n_key_points": 2, "summaries": [{"text": "Both.", "relevant": 2}]}
    return ControlledSet.model_validate(values | changes)


def test_sets_of_json_lines_are_read_back(tmp_path):
    sets = [controlled(side="left", topic="Ferry"), controlled(id="b")]
    write_jsonl(tmp_path / "sets.jsonl", sets)
    assert read_controlled(tmp_path / "sets.jsonl") == sets
    assert sets[0].summaries == (ControlledSummary(text="Both.", relevant=2),)


def test_a_set_must_agree_with_itself_and_its_id_be_its_own(tmp_path):
    with pytest.raises(ValueError, match="3 relevant points, but the article only 2"):
        controlled(summaries=[{"text": "x", "relevant": 3}])
    with pytest.raises(ValueError, match="1 key points are listed"):
        controlled(key_points=["one"])
    write_jsonl(tmp_path / "sets.jsonl", [controlled(), controlled()])
    with pytest.raises(DataError, match="id 'a' occurs in line 1 already"):
        read_controlled(tmp_path / "sets.jsonl")
    write_jsonl(tmp_path / "none.jsonl", [])
    with pytest.raises(DataError, match="is empty"):
        read_controlled(tmp_path / "none.jsonl")


def test_without_the_evidence_file_the_released_sets_have_the_same_truths(polisum):
    plain = read_controlled(polisum / "controlled_dev.json")
    full = read_controlled(polisum / "controlled_dev.json", polisum / "evidence_dev.json")
    assert [each.truths for each in plain] == [each.truths for each in full]


def test_ground_truth_worked_by_hand():
    # 3 of 4 key points; 3 of 3 + 2 + 1 points
    assert ground_truth(4, 3, 2, 1) == GroundTruth(coverage=0.75, faithfulness=0.5)


def test_what_cannot_be_told_is_none_and_not_a_number():
    assert ground_truth(0, 0, 1, 0) == GroundTruth(None, 0.0)
    assert ground_truth(4, 0, 0, 0) == GroundTruth(0.0, None)


@pytest.mark.parametrize("counts", [(2, 3, 0, 0), (2, 1, -1, 0), (-1, 0, 0, 0)])
def test_impossible_counts_are_refused(counts):
    with pytest.raises(DataError, match="counts are at least 0, and relevant is at most"):
        ground_truth(*counts)
