"""`evenhand import`: every format from the command line to document sets that are read back."""

import gzip
import json

import pytest
from typer.testing import CliRunner

from evenhand.cli_import import app
from evenhand.corpora import read_document_sets
from evenhand.errors import DataError


def run(*arguments):
    done = CliRunner().invoke(app, [str(argument) for argument in arguments])
    if done.exception and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done


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
    assert done.stdout == f"{out}: 1 document sets\n"
    (documents,) = read_document_sets(out, "sentiment")
    assert (documents.id, documents.split, list(documents.documents[0].attributes)) == (
        "cafe-0001",
        "test",
        ["sentiment"],
    )


def test_coverage(tmp_path):
    source, out = tmp_path / "d.jsonl", tmp_path / "sets.jsonl"
    source.write_text(json.dumps({"entity_id": "e", "reviews": [{"sentences": ["No."], "label": 1}]}))
    run("coverage", source, "--labels", "semeval", "--out", out)
    assert read_document_sets(out)[0].values("stance") == ("against",)
    with pytest.raises(DataError, match="'amazn' is not known; did you mean 'amazon'"):
        run("coverage", source, "--labels", "amazn", "--out", out)


def test_tweets(tmp_path):
    source, out = tmp_path / "input.txt", tmp_path / "sets.jsonl"
    labels = ("Pro-Republican", "Pro-Democrat", "Neutral", "Unclear")
    source.write_text("".join(f"{n}<||>{labels[n % 4]}<||>tweet number {n}\n" for n in range(120)))
    done = run("tweets", source, "--source", "election", "--out", out)
    assert "1350 document sets" in done.stdout
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


def test_every_format_has_an_example():
    for name in ("polisum", "perspectivesumm", "coverage", "tweets", "reviews", "dialogue"):
        assert f"Example: evenhand import {name}" in run(name, "--help").stdout
