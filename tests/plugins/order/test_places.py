import json

import pytest
from audit_inputs import ATTRIBUTE, two_sided, write_sets, write_summaries

from evenhand.corpora import read_document_sets
from evenhand.errors import DataError
from evenhand.evaluation.audit.input import AuditFiles, SystemFiles, read_input
from evenhand.plugins.order.places import read_places, turned, turned_places, with_places
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


def asked(documents, summaries, order):
    systems = tuple((path.stem, path) for path in summaries)
    return AuditFiles(
        documents, ATTRIBUTE, summaries=systems, of_families=(SystemFiles((("turn", order),), with_places),)
    )


def test_an_order_that_is_the_documents_own_is_refused(tmp_path):
    documents = write_sets(tmp_path / "docs.jsonl", two_sided(2))
    files = [write_summaries(tmp_path / f"{name}.jsonl", {"set-0": "x", "set-1": "y"}) for name in ("given", "turn")]
    with pytest.raises(DataError, match=r"--order turn=.*: has the documents in the same order as"):
        read_input(asked(documents, files, documents))
    turned_sets = [each.model_copy(update={"documents": each.documents[::-1]}) for each in two_sided(2)]
    found = read_input(asked(documents, files, write_sets(tmp_path / "turned.jsonl", turned_sets)))
    assert found.systems[1].places == {"set-0": (2, 1, 0), "set-1": (2, 1, 0)}
