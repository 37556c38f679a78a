"""Cells: ids that lost their digits, cells of all types, tables in memory, and files of spreadsheets."""

import datetime
import decimal
import json
import sys
import uuid

import pytest

import evenhand
from evenhand.config import ColumnsSection
from evenhand.corpora import read_any, read_summaries
from evenhand.corpora.cells import cell_text, lost_digits
from evenhand.corpora.tables import read_table, sets_of_rows
from evenhand.errors import DataError, MissingExtra
from evenhand.records import Document, DocumentSet

COLUMNS = ColumnsSection(set="thread", text="body")


def rows_of(threads, **further):
    return [
        {"thread": name, "stance": side, "body": f"For {side} in {k}.", **further}
        for k, name in enumerate(threads)
        for side in ("left", "right")
    ]


@pytest.mark.parametrize(
    ("ids", "what"),
    [
        (["1.23E+17", "9.06E+17"], "scientific notation"),
        (["1.23e+17", "12"], "scientific notation"),
        (["1,23E+17"], "scientific notation"),
        (["1E+18"], "scientific notation"),
        ([1.2345678901234568e17, 1.0], "too large for a float"),
        ([9007199254740993.0], "too large for a float"),
        (["1234567890123456789.0"], "too large for a float"),
        (["1234567890123450000", "9876543210987650000"], "end in zeros"),
        ([1234567890123450000, 9876543210987650000], "end in zeros"),
        (["12345678901234500", "98765432109876000", "7"], "end in zeros"),
        (["1", "2.0", "3"], "with decimals in some rows"),
        (["1.0", "1"], "with decimals in some rows"),
    ],
)
@pytest.mark.parametrize("column", ["thread", "post"])
def test_ids_that_a_spreadsheet_or_a_float_has_rounded_are_refused(ids, what, column):
    assert what in lost_digits(ids)
    rows = [
        {"thread": "t", "post": f"p{k}", "stance": "left", "body": "Fine.", column: each} for k, each in enumerate(ids)
    ]
    with pytest.raises(DataError, match=rf"column '{column}' holds .*{what}.* may have become|with decimals"):
        sets_of_rows(enumerate(rows, 1), COLUMNS.model_copy(update={"id": "post"}), ["stance"], source="rows")


@pytest.mark.parametrize(
    "ids",
    [
        ["1234567890123456789", "1234567890123450000"],  # the first has its digits
        ["1", "2", "100000"],
        ["1.0", "2.0"],
        ["1.0", "1.1", "2"],  # versions
        [1.0, 2.0],
        [7, 8],
        ["1e5", "3e10", "12e4567"],  # beginnings of hashes
        ["20240101120000000", "20240102093000000"],  # times of day, in milliseconds
        ["1700000000000000000", "1700000060000000000"],  # nanoseconds
        ["1234567890123450"],  # one zero by chance
        ["E+17", "a1.2E+17"],
        ["00000000000000000012"],
        [None, "", "a"],
    ],
)
def test_ids_that_are_whole_pass(ids):
    assert not lost_digits(ids)


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        (datetime.date(2024, 1, 2), "2024-01-02"),
        (datetime.datetime(2024, 1, 2), "2024-01-02"),
        (datetime.datetime(2024, 1, 2, 3, 4), "2024-01-02 03:04:00"),
        (decimal.Decimal("3.00"), "3"),
        (decimal.Decimal("3.50"), "3.5"),
        (decimal.Decimal("NaN"), ""),
        (True, "True"),
        (3.0, "3"),
        (2.5, "2.5"),
        (None, ""),
        (float("nan"), ""),
        (uuid.UUID(int=7), "00000000-0000-0000-0000-000000000007"),
    ],
)
def test_cells_become_texts(cell, text):
    assert cell_text(cell) == text


def test_cells_of_numpy_and_pandas_become_texts():
    numpy, pandas = pytest.importorskip("numpy"), pytest.importorskip("pandas")
    cells = [
        numpy.int64(3),
        numpy.float32(2.5),
        numpy.bool_(True),
        numpy.str_("x"),
        numpy.datetime64("2024-01-02", "ns"),
    ]
    assert list(map(cell_text, cells)) == ["3", "2.5", "True", "x", "2024-01-02"]
    assert list(map(cell_text, [pandas.NA, pandas.NaT, pandas.Timestamp("2024-01-02 05:00")])) == [
        "", "", "2024-01-02 05:00:00"
    ]  # fmt: skip


@pytest.mark.parametrize("cell", [["x"], {"a": 1}, b"x", (1, 2), {"x"}, object()])
def test_other_cells_are_named_by_their_type_where_they_are_asked_for(cell):
    with pytest.raises(DataError, match=rf"column 'stance' holds a {type(cell).__name__}, .* in row 2"):
        rows = rows_of(["a"])
        rows[1]["stance"] = cell
        sets_of_rows(enumerate(rows, 1), COLUMNS, ["stance"], source="rows")


@pytest.mark.parametrize(
    "cell", [["x"], [], {"a": {"b": [1]}}, datetime.date(2024, 1, 2), b"\x00", object(), None, decimal.Decimal(3)]
)
def test_columns_that_nobody_asked_for_may_hold_anything(cell):
    sets = sets_of_rows(enumerate(rows_of("ab", extra=cell), 1), COLUMNS, ["stance"], source="rows")
    assert [(each.id, len(each.documents)) for each in sets] == [("a", 2), ("b", 2)]


def test_a_column_may_be_called_documents(tmp_path):
    rows = rows_of("ab", documents=[1, 2])
    (tmp_path / "posts.json").write_text(json.dumps(rows))
    for source in (rows, tmp_path / "posts.json"):
        assert len(evenhand.load_documents(source, "stance", set="thread", text="body")) == 2
    usual = [{"set": "a", "stance": "left", "text": "Fine.", "documents": 3}]
    (tmp_path / "posts.json").write_text(json.dumps(usual))
    assert (
        len(evenhand.load_documents(usual, "stance"))
        == len(evenhand.load_documents(tmp_path / "posts.json", "stance"))
        == 1
    )


def test_so_may_those_of_parquet_and_json(tmp_path):
    pandas = pytest.importorskip("pandas")
    rows = rows_of("ab", tags=["x"], user={"id": 7})
    frame = pandas.DataFrame(rows).assign(
        created_at=pandas.to_datetime(["2024-01-01"] * 4), images=[[{"u": 1}], [], [], []]
    )
    frame.to_parquet(tmp_path / "posts.parquet")
    (tmp_path / "posts.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "posts.json").write_text(json.dumps(rows))
    expected = evenhand.load_documents(rows_of("ab"), "stance", set="thread", text="body").records
    for source in (frame, *(tmp_path / f"posts.{kind}" for kind in ("parquet", "jsonl", "json"))):
        assert evenhand.load_documents(source, "stance", set="thread", text="body").records == expected
    # a date that is asked for is a text
    by_day = evenhand.load_documents(frame, "created_at", set="thread", text="body")
    assert by_day.values == ("2024-01-01",)


def test_labels_of_a_data_set_are_their_names(tmp_path):
    datasets = pytest.importorskip("datasets")
    features = datasets.Features(
        thread=datasets.Value("string"),
        body=datasets.Value("string"),
        stance=datasets.ClassLabel(names=["left", "right"]),
    )
    rows = [{"thread": "a", "body": f"Text {k}.", "stance": k % 2} for k in range(4)]
    given = datasets.Dataset.from_list(rows, features=features)
    given.to_parquet(str(tmp_path / "posts.parquet"))
    for source in (given, given.with_format("arrow")[:], tmp_path / "posts.parquet"):
        found = evenhand.load_documents(source, "stance", set="thread", text="body")
        assert found.values == ("left", "right")
    missing = datasets.Dataset.from_list([*rows, rows[0] | {"stance": -1}], features=features)
    with pytest.raises(DataError, match="column 'stance' is empty in row 5"):
        evenhand.load_documents(missing, "stance", set="thread", text="body")
    with pytest.raises(DataError, match=r"data set of several splits \(train, test\); give one"):
        evenhand.load_documents(datasets.DatasetDict(train=given, test=given), "stance")


@pytest.mark.parametrize("line", ["sep=;\n", '"sep=;"\n', "SEP=;\r\n", "\ufeffsep=;\n"])
def test_the_separator_that_a_spreadsheet_states_is_taken(tmp_path, line):
    (tmp_path / "posts.csv").write_text(f"{line}thread;stance;body\na;left;Yes, indeed.\na;;No.\n", newline="")
    with pytest.raises(DataError, match="column 'stance' is empty in line 4"):
        read_table(tmp_path / "posts.csv", COLUMNS, ["stance"])
    (tmp_path / "posts.csv").write_text("sep=|\nthread|stance|body\na|left|Yes, indeed; yes.\n")
    (found,) = read_table(tmp_path / "posts.csv", COLUMNS, ["stance"])
    assert found.documents[0].text == "Yes, indeed; yes."


@pytest.mark.parametrize("kind", ["xls", "ods", "numbers", "docx"])
@pytest.mark.parametrize("content", [b"PK\x03\x04\x14\x00\xff\xfe", b"no real one"])
def test_files_of_office_programs_are_to_be_saved_as_csv(tmp_path, kind, content):
    path = tmp_path / f"posts.{kind}"
    path.write_bytes(content)
    sets = [DocumentSet(id="a", documents=(Document(id="1", text="Fine."),))]
    for read in (
        lambda: read_any(path),
        lambda: read_any(path, columns=COLUMNS, attributes=["stance"]),
        lambda: evenhand.load_documents(path, "stance"),
        lambda: read_summaries(path, sets),
    ):
        with pytest.raises(DataError, match=r"is a file of an office program.*save it as CSV"):
            read()
    # under a wrong name its content tells
    path.with_suffix(".csv").write_bytes(b"\xd0\xcf\x11\xe0\xff")
    with pytest.raises(DataError, match="save it as CSV"):
        read_any(path.with_suffix(".csv"), attributes=["stance"])


@pytest.mark.needs("plugins/polisum")
def test_a_json_array_is_a_table_unless_it_has_the_keys_of_a_release(tmp_path):
    path = tmp_path / "posts.json"
    rows = [{"set": "a", "stance": side, "text": f"For {side}."} for side in ("left", "right")]
    path.write_text(json.dumps(rows))
    assert read_any(path, attributes=["stance"])[0].values("stance") == ("left", "right")
    path.write_text(json.dumps([{"topic": "a", "stance": "left", "document": "Fine.", "input": "?"}]))
    with pytest.raises(DataError, match="is PoliSum's list"):
        read_any(path, attributes=["stance"])
    columns = ColumnsSection(set="topic", text="document")
    assert read_any(path, columns=columns, attributes=["stance"])[0].id == "a"
    path.write_text(json.dumps([{"thread": "a", "stance": "left", "body": "Fine."}]))
    with pytest.raises(DataError, match=r"(?s)has no column 'set'.*--columns set=COLUMN"):
        read_any(path, attributes=["stance"])
    path.write_text(json.dumps([{"id": "a", "documents": []}]))
    with pytest.raises(DataError, match="a JSON array of document sets; write one of them a line"):
        read_any(path)


def test_twice_named_columns_of_a_frame_are_refused():
    pandas = pytest.importorskip("pandas")
    with pytest.raises(DataError, match="column names occur more than once: text"):
        evenhand.load_documents(pandas.DataFrame([["a", "x", "y"]], columns=["set", "text", "text"]), "side")


def test_without_its_library_a_workbook_names_the_extra(tmp_path, monkeypatch):
    (tmp_path / "posts.xlsx").write_bytes(b"PK\x03\x04")
    # as if it were not installed
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(
        MissingExtra, match=r"posts\.xlsx: reading \.xlsx needs openpyxl, .*pip install 'evenhand\[xlsx\]'"
    ):
        read_any(tmp_path / "posts.xlsx", attributes=["stance"])
