"""Cells of CSV: what a spreadsheet would run is guarded, numbers stay, and every text comes back."""

import ast
import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sources import ROOT, package, tree_of

from evenhand.corpora.table_files import csv_rows
from evenhand.text.cells import NUMBER, csv_text, read, written
from evenhand.text.controls import CONTROL

STARTS = (
    "=",
    "+",
    "-",
    "@",
    "\t",
    "\r",
    "\n",
    "\uff1d",
    "\uff0b",
    "\uff0d",
    "\uff20",
    "\ufe63",
    "\ufe62",
    "\ufe66",
    "\ufe6b",
)
PASSED_OVER = ("", " ", "\u00a0", "\ufeff", "\u200b", "\u3000", "\x00", "'", "  '")
# texts made of what matters here, and of anything
TEXTS = st.text(st.sampled_from("=+-@\t\r\n'\" \\x1b5cu\x1b\u202e\uff1d\ufeff,;0.e")) | st.text()


def cells(*values):
    return next(csv.reader(io.StringIO(csv_text([values]), newline="")))


@pytest.mark.parametrize("start", STARTS)
@pytest.mark.parametrize("before", PASSED_OVER)
def test_no_cell_begins_as_a_formula(before, start):
    text = f"{before}{start}HYPERLINK(1)"
    (cell,) = cells(text)
    assert cell.startswith("'")
    assert read(cell) == text


@pytest.mark.parametrize("text", ["-1", "+3", "-0.5", "1e-6", "-2.5E+3", "0"])
def test_a_text_that_is_a_number_stays_one(text):
    assert cells(text) == [text]


def test_numbers_are_written_as_they_are():
    assert cells(-0.5, -1, 1e-06, 0.1, None, "") == ["-0.5", "-1", "1e-06", "0.1", "", ""]


@pytest.mark.parametrize(
    "text", ["-1+1", "-1;=1", "- 1", "--1", "+1-2|' /C calc'!A0", "-inf", "=1", "-", "\uff0d\uff11"]
)
def test_what_only_begins_as_a_number_is_guarded(text):
    assert cells(text) == [f"'{text}"]


@pytest.mark.parametrize(
    "text",
    ["'tis", "a=b", "left-wing", "\u2013 dash", "\u0645\u0631\u062d\u0628\u0627", "x\ny", "\U0001f469\u200d\U0001f4bb"],
)
def test_ordinary_texts_are_written_as_they_are(text):
    assert cells(text) == [text]


@given(TEXTS)
def test_every_text_comes_back_and_no_control_character_leaves(text):
    assert read(written(text)) == text
    (cell,) = cells(text)
    assert not CONTROL.search(cell)
    assert not cell.strip().startswith(STARTS) or NUMBER.fullmatch(cell)


@given(st.lists(TEXTS.filter(bool), min_size=1, max_size=4))
def test_a_table_of_scores_is_read_as_it_was_written(tmp_path_factory, texts):
    path = tmp_path_factory.mktemp("table") / "scores.csv"
    columns = ["set", "side", "text", "=judge", "unscored", "id"]
    path.write_bytes(csv_text([columns, *(["-1", "left", text, -0.5, None, "@c"] for text in texts)]).encode())
    rows = [row for _, row in csv_rows(path, ("text",))]
    assert [row["text"] for row in rows] == texts
    assert {(row["set"], row["id"]) for row in rows} == {("-1", "@c")}


def test_cells_of_other_tables_are_left_alone(tmp_path):
    path = tmp_path / "docs.csv"
    path.write_text("id,text\n1,'-ing forms\n2,\\x41\n")
    assert [row["text"] for _, row in csv_rows(path, ("text",))] == ["'-ing forms", "\\x41"]


def test_nothing_else_in_the_package_writes_csv():
    names = {"writer", "DictWriter", "to_csv", "write_csv", "savetxt"}
    found = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in package()
        if path.relative_to(ROOT).parts[0] != "benchmarks"
        for node in ast.walk(tree_of(path))
        if (isinstance(node, ast.Attribute) and node.attr in names and path.name != "cells.py")
        or (isinstance(node, ast.ImportFrom) and node.module == "csv")
    ]
    assert found == []
