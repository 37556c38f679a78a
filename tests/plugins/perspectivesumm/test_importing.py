"""`evenhand import` of PerspectiveSumm, tweets, reviews and dialogues: from the command to sets that are read back."""

import gzip
import json
from functools import partial

import pytest
from commands import invoked

from evenhand.corpora import read_document_sets
from evenhand.errors import DataError

run = partial(invoked, "import")


def test_perspectivesumm(tmp_path):
    released = {
        "units": [{"text": "Fine.", "value": {"sentiment": "pos", "rating": 4}}],
        "meta": {"seperator": " || "},
        "value_input": {"sentiment": ["Fine.", ""], "rating": ["Fine."]},
        "value_mapping": {"sentiment": ["pos", "neg"], "rating": [4]},
    }
    source, out = tmp_path / "cafe.json.gz", tmp_path / "sets.jsonl"
    source.write_bytes(gzip.compress(json.dumps([released]).encode()))
    done = run("perspectivesumm", source, "--out", out, "--attribute", "sentiment", "--split", "test")
    assert done.stdout == f"{out}: 1 document set\n"
    (documents,) = read_document_sets(out, "sentiment")
    assert (documents.id, documents.split, list(documents.documents[0].attributes)) == (
        "cafe-0001",
        "test",
        ["sentiment"],
    )


def test_tweets(tmp_path):
    source, out = tmp_path / "input.txt", tmp_path / "sets.jsonl"
    labels = ("Pro-Republican", "Pro-Democrat", "Neutral", "Unclear")
    source.write_text("".join(f"{n}<||>{labels[n % 4]}<||>tweet number {n}\n" for n in range(120)))
    done = run("tweets", source, "--source", "election", "--out", out)
    assert "1,350 document sets" in done.stdout
    assert "left out: 30 tweets: label 'Unclear'" in done.stdout
    assert len(read_document_sets(out, "politics")) == 1350


def test_reviews(tmp_path):
    folder, out = tmp_path / "raw", tmp_path / "sets.jsonl"
    folder.mkdir()
    (folder / "b.csv").write_text("group_id\treview_text\trating\tcategory\nb\tFine.\t4.0\tcafe\n")
    run("reviews", folder, "--labels", "rating", "--out", out)
    assert read_document_sets(out)[0].documents[0].attributes == {"rating": "4"}


def test_dialogue(tmp_path):
    source, out = tmp_path / "iq2.json", tmp_path / "sets.jsonl"
    turns = [{"speaker": name, "paragraphs": ["Well, well."]} for name in ("Ann", "Bo")]
    source.write_text(json.dumps({"d1": {"transcript": turns}}))
    run("dialogue", source, "--source", "debates", "--out", out, "--whole")
    assert read_document_sets(out)[0].values("speaker") == ("Ann", "Bo")


def court(path, n_cases):
    turn = " +++$+++ 0 +++$+++ FALSE +++$+++ MR. A +++$+++ JUSTICE +++$+++ NA +++$+++ PETITIONER +++$+++ Order.\n"
    path.write_text("".join(f"{case}{turn}" for case in range(n_cases)))
    return path


def test_cases_and_files_beyond_the_limit_are_counted(tmp_path):
    source, out = court(tmp_path / "court.txt", 150), tmp_path / "sets.jsonl"
    done = run("dialogue", source, "--source", "court", "--out", out, "--whole", "--split", "test")
    assert done.stdout == f"{out}: 100 document sets\nleft out: 50 cases: beyond the first 100\n"
    assert {documents.split for documents in read_document_sets(out)} == {"test"}
    for limit in (150, 0):
        done = run("dialogue", source, "--source", "court", "--out", out, "--whole", "--limit", limit, "--force")
        assert done.stdout == f"{out}: 150 document sets\n"
    folder = tmp_path / "raw"
    folder.mkdir()
    for name in ("a", "b", "c"):
        (folder / f"{name}.tsv").write_text(f"{name}\tFine.\t4\n")
    done = run("reviews", folder, "--labels", "rating", "--out", out, "--limit", "2", "--split", "test", "--force")
    assert done.stdout == f"{out}: 2 document sets\nleft out: 1 files: beyond the first 2\n"
    assert len(read_document_sets(out)) == 2
    run("reviews", folder, "--labels", "rating", "--out", out, "--limit", "0", "--split", "test", "--force")
    assert len(read_document_sets(out)) == 3
    assert read_document_sets(out)[0].split == "test"


@pytest.mark.parametrize("more", [("--most-tokens", "10"), ("--exact",)])
def test_whole_transcripts_take_no_options_of_cutting(tmp_path, more):
    source = court(tmp_path / "court.txt", 1)
    with pytest.raises(DataError, match="--whole does not cut transcripts"):
        run("dialogue", source, "--source", "court", "--out", tmp_path / "s.jsonl", "--whole", *more)


def test_an_output_in_the_folder_that_is_read_is_refused(tmp_path):
    (tmp_path / "b.tsv").write_text("b\tFine.\t4\n")
    with pytest.raises(DataError, match=r"lies in the folder .*, which is read"):
        run("reviews", tmp_path, "--labels", "rating", "--out", tmp_path / "sets.jsonl")


def test_tweets_are_looked_at_before_nltk(tmp_path, monkeypatch):
    monkeypatch.setenv("EVENHAND_NLTK", str(tmp_path / "absent"))
    with pytest.raises(DataError, match=r"input\.txt: cannot be read"):
        run("tweets", tmp_path / "input.txt", "--source", "claritin", "--out", tmp_path / "s.jsonl")
