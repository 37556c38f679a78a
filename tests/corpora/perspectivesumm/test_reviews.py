"""Review sets out of tab-separated files."""

import pytest

from evenhand.corpora.perspectivesumm.reviews import read_reviews
from evenhand.errors import DataError, StorageError
from evenhand.fairness.groups import Sentiment

HEADER = "group_id\treview_text\trating\tcategory\trouge1\n"


def label(text):
    """A labeller that a person can follow."""
    return Sentiment("pos" if "good" in text else "neg", 0.0, 0.0)


def write(folder, name, *rows, header=HEADER):
    (folder / name).write_text(header + "".join("\t".join(row) + "\n" for row in rows))


def test_each_file_is_a_set_and_each_row_a_document(tmp_path):
    write(tmp_path, "b2.csv", ("b2", "Bad.", "1", "cafe", "0.3"))
    write(tmp_path, "b1.csv", ("b1", "So good.", "5.0", "cafe", "0.1"), ("b1", "Meh.", "3.0", "cafe", "0.2"))
    sets = read_reviews(tmp_path)
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
    (documents,) = read_reviews(tmp_path, label)
    assert [d.attributes["sentiment"] for d in documents.documents] == ["pos", "neg"]
    assert documents.notes["values"]["sentiment"] == ["pos", "neu", "neg"]


def test_the_first_files_by_name_are_taken(tmp_path):
    for name in ("c", "a", "b"):
        write(tmp_path, f"{name}.csv", (name, "Fine.", "4"))
    assert [documents.id for documents in read_reviews(tmp_path, limit=2)] == ["a", "b"]


def test_wrong_rows_of_all_files_are_listed_with_their_lines(tmp_path):
    write(tmp_path, "a.csv", ("a", "Fine.", "4"), ("a", "Fine.", "six"), ("a", " ", "4"))
    write(tmp_path, "b.csv", ("b", "Fine.", "6"), ("b", "Fine."))
    write(tmp_path, "c.csv")
    with pytest.raises(DataError) as caught:
        read_reviews(tmp_path)
    assert str(caught.value).splitlines() == [
        f"{tmp_path}/a.csv:3: rating 'six' is no number",
        f"{tmp_path}/a.csv:4: has no text",
        f"{tmp_path}/b.csv:2: rating '6' is not one of 1 to 5",
        f"{tmp_path}/b.csv:3: has 2 fields; group id, text and rating are needed, separated by tabs",
        f"{tmp_path}/c.csv: has no review; take it out",
    ]


def test_a_folder_without_files_is_refused(tmp_path):
    with pytest.raises(DataError, match=r"holds no \.csv or \.tsv file"):
        read_reviews(tmp_path)
    with pytest.raises(StorageError, match="is no folder"):
        read_reviews(tmp_path / "absent")
