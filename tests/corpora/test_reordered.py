import json

import pytest

from evenhand.corpora import read_document_sets
from evenhand.corpora.reordered import read_places, turned, turned_places
from evenhand.errors import DataError
from evenhand.records import Document, DocumentSet


def made(n, name="s"):
    documents = tuple(Document(id=f"d{k}", text=f"Text {k}.", attributes={"side": "a"}) for k in range(n))
    return DocumentSet(id=name, documents=documents, topic="Trams", references=("A reference.",))


def test_as_many_turns_as_documents_put_each_in_each_place_once():
    assert [sorted(turned_places(5, turn, 5)[k] for turn in range(5)) for k in range(5)] == [list(range(5))] * 5


def test_a_turned_set_keeps_everything_but_its_order():
    found = turned(made(6), 1, 3)
    assert [d.id for d in found.documents] == ["d2", "d3", "d4", "d5", "d0", "d1"]
    assert (found.topic, found.references) == ("Trams", ("A reference.",))
    assert turned(made(6), 0, 3) == made(6)


def test_places_are_read_back_from_a_file_of_the_same_documents(tmp_path):
    path = tmp_path / "turned.jsonl"
    path.write_text(turned(made(6), 2, 3).model_dump_json() + "\n")
    assert read_places(path, [made(6)], "side") == {"s": turned_places(6, 2, 3)}
    assert read_document_sets(path)[0].documents[0].id == "d4"


@pytest.mark.parametrize("there", [made(5), made(6, "another")])
def test_a_file_of_other_documents_is_refused(tmp_path, there):
    path = tmp_path / "turned.jsonl"
    path.write_text(json.dumps(json.loads(there.model_dump_json())) + "\n")
    with pytest.raises(DataError, match="set s is not there with the same documents"):
        read_places(path, [made(6)], "side")
