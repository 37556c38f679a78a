import json

import pytest

from evenhand.corpora.annotated import read_news
from evenhand.errors import DataError, StorageError

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
