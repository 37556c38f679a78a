"""People's labels of opinions and of fairness, as lines and as a table."""

import gzip
import json
from dataclasses import replace

import pytest

from evenhand.errors import DataError
from evenhand.plugins.opinions.measures.perceived import approval, perceived_opinion_bias
from evenhand.plugins.opinions.reader import AnnotatedSummary, read_opinions

OPINIONS = {"set_id": "us", "opinions": {"wall": "Build the wall.", "tax": "He hides his tax returns."}}
ANNA = {
    "set_id": "us", "summary_id": "us/1", "annotator": "anna", "labels": {"wall": "complete", "tax": "absent"},
    "fairness": "very_unfair", "reason": "opinions",
}  # fmt: skip
BEN = {"set_id": "us", "summary_id": "us/1", "annotator": "ben", "labels": {"wall": 0.5}}
EXPECTED = AnnotatedSummary(
    set_id="us",
    summary_id="us/1",
    annotators=("anna", "ben"),
    opinions=("wall", "tax"),
    labels=(("complete", "absent"), (0.5, None)),
    fairness=("very_unfair", None),
    reasons=("opinions", None),
)
TABLE = """set_id,summary_id,annotator,wall,tax,fairness,reason
us,us/1,anna,complete,absent,very_unfair,opinions
us,us/1,ben,0.5,,,
"""


def write(path, *records):
    path.write_text("".join((r if isinstance(r, str) else json.dumps(r)) + "\n" for r in records))
    return path


def test_lines_are_gathered_by_summary_whatever_their_order(tmp_path):
    other = {**BEN, "summary_id": "us/2"}
    found = read_opinions(write(tmp_path / "o.jsonl", ANNA, other, OPINIONS, "", BEN))
    assert found[0] == EXPECTED
    assert [each.summary_id for each in found] == ["us/1", "us/2"]


def test_a_table_says_the_same(tmp_path):
    path = tmp_path / "o.csv"
    path.write_text(TABLE)
    assert read_opinions(path) == [EXPECTED]
    # as a spreadsheet saves it
    path.write_text(TABLE.replace("\n", "\r\n"), encoding="utf-8-sig")
    assert read_opinions(path) == [EXPECTED]
    packed = tmp_path / "o.csv.gz"
    packed.write_bytes(gzip.compress(TABLE.encode()))
    assert read_opinions(packed) == [EXPECTED]


def test_a_workbook_says_the_same(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for line in TABLE.splitlines():
        book.active.append([float(cell) if cell in {"0.5", "-1"} else cell or None for cell in line.split(",")])
    book.save(tmp_path / "o.xlsx")
    assert read_opinions(tmp_path / "o.xlsx") == [EXPECTED]


def test_a_table_needs_no_fairness(tmp_path):
    path = tmp_path / "o.csv"
    path.write_text("set_id,summary_id,annotator,wall,tax\nus,us/1,anna,complete,absent\nus,us/1,ben,0.5,\n")
    assert read_opinions(path) == [replace(EXPECTED, fairness=(None, None), reasons=(None, None))]


def test_the_measures_take_what_is_read(tmp_path):
    (summary,) = read_opinions(write(tmp_path / "o.jsonl", OPINIONS, ANNA, BEN))
    # means 0.75 and -1, hence exposures 0.875 and 0: Gini of two values with one 0 is (2 - 1) / 2
    assert perceived_opinion_bias(summary.labels).score == pytest.approx(0.5)
    voted = approval(summary.fairness)
    assert (voted.very_unfair, sum(voted.counts.values())) == (1.0, 1)


def test_all_mistakes_of_lines_are_listed(tmp_path):
    path = write(
        tmp_path / "o.jsonl", OPINIONS, ANNA, ANNA, {**BEN, "labels": {"wal": "absent"}}, OPINIONS,
        {**BEN, "annotator": "cat", "labels": {"wall": "fully", "tax": 0.7}}, {**BEN, "annotator": "dan", "set_id": "uk"},
        {**BEN, "fairness": "fair"}, {**BEN, "labels": {"wall": True}}, "{", "[]", {"set_id": "de", "opinions": {}},
    )  # fmt: skip
    with pytest.raises(DataError) as caught:
        read_opinions(path)
    lines = str(caught.value).splitlines()
    expected = [
        (3, "annotator 'anna' labels 'us/1' in line 2 already"),
        (4, "'wal' is not an opinion of set 'us'; did you mean 'wall'?"),
        (5, "set 'us' has a list of opinions already"),
        (6, "opinion 'tax' has the label 0.7"),
        (6, "opinion 'wall' has the label 'fully'; labels are complete (1), somewhat (0.5)"),
        (7, "set 'uk' has no list of opinions"),
        (8, "'fairness':"),
        (9, "'labels.wall"),
        (10, "is not JSON"),
        (11, "should be"),
        (12, "'opinions':"),
    ]
    assert len(lines) == len(expected)
    for line, (number, part) in zip(lines, expected, strict=True):
        assert line.startswith(f"{path}:{number}: ")
        assert part in line


@pytest.mark.parametrize(
    ("content", "match"),
    [
        (
            "summary_id,annotator,wall\nus/1,anna,absent\n",
            "needed are the columns set_id, summary_id, annotator and one for each opinion",
        ),
        ("set_id,summary_id,annotator\nus,us/1,anna\n", "one for each opinion"),
        ("set_id,summary_id,annotator,wall,wall\n", "occur more than once: wall"),
        ("set_id,summary_id,annotator,wall,\nus,us/1,anna,absent,\n", "one for each opinion"),
        ("", "has no labels; needed are the columns"),
        ("set_id,summary_id,annotator,wall\nus,us/1,anna,fully\n", r":2: opinion 'wall' has the label 'fully'"),
        ("set_id,summary_id,annotator,wall\nus,us/1,anna,absent,x\n", r":2: 'columns beyond the header'"),
        ("set_id,summary_id,annotator,wall\nus,us/1,,absent\n", r":2: 'annotator': is missing"),
        ("set_id,summary_id,annotator,wall\nus,u/1,a,absent\nuk,u/2,a,absent\n", "rows of us, uk; .* one source"),
        ("set_id,summary_id,annotator,wall\n", "has no labels"),
    ],
)
def test_wrong_tables_are_refused(tmp_path, content, match):
    path = tmp_path / "o.csv"
    path.write_text(content)
    with pytest.raises(DataError, match=match):
        read_opinions(path)


HEADER = "set_id,summary_id,annotator,wall\n"


@pytest.mark.parametrize(
    ("rows", "match"),
    [
        # the second row would be swallowed into the first one's cell
        ('us,"us/1,anna,absent\nus,us/2",anna,absent\nus,us/3,anna,absent\n', r":2: a cell holds a line break"),
        ('us,"us/1,anna,absent\nus,us/2,anna,absent\n', r"cannot be read as a table near line 3"),
        ('us,"us/1"x,anna,absent\n', r"cannot be read as a table near line 2"),
    ],
    ids=["closed later", "never closed", "closed within"],
)
def test_a_stray_quotation_mark_swallows_no_rows(tmp_path, rows, match):
    path = tmp_path / "o.csv"
    path.write_text(HEADER + rows)
    with pytest.raises(DataError, match=match):
        read_opinions(path)


def test_a_header_that_is_no_row_is_refused(tmp_path):
    path = tmp_path / "o.csv"
    path.write_text('set_id,"summary_id"x\n')
    with pytest.raises(DataError, match=r"o\.csv: cannot be read as a table near line 1"):
        read_opinions(path)


def test_an_opinion_may_stand_in_quotation_marks(tmp_path):
    path = tmp_path / "O.CSV"
    path.write_text('set_id,summary_id,annotator,"the wall, as promised"\nus,us/1,anna,absent\n')
    (summary,) = read_opinions(path)
    assert summary.opinions == ("the wall, as promised",)


@pytest.mark.parametrize("value", ["9" * 5000, "[" * 5000, r'"\ud800"'])
def test_json_that_cannot_be_worked_with_is_listed(tmp_path, value):
    path = write(tmp_path / "o.jsonl", OPINIONS, '{"set_id": "us", "summary_id": VALUE}'.replace("VALUE", value))
    with pytest.raises(DataError, match=r"o\.jsonl:2: "):
        read_opinions(path)


def test_long_names_and_labels_are_shown_cut(tmp_path):
    names = [f"opinion {number} " + "x" * 500 for number in range(30)]
    path = write(
        tmp_path / "o.jsonl",
        {"set_id": "us", "opinions": dict.fromkeys(names, "")},
        {**BEN, "labels": {"y" * 9000: "absent", names[0]: "z" * 9000}},
    )
    with pytest.raises(DataError, match="and 25 more") as caught:
        read_opinions(path)
    assert all(len(line) < 1500 for line in str(caught.value).splitlines())
