"""Review sets out of tab-separated files."""

import pytest

from evenhand.errors import DataError, StorageError
from evenhand.fairness.groups.preparation import Sentiment
from evenhand.plugins.perspectivesumm.reviews import read_reviews

HEADER = "group_id\treview_text\trating\tcategory\trouge1\n"


def label(text):
    """A labeller that a person can follow."""
    return Sentiment("pos" if "good" in text else "neg", 0.0, 0.0)


def write(folder, name, *rows, header=HEADER):
    (folder / name).write_text(header + "".join("\t".join(row) + "\n" for row in rows))


def test_each_file_is_a_set_and_each_row_a_document(tmp_path):
    write(tmp_path, "b2.csv", ("b2", "Bad.", "1", "cafe", "0.3"))
    write(tmp_path, "b1.csv", ("b1", "So good.", "5.0", "cafe", "0.1"), ("b1", "Meh.", "3.0", "cafe", "0.2"))
    sets = read_reviews(tmp_path).sets
    assert [documents.id for documents in sets] == ["b1", "b2"]
    assert [(d.text, d.attributes) for d in sets[0].documents] == [
        ("So good.", {"rating": "5"}),
        ("Meh.", {"rating": "3"}),
    ]
    assert sets[0].notes == {
        "values": {"rating": ["1", "2", "3", "4", "5"]},
        "separator": " || ",
        "meta": {"type": "reviews", "id": "b1.csv", "group_id": "b1", "category": "cafe"},
    }


def test_a_labeller_adds_the_sentiment_and_its_declared_order(tmp_path):
    write(tmp_path, "b.tsv", ("b", "So good.", "5"), ("b", "Bad.", "1"))
    (documents,) = read_reviews(tmp_path, label).sets
    assert [d.attributes["sentiment"] for d in documents.documents] == ["pos", "neg"]
    assert documents.notes["values"]["sentiment"] == ["pos", "neu", "neg"]


def test_the_first_files_by_name_are_taken(tmp_path):
    for name in ("c", "a", "b"):
        write(tmp_path, f"{name}.csv", (name, "Fine.", "4"))
    built = read_reviews(tmp_path, limit=2)
    assert [documents.id for documents in built.sets] == ["a", "b"]
    assert built.left_out == {"files: beyond the first 2": 1}
    assert read_reviews(tmp_path, limit=None).left_out == {}


def test_wrong_rows_of_all_files_are_listed_with_their_lines(tmp_path):
    write(tmp_path, "a.csv", ("a", "Fine.", "4"), ("a", "Fine.", "six"), ("a", " ", "4"))
    write(tmp_path, "b.csv", ("b", "Fine.", "6"), ("b", "Fine."))
    write(tmp_path, "c.csv")
    with pytest.raises(DataError) as caught:
        read_reviews(tmp_path)
    assert str(caught.value).splitlines() == [
        f"{tmp_path}/a.csv:3: rating 'six' is not a number from 1 to 5",
        f"{tmp_path}/a.csv:4: has no text",
        f"{tmp_path}/b.csv:2: rating '6' is not a number from 1 to 5",
        f"{tmp_path}/b.csv:3: has 2 fields; group id, text and rating are needed, separated by tabs",
        f"{tmp_path}/c.csv: has no review; take it out",
    ]


def test_a_folder_without_files_is_refused(tmp_path):
    with pytest.raises(DataError, match=r"holds no \.csv or \.tsv file"):
        read_reviews(tmp_path)
    with pytest.raises(StorageError, match="is not a folder"):
        read_reviews(tmp_path / "absent")


@pytest.mark.parametrize(
    ("rows", "mistakes"),
    [
        # the quotation mark would swallow all up to the next one
        ('b\t"Good.\t5\nb\tBad" it was.\t1\n', ["3: is not a row of tab-separated fields"]),
        ('b\t"Good.\t5\nb\tBad.\t1\n', ["3: is not a row of tab-separated fields"]),
        ('b\t"Good.\t5\nb\tBad.\t1\nb\tSo-so"\t3\n', ["4: has a field with a tab or a line break in it"]),
        ('b\t"Good.\t5"\t5\n', ["2: has a field with a tab"]),
        (f"b\t{'a' * 140_000}\t5\n", ["2: is not a row of tab-separated fields"]),
    ],
    ids=["closed within a field", "never closed", "closed at the end of a field", "around a tab", "over the limit"],
)
def test_a_stray_quotation_mark_swallows_no_reviews(tmp_path, rows, mistakes):
    (tmp_path / "b.tsv").write_text(HEADER + rows)
    with pytest.raises(DataError) as caught:
        read_reviews(tmp_path)
    lines = str(caught.value).splitlines()
    assert [line.startswith(f"{tmp_path}/b.tsv:{part}") for line, part in zip(lines, mistakes, strict=True)] == [True]


def test_quotation_marks_in_a_text_are_kept_and_those_around_it_are_not(tmp_path):
    (tmp_path / "b.tsv").write_text('b\tThe "best" pie, 9" wide\t5\nb\t"So ""good"", that pie"\t4\n')
    (documents,) = read_reviews(tmp_path).sets
    assert [d.text for d in documents.documents] == ['The "best" pie, 9" wide', 'So "good", that pie']


@pytest.mark.parametrize(
    ("first", "part"),
    [("b\tFine.\n", "has 2 fields"), ("b\tFine.\t6\n", "is not a number from 1 to 5"), ("b\t \t4\n", "has no text")],
)
def test_a_first_row_that_is_no_header_is_not_skipped(tmp_path, first, part):
    (tmp_path / "b.tsv").write_text(first + "b\tFine.\t4\n")
    with pytest.raises(DataError, match=rf"b\.tsv:1: .*{part}"):
        read_reviews(tmp_path)


def test_files_of_one_name_are_refused_and_capitals_of_the_suffix_do_not_matter(tmp_path):
    write(tmp_path, "a.CSV", ("a", "Fine.", "4"))
    assert [documents.id for documents in read_reviews(tmp_path).sets] == ["a"]
    write(tmp_path, "a.tsv", ("a", "Fine.", "4"))
    with pytest.raises(DataError, match=r"a\.tsv: would give the same set 'a' as a\.CSV"):
        read_reviews(tmp_path)
