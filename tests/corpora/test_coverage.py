"""Documents of coverage fairness become document sets."""

import json
from pathlib import Path

import pytest

from evenhand.corpora.coverage import LABELS, read_coverage_sets, read_units
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
    assert documents.sentences_of(documents.documents[0]) == ("Dr. Who came.", "He left.")


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


def test_a_label_is_no_number_of_documents(tmp_path):
    # taken for the highest of its labels, it would declare a thousand million values
    path = write(tmp_path / "d.jsonl", an_entity("a", (0, 1_000_000_000)), an_entity("b", (99,)))
    with pytest.raises(DataError) as caught:
        read_coverage_sets(path)
    assert str(caught.value) == f"{path}:1: review 2 has label 1000000000; labels are numbers from 0, at most 99"


def test_blank_ids_are_refused(tmp_path):
    entity = an_entity("a", (0,))
    entity["reviews"][0]["review_id"] = " "
    path = write(tmp_path / "d.jsonl", entity, an_entity(" ", (0,)), an_entity("", (0,)))
    with pytest.raises(DataError) as caught:
        read_coverage_sets(path)
    places = [line.partition(": is empty")[0] for line in str(caught.value).splitlines()]
    assert places == [f"{path}:1: 'reviews.0.review_id'", f"{path}:2: 'entity_id'", f"{path}:3: 'entity_id'"]


@pytest.mark.parametrize("value", ["9" * 5000, "[" * 5000, r'"\ud800"'])
def test_json_that_cannot_be_worked_with_is_listed(tmp_path, value):
    path = write(
        tmp_path / "d.jsonl",
        '{"entity_id": "e", "reviews": [{"sentences": ["x"], "label": VALUE}]}'.replace("VALUE", value),
    )
    with pytest.raises(DataError, match=r"d\.jsonl:1: "):
        read_coverage_sets(path)


def units(folder, content):
    path = folder / "units.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def test_units_come_in_the_order_of_the_sets_and_sets_without_any_are_left_out(tmp_path):
    path = units(tmp_path, {"b": ["It is  cheap.\n", " "], "x": ["Of another file."], "a": []})
    found = read_units(path, ["a", "b", "c"])
    assert list(found.items()) == [("a", ()), ("b", ("It is cheap.",))]


def test_all_wrong_entries_are_listed(tmp_path):
    path = units(tmp_path, {"a": "One.", "b": ["One.", 2], "c": [None], "d": ["Fine."]})
    with pytest.raises(DataError) as caught:
        read_units(path, ["a"])
    assert str(caught.value).splitlines() == [
        f"{path}: 'a': 'One.' is not a list of texts",
        f"{path}: 'b': ['One.', 2] is not a list of texts",
        f"{path}: 'c': [None] is not a list of texts",
    ]


@pytest.mark.parametrize(
    ("content", "match"),
    [
        ([["One."]], "is not a JSON object of units"),
        ('{"a": [], "a": []}', "key 'a' twice"),
        ({"setA": ["One."]}, "none of the document sets, but of 'setA'; did you mean 'set-A'"),
        ({}, "none of the document sets"),
    ],
)
def test_a_file_of_something_else_is_refused(tmp_path, content, match):
    with pytest.raises(DataError, match=match):
        read_units(units(tmp_path, content), ["set-A"])
