"""Released sets: what they become, and that units and value texts must agree."""

import gzip
import json
from pathlib import Path

import pytest

from evenhand.errors import DataError, StorageError
from evenhand.fairness.labelled import LabelledSource, LabelledSummary
from evenhand.plugins.perspectivesumm import count_empty, read_perspectivesumm


def a_tweet_set():
    return {
        "units": [
            {"text": "I feel dizzy.", "value": {"gender": "male"}},
            {"text": "Works || for me!", "value": {"gender": "female"}},
            {"text": "No sneezing.", "value": {"gender": "male"}},
        ],
        "model_input": "Works || for me! || I feel dizzy. || No sneezing.",
        "meta": {"type": "tweets", "seperator": " || ", "num_tweets": 3, "male_ratio": 0.5},
        "value_input": {"gender": ["I feel dizzy. || No sneezing.", "Works || for me!"]},
        "value_mapping": {"gender": ["male", "female"]},
    }


def a_review_set():
    return {
        "units": [
            {"text": "Lovely.", "value": {"rating": 5, "sentiment": "pos"}, "group_id": "b7", "category": "cafe"},
            {"text": "Awful.", "value": {"rating": 1, "sentiment": "neg"}, "group_id": "b7", "category": "cafe"},
        ],
        "model_input": "Lovely. || Awful.",
        "meta": {"type": "tweets", "separator": " || ", "id": "b7.csv"},
        "value_input": {"rating": ["Awful.", "", "", "", "Lovely."], "sentiment": ["Lovely.", "", "Awful."]},
        "value_mapping": {"rating": [1, 2, 3, 4, 5], "sentiment": ["pos", "neu", "neg"]},
        "gold_summary": ["Mixed.", "Half and half.", "Split."],
    }


def a_dialogue_set():
    turns = ["ANN FOX : Good evening: welcome.", "Bo : Thanks.", "ANN FOX : So?"]
    return {
        "units": [
            {"text": t, "value": {"speaker": t.split(":")[0].strip()}, "content": t.split(":", 1)[1]} for t in turns
        ],
        "model_input": "\n".join(turns),
        "meta": {"type": "dialogue", "seperator": "\n"},
        "value_input": {"speaker": [f"{turns[0]}\n{turns[2]}", turns[1]]},
        "value_mapping": {"speaker": ["ANN FOX", "Bo"]},
    }


def write(path: Path, *sets):
    path.write_text(json.dumps(sets))
    return path


def value_texts(documents, attribute):
    """As the measures read a set: declared order and separator come from its notes."""
    labelled = LabelledSummary(
        id=documents.id,
        values=tuple(documents.notes["values"][attribute]),
        documents=tuple(LabelledSource(d.text, d.attributes[attribute]) for d in documents.documents),
        summary="",
        separator=documents.separator,
    )
    return list(labelled.value_texts())


@pytest.mark.parametrize("released", [a_tweet_set(), a_review_set(), a_dialogue_set()])
def test_the_texts_of_every_value_come_out_as_value_input_has_them(tmp_path, released):
    (documents,) = read_perspectivesumm(write(tmp_path / "a.json", released))
    for attribute, texts in released["value_input"].items():
        assert value_texts(documents, attribute) == texts


def test_documents_are_the_units_in_order_with_all_their_attributes(tmp_path):
    (documents,) = read_perspectivesumm(write(tmp_path / "cafes.json", a_review_set()), split="test")
    assert documents.id == "cafes-0001"
    assert documents.split == "test"
    assert [(d.id, d.text, d.attributes) for d in documents.documents] == [
        ("cafes-0001/1", "Lovely.", {"rating": "5", "sentiment": "pos"}),
        ("cafes-0001/2", "Awful.", {"rating": "1", "sentiment": "neg"}),
    ]
    assert documents.references == ("Mixed.", "Half and half.", "Split.")
    assert documents.notes["values"] == {"rating": ["1", "2", "3", "4", "5"], "sentiment": ["pos", "neu", "neg"]}
    assert documents.notes["meta"] == {"type": "tweets", "id": "b7.csv"}


def test_one_attribute_can_be_kept(tmp_path):
    (documents,) = read_perspectivesumm(write(tmp_path / "a.json", a_review_set()), "sentiment")
    assert documents.notes["values"] == {"sentiment": ["pos", "neu", "neg"]}
    assert documents.documents[0].attributes == {"sentiment": "pos"}


def test_both_spellings_of_the_separator_are_read(tmp_path):
    sets = read_perspectivesumm(write(tmp_path / "a.json", a_tweet_set(), a_review_set()))
    assert [documents.notes["separator"] for documents in sets] == [" || ", " || "]


def test_a_packed_file_gives_the_same_sets(tmp_path):
    plain = write(tmp_path / "a.json", a_tweet_set(), a_dialogue_set())
    packed = tmp_path / "a.json.gz"
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    assert read_perspectivesumm(packed) == read_perspectivesumm(plain)


def test_a_damaged_packed_file_is_told_as_such(tmp_path):
    packed = tmp_path / "a.json.gz"
    packed.write_bytes(gzip.compress(b"[" * 10_000)[:-9])
    with pytest.raises(StorageError, match=r"a\.json\.gz: is not a whole gzip file"):
        read_perspectivesumm(packed)


def test_every_wrong_set_is_listed_by_its_number(tmp_path):
    disagrees, undeclared, blank, separator, lengths = (a_tweet_set() for _ in range(5))
    disagrees["value_input"]["gender"][0] = "I feel dizzy."
    undeclared["units"][0]["value"]["gender"] = "mail"
    blank["units"][1]["text"] = " "
    del separator["meta"]["seperator"]
    lengths["value_input"]["gender"].append("")
    path = write(tmp_path / "a.json", a_tweet_set(), disagrees, undeclared, blank, separator, lengths, {"text": "x"})
    with pytest.raises(DataError) as caught:
        read_perspectivesumm(path)
    lines = str(caught.value).splitlines()
    assert [line.split(": ")[1] for line in lines] == ["set 2", "set 3", "set 4", "set 4", "set 5", "set 6", "set 7"]
    for line, part in zip(
        lines,
        [
            # "I feel dizzy. || No sneezing." has 13 + 4 + 12 characters
            "units of gender 'male', joined by ' || ', are not what 'value_input' says; it has 13 characters, they have 29",
            "unit 1 has gender 'mail'; declared in 'value_mapping' are 'male', 'female'",
            "unit 2 has an empty text",
            "units of gender 'female'",
            "'meta.separator': is missing",
            "'value_input' has 3 texts of gender, 'value_mapping' has 2 values",
            "'units': is missing",
        ],
        strict=True,
    ):
        assert part in line


def test_an_attribute_that_no_set_has_is_told_once(tmp_path):
    path = write(tmp_path / "a.json", a_review_set(), a_review_set())
    with pytest.raises(DataError) as caught:
        read_perspectivesumm(path, "ratings")
    assert str(caught.value) == (
        f"{path}: no set has the attribute 'ratings'; did you mean 'rating'? Attributes are rating, sentiment"
    )


def test_sets_that_lack_the_attribute_of_others_are_listed(tmp_path):
    with pytest.raises(DataError, match=r"set 2: has no attribute 'rating'; it has gender"):
        read_perspectivesumm(write(tmp_path / "a.json", a_review_set(), a_tweet_set()), "rating")


@pytest.mark.parametrize("content", ["{}", "[]", '"text"'])
def test_what_is_no_array_of_sets_is_refused(tmp_path, content):
    (tmp_path / "a.json").write_text(content)
    with pytest.raises(DataError, match="is not a JSON list"):
        read_perspectivesumm(tmp_path / "a.json")


@pytest.mark.parametrize(("name", "n_sets", "n_units"), [("yelp.json.gz", 1500, 9), ("yelp_gold.json", 100, 8)])
def test_the_yelp_sets_have_their_value_texts(perspectivesumm, name, n_sets, n_units):
    path = perspectivesumm / name
    data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    released, sets = json.loads(data), read_perspectivesumm(path, "sentiment")
    assert len(sets) == len(released) == n_sets
    assert all(len(documents.documents) == n_units for documents in sets)
    for documents, each in zip(sets, released, strict=True):
        assert value_texts(documents, "sentiment") == each["value_input"]["sentiment"]
        assert list(documents.references) == each.get("gold_summary", [])


def test_a_value_that_is_declared_twice_is_refused(tmp_path):
    released = a_review_set()
    released["value_mapping"]["rating"] = [1, 2, 3, "1", 5]
    released["value_input"]["rating"] = ["Awful.", "", "", "", "Lovely."]
    with pytest.raises(DataError, match="declares values of rating more than once: 1; keep one of each"):
        read_perspectivesumm(write(tmp_path / "a.json", released))


def test_half_a_character_is_refused_wherever_it_stands(tmp_path):
    released = a_tweet_set()
    released["meta"]["note"] = "\ud800"
    with pytest.raises(DataError, match=r"a\.json:1: .*holds half a character"):
        read_perspectivesumm(write(tmp_path / "a.json", released))


def test_many_wrong_fields_of_a_set_are_counted(tmp_path):
    released = a_tweet_set() | {"units": [{"text": number} for number in range(900)]}
    with pytest.raises(DataError) as caught:
        read_perspectivesumm(write(tmp_path / "a.json", released))
    # 900 texts that are numbers, 900 values that are missing; 5 of them are shown
    assert str(caught.value).endswith("; and 1795 more")


def an_empty_set():
    return a_tweet_set() | {"units": [], "model_input": "", "value_input": {"gender": ["", ""]}}


def test_sets_without_a_text_are_left_out_and_counted(tmp_path):
    blank = an_empty_set() | {"units": [{"text": " ", "value": {"gender": "male"}}]}
    released = [an_empty_set(), a_tweet_set(), blank, a_tweet_set()]
    sets = read_perspectivesumm(write(tmp_path / "a.json", *released))
    # numbers are those of the file
    assert [documents.id for documents in sets] == ["a-0002", "a-0004"]
    assert count_empty(released) == 2


def test_file_of_empty_sets_alone_is_refused(tmp_path):
    with pytest.raises(DataError, match="none of its 2 sets has a text"):
        read_perspectivesumm(write(tmp_path / "a.json", an_empty_set(), an_empty_set()))
