"""Documents from everywhere: the same sets whatever holds them."""

import csv
import json

import pytest

import evenhand
from evenhand.errors import DataError


def test_files_and_memory_hold_the_same_documents(rows, tmp_path):
    expected = list(evenhand.load_documents(rows, "side"))
    with (tmp_path / "docs.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    evenhand.load_documents(rows, "side").write(tmp_path / "sets.jsonl")
    for name in ("docs.csv", "rows.jsonl", "sets.jsonl"):
        found = evenhand.load_documents(tmp_path / name, "side")
        assert list(found) == expected and found.attribute == "side"
    assert list(evenhand.load_documents(expected)) == expected
    assert list(evenhand.load_documents([json.loads(each.model_dump_json()) for each in expected], "side")) == expected


def test_data_frames_and_data_sets_are_read(rows):
    pandas = pytest.importorskip("pandas")
    expected = list(evenhand.load_documents(rows, "side"))
    frame = pandas.DataFrame(rows)
    assert list(evenhand.load_documents(frame, "side")) == expected
    frame.loc[0, "text"] = None
    with pytest.raises(DataError, match="column 'text' is empty in row 1"):
        evenhand.load_documents(frame, "side")
    datasets = pytest.importorskip("datasets")
    assert list(evenhand.load_documents(datasets.Dataset.from_list(rows), "side")) == expected


def test_a_part_of_the_documents_is_grouped_by_the_attribute_of_the_whole():
    def document(n, value):
        return {"id": f"{n}/{value}", "text": value, "attributes": {"side": value, "language": "en"}}

    sets = [{"id": f"s{n}", "documents": [document(n, "left"), document(n, "right")]} for n in range(3)]
    documents = evenhand.load_documents(sets, "side")
    part = documents[1:]
    assert [each.id for each in part] == ["s1", "s2"] and documents[1].id == "s1"
    # and so is a part of it read again
    assert part.attribute == evenhand.load_documents(part).attribute == "side"
    # where it is not known of the whole, a part in which it could be guessed knows it no better
    sets[2]["documents"].append({"id": "2/none", "text": "x"})
    for number in range(3):
        for sided in sets[number]["documents"]:
            sided.get("attributes", {}).pop("language", None)
    whole = evenhand.load_documents(sets)
    assert (whole.attribute, whole[:1].attribute, whole[:1].attributes) == (None, None, ("side",))


def test_rows_of_documents_are_read_back(rows):
    documents = evenhand.load_documents(rows, "side")
    assert list(evenhand.load_documents(documents.rows(), "side", id="id")) == list(documents)


def test_bundled_documents_and_their_attribute():
    assert evenhand.load_documents("reviews").attribute == "sentiment"
    assert len(evenhand.load_documents("sample", "stance")) == 32


def test_a_frame_and_a_notebook_show_rows(rows):
    pytest.importorskip("pandas")
    documents = evenhand.load_documents([{**rows[0], "text": "<b>bold</b>"}, *rows[1:]], "side")
    assert list(documents.to_frame()["side"].unique()) == ["ban", "allow"]
    shown = documents._repr_html_()
    assert "<table" in shown and "&lt;b&gt;bold" in shown and "3 document sets, 12 documents by side" in shown
    assert repr(documents) == "<3 document sets, 12 documents by side: ban, allow>"
    assert repr(evenhand.load_documents(rows[:1], "side")).startswith("<1 document set, 1 document by side")


@pytest.mark.parametrize(
    ("source", "match"),
    [
        ([], "there are none"),
        (3, "documents are a int"),
        ({"set": "a"}, "give a path, a list of dicts"),
        ([{"id": "a", "documents": []}], "set 1"),
        ([{"id": "a", "documents": [{"id": "1", "text": "x"}]}] * 2, "occurs in set 1 already"),
        ("nowhere/docs.jsonl", "cannot be read"),
    ],
)
def test_what_is_no_document_is_refused(source, match):
    with pytest.raises(DataError, match=match):
        evenhand.load_documents(source)


@pytest.mark.parametrize("attribute", [3, ["side", 3], {3}])
def test_an_attribute_that_is_no_name_is_refused(rows, attribute):
    with pytest.raises(DataError, match=r"attribute is .*give the name"):
        evenhand.load_documents(rows, attribute)


def test_a_name_of_the_hub_that_is_not_there_is_a_mistake_of_data(monkeypatch):
    pytest.importorskip("datasets")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(DataError, match="cannot be loaded from the Hub"):
        evenhand.load_documents("nobody/nothing", "side")


def test_a_table_needs_an_attribute_and_known_columns(rows):
    with pytest.raises(DataError, match="attribute=COLUMN"):
        evenhand.load_documents(rows)
    with pytest.raises(DataError, match="columns that can be named are set, text"):
        evenhand.load_documents(rows, "side", body="text")
