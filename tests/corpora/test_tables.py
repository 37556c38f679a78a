"""Tables as corpora: what a row becomes, and that a mistake of many rows is one mistake."""

import gzip
import json
import math
from pathlib import Path

import pytest

import evenhand
from evenhand.config import ColumnsSection, CorpusSection
from evenhand.corpora import load_corpus, read_any
from evenhand.corpora.tables import read_table, sets_of_rows
from evenhand.errors import DataError

CSV = """topic,side,text,note
Trams,ban,"Trams are loud, and slow.",a
Lake,allow,"She said ""yes"".
And left.",b
Trams,allow,Trams are clean.,c
"""
COLUMNS = ColumnsSection(set="topic", text="text", topic="topic")


def write(path: Path, text: str) -> Path:
    path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())
    return path


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("docs.csv", CSV),
        ("docs.csv.gz", "\ufeff" + CSV.replace("\n", "\r\n")),
        ("docs.csv", "topic;side;text\nTrams;ban;Trams are loud, and slow.\n" 'Lake;allow;"She said ""yes"".\nAnd left."\n'
         "Trams;allow;Trams are clean.\n"),
        ("docs.tsv", "topic\tside\ttext\nTrams\tban\tTrams are loud, and slow.\n" 'Lake\tallow\t"She said ""yes"".\nAnd left."\n'
         "Trams\tallow\tTrams are clean.\n"),
    ],
)  # fmt: skip
def test_rows_become_documents_of_their_sets(tmp_path, name, text):
    trams, lake = read_table(write(tmp_path / name, text), COLUMNS, ["side"])
    assert [trams.id, trams.topic, lake.id] == ["Trams", "Trams", "Lake"]
    assert [(d.id, d.text, d.attributes) for d in trams.documents] == [
        ("Trams/1", "Trams are loud, and slow.", {"side": "ban"}),
        ("Trams/2", "Trams are clean.", {"side": "allow"}),
    ]
    assert lake.documents[0].text == 'She said "yes".\nAnd left.'


def test_parquet_and_json_lines_hold_the_same_sets(tmp_path):
    pytest.importorskip("pyarrow")
    import pyarrow
    from pyarrow import parquet

    rows = [{"topic": "t", "side": side, "text": f"For {side}.", "year": 1999} for side in ("ban", "allow")]
    parquet.write_table(pyarrow.Table.from_pylist(rows), tmp_path / "docs.parquet")
    write(tmp_path / "docs.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    found = [read_table(tmp_path / f"docs.{kind}", COLUMNS, ["side", "year"]) for kind in ("parquet", "jsonl")]
    assert found[0] == found[1]
    assert found[0][0].documents[1].attributes == {"side": "allow", "year": "1999"}


def test_numbers_of_a_column_with_empty_cells_stay_whole():
    rows = [{"set": 7.0, "text": "Yes.", "side": 1.0}, {"set": 7.0, "text": "No.", "side": 2.5}]
    (found,) = sets_of_rows(enumerate(rows, 1), ColumnsSection(), ["side"], source="rows")
    assert (found.id, found.values("side")) == ("7", ("1", "2.5"))


def test_a_recipe_names_the_columns_and_the_split(tmp_path):
    path = write(
        tmp_path / "docs.csv", "group,body,stance,part\na,Yes.,pro,train\na,No.,con,train\nb,Perhaps.,pro,test\n"
    )
    columns = ColumnsSection(set="group", text="body", split="part")
    sets = load_corpus(CorpusSection(path=str(path), columns=columns))
    assert [(each.id, each.split, len(each.documents)) for each in sets] == [("a", "train", 2), ("b", "test", 1)]


def test_a_mistake_of_many_rows_is_one_line(tmp_path):
    body = "".join(f"t,{'' if number % 2 else 'ban'},Text {number}.\n" for number in range(106))
    with pytest.raises(DataError) as caught:
        read_table(write(tmp_path / "docs.csv", f"topic,side,text\n{body}"), COLUMNS, ["side"])
    assert "column 'side' is empty in lines 3, 5, 7, 9, 11 and 48 more" in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1


def test_absent_columns_are_named_once_with_those_that_are_there(tmp_path):
    with pytest.raises(DataError) as caught:
        read_table(write(tmp_path / "docs.csv", CSV), ColumnsSection(set="topik", text="text"), ["stance"])
    lines = str(caught.value).splitlines()
    assert "has no column 'topik'; did you mean 'topic'?" in lines[0] and "has no column 'stance'" in lines[1]
    assert "'topic', 'side', 'text', 'note'" in lines[2] and len(lines) == 3


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("", "has no rows"),
        ("topic,side,text\n", "has no rows"),
        ("topic,side,text\nt,ban,one, two\n", "has more cells than there are columns.* in line 2"),
        ('topic,side,text\nt,ban,"one\n', "cannot be read as a table near line 2"),
        ("topic,side,text,text\nt,ban,one,two\n", "column names occur more than once: text"),
        ("topic,side,text,id\nt,ban,one,1\nt,ban,two,1\n", "ids in column 'id' occur more than once: 1"),
        ("topic,side,text,id\nt,ban,one,\nt,ban,two,1\n", "column 'id' is empty in line 2"),
    ],
)
def test_what_is_wrong_with_a_table_is_said(tmp_path, text, match):
    columns = COLUMNS.model_copy(update={"id": "id"}) if "id\n" in text else COLUMNS
    with pytest.raises(DataError, match=match):
        read_table(write(tmp_path / "docs.csv", text), columns, ["side"])


def test_a_set_has_one_topic():
    rows = [{"set": "s", "text": "Yes.", "side": "ban", "about": about} for about in ("trams", "lakes")]
    with pytest.raises(DataError, match="set 's' has several values in column 'about': trams, lakes"):
        sets_of_rows(enumerate(rows, 1), ColumnsSection(topic="about"), ["side"], source="rows")


def test_a_cell_that_is_no_text_is_refused_and_one_that_is_no_number_is_empty():
    rows = [{"set": "s", "text": ["Yes."], "side": "ban"}, {"set": "s", "text": math.nan, "side": "ban"}]
    with pytest.raises(DataError) as caught:
        sets_of_rows(enumerate(rows, 1), ColumnsSection(), ["side"], source="rows")
    first, second = str(caught.value).splitlines()
    assert first.endswith("is not a text or a number in row 1") and "is empty in row 2" in second


def test_a_long_document_fits_a_cell(tmp_path):
    path = write(tmp_path / "docs.csv", f"topic,side,text\nt,ban,{'word ' * 50_000}\n")
    assert len(read_table(path, COLUMNS, ["side"])[0].documents[0].text) > 200_000


def test_rows_with_empty_cells_are_left_out_and_counted_wherever_that_is_asked_for(tmp_path, caplog):
    path = write(tmp_path / "docs.csv", "set,text,side\na,Yes.,ban\na,,ban\nb,No.,\nb,Perhaps.,allow\nb\n")
    rows = [dict(zip(("set", "text", "side"), line.split(","), strict=False)) for line in path.read_text().split()[1:]]
    corpus = CorpusSection(path=str(path), columns=ColumnsSection(), attribute="side", skip_empty=True)
    where = "text in lines 3 and 6; side in lines 4 and 6"
    for read, place in (
        (lambda: read_table(path, ColumnsSection(), ["side"], skip_empty=True), where),
        (lambda: read_any(path, attributes=["side"], skip_empty=True), where),
        (lambda: load_corpus(corpus), where),
        (lambda: evenhand.load_documents(path, "side", skip_empty=True), where),
        (lambda: evenhand.load_documents(rows, "side", skip_empty=True), "text in rows 2 and 5; side in rows 3 and 5"),
    ):
        caplog.clear()
        assert [(each.id, [d.text for d in each.documents]) for each in read()] == [
            ("a", ["Yes."]),
            ("b", ["Perhaps."]),
        ]
        (message,) = caplog.messages
        # of which sides they are: what leaves one side out more often is a bias
        assert message.endswith(f"left out: 3 rows with empty cells ({place}), by side: (empty) 2, ban 1")
    with pytest.raises(DataError, match=r"column 'text' is empty in lines 3 and 6; .*: --skip-empty"):
        read_any(path, attributes=["side"])
    with pytest.raises(DataError, match="has no row without an empty cell"):
        read_table(write(path, "set,text,side\na,,ban\n"), ColumnsSection(), ["side"], skip_empty=True)


def test_a_key_that_a_json_row_lacks_is_an_empty_cell(tmp_path):
    path = write(tmp_path / "docs.jsonl", '{"set": "a", "text": "Yes.", "side": "ban"}\n{"set": "a", "text": "No."}\n')
    with pytest.raises(DataError, match="column 'side' is empty in line 2"):
        read_any(path, attributes=["side"])


def test_any_reader_of_documents_takes_a_table_and_asks_for_what_it_cannot_know(tmp_path):
    path = write(tmp_path / "docs.csv", CSV)
    assert read_any(path, columns=COLUMNS, attributes=["side"]) == read_table(path, COLUMNS, ["side"])
    with pytest.raises(DataError, match="name the column of its social attribute"):
        read_any(path, columns=COLUMNS)
    with pytest.raises(DataError, match="--columns set=COLUMN"):
        read_any(path, attributes=["side"])


def test_sets_that_differ_by_capitals_alone_are_several_and_said_to_be(tmp_path, caplog):
    path = write(tmp_path / "t.csv", "set,text,side\nKettle,one,a\nkettle,two,b\nab,three,a\n")
    assert [each.id for each in read_table(path, ColumnsSection(), ["side"])] == ["Kettle", "kettle", "ab"]
    (message,) = caplog.messages
    assert "differ only by capitals, and are taken as several: 'Kettle' and 'kettle'; write one of them" in message
