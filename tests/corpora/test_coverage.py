"""The coverage-fairness formats: documents, units, results in both layouts."""

import json
from pathlib import Path

import pytest

from evenhand.corpora.coverage import LABELS, CoverageResult, read_coverage_sets, read_results, read_units
from evenhand.errors import DataError


def an_entity(name="target_1", labels=(0, 1, 0)):
    reviews = [{"sentences": [f"Post {n}.", f"More of {n}."], "label": label} for n, label in enumerate(labels, 1)]
    return {"entity_id": name, "reviews": reviews}


def write(path: Path, *lines):
    path.write_text("".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines))
    return path


def test_labels_get_the_names_of_their_data_set(tmp_path):
    (documents,) = read_coverage_sets(write(tmp_path / "d.jsonl", an_entity()), "semeval", split="test")
    assert documents.id == "target_1"
    assert documents.split == "test"
    assert [d.attributes for d in documents.documents] == [{"stance": v} for v in ("support", "against", "support")]
    assert [d.id for d in documents.documents] == ["target_1/1", "target_1/2", "target_1/3"]
    assert documents.notes["values"] == {"stance": ["support", "against"]}


@pytest.mark.parametrize(
    ("name", "value"),
    [("amazon", "positive"), ("mitweet", "right"), ("article-bias", "right")],
)
def test_label_two_of_three_valued_data_sets(tmp_path, name, value):
    (documents,) = read_coverage_sets(write(tmp_path / "d.jsonl", an_entity(labels=(2,))), name)
    assert documents.documents[0].attributes == {LABELS[name].attribute: value}


def test_sentences_keep_their_borders_as_lines(tmp_path):
    entity = an_entity(labels=(0,))
    entity["reviews"][0]["sentences"] = ["Dr. Who\tcame. ", "", "He left."]
    (documents,) = read_coverage_sets(write(tmp_path / "d.jsonl", entity), "amazon")
    assert documents.documents[0].text == "Dr. Who came.\nHe left."


def test_review_ids_and_claims_are_kept(tmp_path):
    entity = {**an_entity(labels=(0, 1)), "claim": "Cheese is a fruit."}
    entity["reviews"][0]["review_id"], entity["reviews"][1]["review_id"] = "r9", 12
    (documents,) = read_coverage_sets(write(tmp_path / "d.jsonl", entity), "news-stance")
    assert [d.id for d in documents.documents] == ["r9", "12"]
    assert documents.topic == documents.notes["claim"] == "Cheese is a fruit."


def test_without_a_data_set_labels_stay_numbers(tmp_path):
    sets = read_coverage_sets(write(tmp_path / "d.jsonl", an_entity("a", (0, 2)), an_entity("b", (1,))))
    assert sets[0].documents[1].attributes == {"label": "2"}
    assert all(documents.notes["values"] == {"label": ["0", "1", "2"]} for documents in sets)


def test_every_wrong_line_is_listed(tmp_path):
    empty, twice, minus = an_entity("e", (0,)), an_entity("t", (0, 0)), an_entity("m", (-1,))
    empty["reviews"][0]["sentences"] = [" "]
    for review in twice["reviews"]:
        review["review_id"] = "same"
    path = write(
        tmp_path / "d.jsonl",
        an_entity("good"),
        an_entity("good"),
        an_entity("l", (2,)),
        empty,
        twice,
        minus,
        "{",
        {"x": 1},
    )
    with pytest.raises(DataError) as caught:
        read_coverage_sets(path, "semeval")
    lines = str(caught.value).splitlines()
    for number, line, part in zip(
        (2, 3, 4, 5, 6, 7, 8),
        lines,
        [
            "entity_id 'good' occurs in line 1 already",
            "review 1 has label 2; labels of this data set are 0 (support), 1 (against)",
            "review 1 has no text",
            "review ids occur more than once: same",
            "'reviews.0.label': should be greater than or equal to 0",
            "is not JSON",
            "'entity_id': is missing",
        ],
        strict=True,
    ):
        assert line.startswith(f"{path}:{number}: ")
        assert part in line


def test_an_unknown_data_set_is_refused_before_anything_is_read(tmp_path):
    with pytest.raises(DataError, match=r"'semevil' is not known; did you mean 'semeval'\? Known are amazon, mitweet"):
        read_coverage_sets(tmp_path / "absent.jsonl", "semevil")


def test_units_are_lists_of_texts(tmp_path):
    path = write(tmp_path / "u.json", {"a": ["It is red.", "It is big."], "b": []})
    assert read_units(path) == {"a": ("It is red.", "It is big."), "b": ()}
    with pytest.raises(DataError) as caught:
        read_units(write(tmp_path / "w.json", {"a": "It is red.", "b": [1], "c": []}))
    assert str(caught.value).count("is no list of texts") == 2
    with pytest.raises(DataError, match="holds no JSON object of lists of units"):
        read_units(write(tmp_path / "l.json", [["a"]]))


def test_both_layouts_of_results_become_one_record(tmp_path):
    path = write(tmp_path / "r.json", {"a": [0.03, [0.01, -0.05], [5, 1], 0.4], "b": [0.5, [[-0.1, 0.1], [4, 4]]]})
    assert read_results(path) == [
        CoverageResult(set_id="a", ec=0.03, difference=(0.01, -0.05), counts=(5, 1), overall=0.4),
        CoverageResult(set_id="b", ec=0.5, difference=(-0.1, 0.1), counts=(4, 4), overall=None),
    ]


def test_what_is_undefined_in_a_result_is_none(tmp_path):
    # an absent value's difference means nothing, whatever number stands there
    path = write(tmp_path / "r.json", '{"a": [NaN, [0.0, -0.2], [0, 8], NaN]}')
    assert read_results(path) == [
        CoverageResult(set_id="a", ec=None, difference=(None, -0.2), counts=(0, 8), overall=None)
    ]


def test_results_in_neither_layout_are_listed(tmp_path):
    path = write(tmp_path / "r.json", {"a": [0.1, 0.2], "b": [0.1, [0.1], [1, 2], 0.3], "c": ["x", [[0.1], [1]]]})
    with pytest.raises(DataError) as caught:
        read_results(path)
    lines = str(caught.value).splitlines()
    assert len(lines) == 3
    assert "'a': [0.1, 0.2] has neither layout" in lines[0]
    assert "'b': has 1 differences and 2 counts" in lines[1]
    assert "'c': 'ec'" in lines[2]
