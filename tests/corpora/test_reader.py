"""Reading a corpus: what a set must be, and that every mistake is told once, with file and line."""

import gzip
import json
from pathlib import Path

import pytest

from evenhand.config import CorpusSection
from evenhand.corpora import load_corpus, read_any, read_document_sets
from evenhand.corpora.reader import check_sides
from evenhand.errors import DataError, StorageError
from evenhand.records import Document, DocumentSet


def a_set(name: str, sides: tuple[str, ...] = ("left", "right")) -> dict[str, object]:
    return {
        "id": name,
        "topic": name,
        "documents": [{"id": f"{name}/{s}", "text": f"{name} {s}.", "attributes": {"stance": s}} for s in sides],
    }


def write(path: Path, *lines: object) -> Path:
    path.write_text("".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines))
    return path


def test_sets_come_back_in_the_order_of_the_file(tmp_path):
    path = write(tmp_path / "docs.jsonl", a_set("b"), "", a_set("a"))
    assert [documents.id for documents in read_document_sets(path)] == ["b", "a"]


def test_every_mistake_of_a_file_is_listed_with_its_line(tmp_path):
    empty = a_set("empty")
    empty["documents"][0]["text"] = "  \n"
    twice = a_set("twice")
    twice["documents"][1]["id"] = twice["documents"][0]["id"]
    path = write(
        tmp_path / "docs.jsonl",
        a_set("good"),
        '{"id": "broken", ',
        empty,
        twice,
        a_set("good"),
        {**a_set("misspelt"), "tpoic": "x"},
        {"id": "no documents", "documents": []},
        "[1, 2]",
    )
    with pytest.raises(DataError) as caught:
        read_document_sets(path)
    lines = str(caught.value).splitlines()
    assert [line.split(": ")[0] for line in lines] == [f"{path}:{number}" for number in (2, 3, 4, 5, 6, 7, 8)]
    for line, part in zip(
        lines,
        [
            "is not JSON (EOF while parsing a value at column 17)",
            "'documents.0.text': is empty",
            "document ids occur more than once: twice/left",
            "set id 'good' occurs in line 1 already",
            "'tpoic': is not a key of this record",
            "'documents': needs at least 1, and there are 0",
            "should be an object",
        ],
        strict=True,
    ):
        assert part in line


def test_a_document_without_the_attribute_is_named_with_what_it_has(tmp_path):
    review = {
        "id": "r",
        "documents": [{"id": "r/1", "text": "Fine.", "attributes": {"sentiment": "good", "age": "old"}}],
    }
    path = write(tmp_path / "docs.jsonl", a_set("good"), review)
    with pytest.raises(DataError, match=r":2: document 'r/1' has no attribute 'stance' \(it has age, sentiment\)"):
        read_document_sets(path, attribute="stance")
    assert len(read_document_sets(path)) == 2


def test_an_attribute_that_no_document_has_is_told_once_with_those_that_are_there(tmp_path):
    path = write(tmp_path / "docs.jsonl", a_set("one"), a_set("two"))
    with pytest.raises(
        DataError, match=r"no document has the attribute 'party'\. Attributes of .* are stance; name one"
    ) as caught:
        read_document_sets(path, attribute="party")
    assert "corpus.attribute" in str(caught.value) and len(str(caught.value).splitlines()) == 1


def test_many_mistakes_are_counted_after_the_first_twenty(tmp_path):
    path = write(tmp_path / "docs.jsonl", *({f"key{number}": 1} for number in range(25)))
    with pytest.raises(DataError) as caught:
        read_document_sets(path)
    assert len(str(caught.value).splitlines()) == 21
    assert str(caught.value).endswith("... and 5 more")


def test_a_mistake_of_many_lines_is_told_once_with_their_numbers(tmp_path):
    path = write(tmp_path / "docs.jsonl", a_set("good"), *["nonsense"] * 25)
    with pytest.raises(DataError) as caught:
        read_document_sets(path)
    (line,) = str(caught.value).splitlines()
    assert line.startswith(f"{path}:2: is not JSON") and line.endswith("the same in lines 3, 4, 5, 6, 7 and 19 more")


def test_a_file_without_sets_is_refused(tmp_path):
    with pytest.raises(DataError, match="holds no document set"):
        read_document_sets(write(tmp_path / "docs.jsonl", "", "  "))


def test_an_absent_file_is_named(tmp_path):
    with pytest.raises(DataError, match=r"key 'corpus.path': .*absent\.jsonl: cannot be read: No such file"):
        load_corpus(CorpusSection(path=str(tmp_path / "absent.jsonl")))


def test_a_file_in_another_encoding_is_named(tmp_path):
    path = tmp_path / "docs.jsonl"
    path.write_bytes(json.dumps(a_set("a")).encode("utf-16"))
    with pytest.raises(StorageError, match=r"docs\.jsonl:\d+: is not UTF-8"):
        read_document_sets(path)


def test_a_byte_order_mark_does_no_harm(tmp_path):
    path = tmp_path / "docs.jsonl"
    path.write_text(json.dumps(a_set("a")), encoding="utf-8-sig")
    assert read_document_sets(path)[0].id == "a"


@pytest.mark.parametrize("character", ["\u2028", "\u0085", "\u2029"])
def test_line_separators_inside_a_text_end_no_line(tmp_path, character):
    documents = a_set("a")
    documents["documents"][0]["text"] = f"one{character}two"
    path = tmp_path / "docs.jsonl"
    path.write_text(json.dumps(documents, ensure_ascii=False) + "\n", encoding="utf-8")
    assert read_document_sets(path)[0].documents[0].text == f"one{character}two"


def test_every_set_that_lacks_a_side_is_listed(tmp_path):
    path = write(tmp_path / "docs.jsonl", a_set("a", ("left",)), a_set("b"), a_set("c", ("right",)))
    with pytest.raises(DataError) as caught:
        load_corpus(CorpusSection(path=str(path), sides=("left", "right")))
    text = str(caught.value)
    assert text.splitlines()[:2] == [
        "set 'a': no document with stance 'right'",
        "set 'c': no document with stance 'left'",
    ]
    assert "'b'" not in text
    assert "corpus.sides" in text


def test_a_side_that_no_document_has_is_told_as_such(tmp_path):
    path = write(tmp_path / "docs.jsonl", a_set("a"))
    with pytest.raises(
        DataError, match=r"corpus\.sides names 'rihgt'.*did you mean 'right'\? Values of 'stance' are left, right"
    ):
        load_corpus(CorpusSection(path=str(path), sides=("left", "rihgt")))


def test_without_asked_sides_a_one_sided_set_is_fine(tmp_path):
    path = write(tmp_path / "docs.jsonl", a_set("a", ("left",)), a_set("b"))
    assert len(load_corpus(CorpusSection(path=str(path)))) == 2


def test_sides_may_have_any_name():
    documents = DocumentSet(id="s", documents=(Document(id="1", text="Nice.", attributes={"sentiment": "positive"}),))
    check_sides([documents], CorpusSection(attribute="sentiment", sides=("positive",)))
    with pytest.raises(DataError, match="no document of the corpus has it as 'sentiment'"):
        check_sides([documents], CorpusSection(attribute="sentiment", sides=("positive", "mixed")))


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
        pytest.param(
            json.dumps([RELEASED], indent=2), "sentiment", "pos", marks=pytest.mark.needs("plugins/perspectivesumm")
        ),
        (json.dumps(ENTITY), "label", "1"),
    ],
)
def test_each_format_is_told_by_content_not_by_name(tmp_path, content, attribute, value, packed):
    path = tmp_path / ("docs.txt.gz" if packed else "docs.txt")
    path.write_bytes(gzip.compress(content.encode()) if packed else content.encode())
    (documents,) = read_any(path)
    assert documents.values(attribute) == (value,)
    assert read_any(path, attribute) == [documents]


@pytest.mark.needs("plugins/perspectivesumm")
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


@pytest.mark.needs("plugins/perspectivesumm")
def test_a_missing_attribute_is_told_in_every_format(tmp_path):
    path = tmp_path / "docs"
    for content in (json.dumps(OWN), json.dumps([RELEASED])):
        path.write_text(content)
        with pytest.raises(DataError, match="attribute 'stance'"):
            read_any(path, "stance")


@pytest.mark.needs("plugins/polisum")
def test_polisums_list_is_named_with_the_verb_that_imports_it(tmp_path):
    path = tmp_path / "dev.json"
    path.write_text(json.dumps([{"topic": "t", "stance": "left", "input": "", "document": ""}]))
    with pytest.raises(DataError, match="evenhand import polisum"):
        read_any(path)


@pytest.mark.parametrize("content", ["", "\n \n", "\ufeff"])
def test_a_file_with_nothing_in_it_is_said_to_be_empty(tmp_path, content):
    path = tmp_path / "docs.jsonl"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(DataError, match=r"docs.jsonl: is empty; document sets stand there in one of the formats"):
        read_any(path)


@pytest.mark.parametrize("content", ["id,text\n1,Fine.\n", "Fine."])
def test_anything_else_is_answered_with_the_formats(tmp_path, content):
    path = tmp_path / "docs.txt"
    path.write_text(content)
    with pytest.raises(
        DataError, match="is not one of the formats of documents that can be read: evenhand's JSON lines"
    ):
        read_any(path)


def test_broken_lines_are_listed_by_the_reader_of_their_format(tmp_path):
    path = tmp_path / "docs.jsonl"
    path.write_text('{"entity_id": \n' + json.dumps(ENTITY) + "\n")
    with pytest.raises(DataError, match=r"docs\.jsonl:1: is not JSON"):
        read_any(path)
    path.write_text("[1, 2")
    with pytest.raises(DataError, match=r"docs\.jsonl:1: is not JSON"):
        read_any(path)


def test_an_absent_file_of_any_format_is_named(tmp_path):
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
