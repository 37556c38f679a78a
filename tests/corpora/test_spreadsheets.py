"""Excel's workbooks are tables like any other: documents and summaries, with what Excel does to ids, days and headings."""

from datetime import date, datetime

import pytest

import evenhand
from evenhand.config import ColumnsSection
from evenhand.corpora import read_any
from evenhand.corpora.summaries import read_summaries
from evenhand.corpora.tables import read_table
from evenhand.errors import DataError

openpyxl = pytest.importorskip("openpyxl", reason="needs the extra xlsx")

ROWS = [("set", "text", "stars"), (1, "Fine.", 5), (1.0, "Poor.", 1), (2, "Dear.", 2), (2, "Cheap.", 4)]


def write(path, rows=ROWS, merged="", **others):
    """A workbook of a sheet with these rows, and of others by name."""
    workbook = openpyxl.Workbook()
    sheets = [workbook.active, *(workbook.create_sheet(name) for name in others)]
    for sheet, cells in zip(sheets, (rows, *others.values()), strict=True):
        for row in cells:
            sheet.append(row)
    if merged:
        workbook.active.merge_cells(merged)
    workbook.save(path)
    return path


def test_documents_and_summaries_of_workbooks_are_those_of_csv(tmp_path):
    path, table = write(tmp_path / "docs.xlsx"), tmp_path / "docs.csv"
    table.write_text("".join(",".join(str(cell).removesuffix(".0") for cell in row) + "\n" for row in ROWS))
    sets = read_any(path, attributes=["stars"])
    assert sets == read_any(table, attributes=["stars"])
    # the numbers that Excel holds are no floats to a reader
    assert [documents.id for documents in sets] == ["1", "2"] and sets[0].values("stars") == ("5", "1")
    assert evenhand.load_documents(path, "stars").records == tuple(sets)
    summaries = write(tmp_path / "s.xlsx", [("id", "summary"), (2.0, "Dear or cheap."), (1, "Fine or poor.")])
    assert dict(read_summaries(summaries, sets)) == {"1": "Fine or poor.", "2": "Dear or cheap."}


def test_days_formulas_and_empty_rows(tmp_path):
    rows = [
        ("set", "text", "day", None),
        ("a", "Fine.", date(2024, 3, 1), None),
        (None, None, None, None),
        ("a", "Poor.", datetime(2024, 3, 1, 12, 30), None),
    ]
    (documents,) = read_any(write(tmp_path / "docs.xlsx", rows), attributes=["day"])
    assert documents.values("day") == ("2024-03-01", "2024-03-01 12:30:00")
    # nobody has computed this one, so that it has no result
    path = write(tmp_path / "formula.xlsx", [("set", "text", "side"), ("a", '="x"&"y"', "b"), ("a", "Fine.", "c")])
    with pytest.raises(DataError, match="column 'text' is empty in row 2"):
        read_any(path, attributes=["side"])


def test_several_sheets_are_a_warning_and_empty_ones_are_none(tmp_path, caplog):
    path = write(tmp_path / "docs.xlsx", Notes=[("remember",)], Empty=[])
    assert len(read_any(path, attributes=["stars"])) == 2
    (message,) = caplog.messages
    assert message.endswith("docs.xlsx: sheet 'Sheet' is read, and not 'Notes'")


@pytest.mark.parametrize(
    ("rows", "merged", "match"),
    [
        (
            [("Reviews of 2024", None, None), *ROWS],
            "A1:C1",
            r"sheet 'Sheet' has merged cells in its first row \(A1:C1\)",
        ),
        ([("set", "text", "text"), ("a", "x", "y")], "", "column names occur more than once: text"),
        ([(None, None, None), *ROWS], "", "no names of columns in its first row"),
        ([], "", "has no cells"),
        ([("set", "text", "stars"), ("a", "x", 1, "y")], "", "has more cells than there are columns.* in row 2"),
        ([("set", "text", "stars"), (12345678901234567890, "x", 1)], "", "'set' holds numbers"),
    ],
)
def test_what_is_no_table_is_one_mistake(tmp_path, rows, merged, match):
    with pytest.raises(DataError, match=match) as caught:
        read_table(write(tmp_path / "docs.xlsx", rows, merged), ColumnsSection(), ["stars"])
    assert len(str(caught.value).splitlines()) == 1


@pytest.mark.parametrize("content", [b"no workbook", b"PK\x03\x04\x14\x00\xff\xfe", b"\xd0\xcf\x11\xe0\xff", b""])
def test_a_file_that_is_no_workbook_is_refused(tmp_path, content):
    path = tmp_path / "docs.xlsx"
    path.write_bytes(content)
    with pytest.raises(DataError, match=r"cannot be read as \.xlsx .*; save it again as \.xlsx, or as CSV"):
        read_any(path, attributes=["stars"])
