"""Any documents file is told by its content."""

import gzip
import json
from pathlib import Path

import pytest

from evenhand.corpora import read_any
from evenhand.errors import DataError

OWN = {
    "id": "a",
    "documents": [{"id": "a/1", "text": "Fine.", "attributes": {"sentiment": "positive"}}],
}
RELEASED = {
    "units": [{"text": "Fine.", "value": {"sentiment": "pos"}}],
    "model_input": "Fine.",
    "meta": {"type": "tweets", "seperator": " || "},
    "value_input": {"sentiment": ["Fine.", ""]},
    "value_mapping": {"sentiment": ["pos", "neg"]},
}
ENTITY = {"entity_id": "e", "reviews": [{"sentences": ["Fine."], "label": 1}]}


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize(
    ("content", "attribute", "value"),
    [
        (json.dumps(OWN), "sentiment", "positive"),
        ("\n" + json.dumps(OWN), "sentiment", "positive"),
        (json.dumps([RELEASED], indent=2), "sentiment", "pos"),
        (json.dumps(ENTITY), "label", "1"),
    ],
)
def test_each_format_is_told_by_content_not_by_name(tmp_path, content, attribute, value, packed):
    path = tmp_path / ("docs.txt.gz" if packed else "docs.txt")
    path.write_bytes(gzip.compress(content.encode()) if packed else content.encode())
    (documents,) = read_any(path)
    assert documents.values(attribute) == (value,)
    assert read_any(path, attribute) == [documents]


def test_imported_sets_written_as_json_lines_are_read_back_the_same(tmp_path):
    (tmp_path / "a.json").write_text(json.dumps([RELEASED]))
    sets = read_any(tmp_path / "a.json")
    (tmp_path / "a.jsonl").write_text("".join(documents.model_dump_json() + "\n" for documents in sets))
    assert read_any(tmp_path / "a.jsonl") == sets


def test_label_numbers_have_no_meaning_until_somebody_names_the_data_set(tmp_path):
    path = tmp_path / "docs.jsonl"
    path.write_text(json.dumps(ENTITY))
    with pytest.raises(DataError, match=r"evenhand import coverage .*docs\.jsonl --labels NAME"):
        read_any(path, "sentiment")


def test_a_missing_attribute_is_told_in_every_format(tmp_path):
    path = tmp_path / "docs"
    for content in (json.dumps(OWN), json.dumps([RELEASED])):
        path.write_text(content)
        with pytest.raises(DataError, match="attribute 'stance'"):
            read_any(path, "stance")


def test_polisums_list_is_named_with_the_verb_that_imports_it(tmp_path):
    path = tmp_path / "dev.json"
    path.write_text(json.dumps([{"topic": "t", "stance": "left", "input": "", "document": ""}]))
    with pytest.raises(DataError, match="evenhand import polisum"):
        read_any(path)


@pytest.mark.parametrize("content", ["", "id,text\n1,Fine.\n", "Fine."])
def test_anything_else_is_answered_with_the_formats(tmp_path, content):
    path = tmp_path / "docs.csv"
    path.write_text(content)
    with pytest.raises(DataError, match="is none of the formats of documents that can be read: evenhand's JSON lines"):
        read_any(path)


def test_broken_lines_are_listed_by_the_reader_of_their_format(tmp_path):
    path = tmp_path / "docs.jsonl"
    path.write_text('{"entity_id": \n' + json.dumps(ENTITY) + "\n")
    with pytest.raises(DataError, match=r"docs\.jsonl:1: is not JSON"):
        read_any(path)
    path.write_text("[1, 2")
    with pytest.raises(DataError, match=r"docs\.jsonl:1: is not JSON"):
        read_any(path)


def test_an_absent_file_is_named(tmp_path):
    with pytest.raises(DataError, match=r"absent\.jsonl: cannot be read"):
        read_any(tmp_path / "absent.jsonl")


def test_bundled_corpora_go_by_name_unless_a_file_has_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    # a folder of that name is not a file
    (tmp_path / "reviews").mkdir()
    assert len(read_any(Path("reviews"), "sentiment")) == 48
    assert len(read_any(Path("sample"), "stance")) == 32
    (tmp_path / "sample").write_text(json.dumps(OWN))
    assert [documents.id for documents in read_any(Path("sample"))] == ["a"]
