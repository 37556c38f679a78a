"""Import of the documents given to annotators. The texts here are invented; the real ones may not be shipped."""

import json

import pytest

from evenhand.corpora.annotated import read_annotated
from evenhand.errors import DataError
from evenhand.plugins.polisum.importer import import_annotation
from evenhand.storage import write_jsonl


def item(stance, document, topic="The Ferry"):
    return {"topic": topic, "stance": stance, "document": document}


LEFT, RIGHT = item("left", "The ferry is cheap.\n\nNurses need it."), item("right", "The ferry is dear.")


@pytest.fixture
def write(tmp_path):
    def write(*items):
        path = tmp_path / "annotation.json"
        path.write_text(json.dumps(items), encoding="utf-8")
        return path

    return write


def test_both_sides_of_a_topic_become_one_set(write):
    found = import_annotation(write(RIGHT, LEFT, item("left", "Tax it.", topic="A Tax")))
    ferry, tax = found.sets("test")
    assert [(d.attributes["stance"], d.text) for d in ferry.documents] == [
        ("left", "The ferry is cheap."), ("left", "Nurses need it."), ("right", "The ferry is dear."),
    ]  # fmt: skip
    assert (ferry.topic, ferry.split, [d.text for d in tax.documents]) == ("The Ferry", "test", ["Tax it."])
    assert str(found) == "3 items in the file; repeated items left out: 0; topics of one side: 1"


def test_items_become_articles_that_a_controlled_set_can_be_built_from(write, tmp_path):
    articles = import_annotation(write(LEFT, RIGHT)).articles()
    assert [(a.side, a.passages, a.excerpts) for a in articles] == [
        ("left", ("The ferry is cheap.", "Nurses need it."), ()), ("right", ("The ferry is dear.",), ()),
    ]  # fmt: skip
    write_jsonl(tmp_path / "articles.jsonl", articles)
    read = read_annotated(str(tmp_path / "articles.jsonl"))
    assert read == articles
    assert [each.side for each in read[0].others(read)] == ["right"]


def test_repeated_item_is_left_out_and_another_document_of_a_side_refused(write):
    again = item("left", "The ferry is  cheap.\n\n\nNurses need it.\n", topic="The  Ferry")
    found = import_annotation(write(LEFT, again, RIGHT))
    assert (found.duplicates, len(found.sets())) == (1, 1)
    with pytest.raises(DataError, match="item 2: topic 'The Ferry' has another document of side 'left' already"):
        import_annotation(write(LEFT, item("left", "Keep it."), RIGHT))


@pytest.mark.parametrize(
    ("items", "message"),
    [
        ((), "is not a JSON list"),
        (({"topic": "t", "stance": "up", "document": "d"},), "item 1: .*stance"),
        ((LEFT, {"topic": "t", "stance": "left"}), "item 2: .*document"),
    ],
)
def test_other_file_is_refused_with_the_item(write, items, message):
    with pytest.raises(DataError, match=message):
        import_annotation(write(*items))


def test_the_authors_documents(polisum):
    found = import_annotation(polisum / "annotation_dev.json")
    # 40 documents, both sides of each of 20 topics
    assert (found.items, found.duplicates, len(found.sets()), len(found.articles())) == (40, 0, 20, 40)
    assert all(each.values("stance") == ("left", "right") for each in found.sets())
