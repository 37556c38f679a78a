"""`evenhand score`: summaries made elsewhere, judged from the command line."""

import csv
import json

import pytest
from typer.testing import CliRunner

from evenhand.cli.app import app
from evenhand.config import CorpusSection
from evenhand.corpora import load_corpus, read_summaries
from evenhand.errors import DataError

JUDGES = "judges:\n  words: {kind: length}\n  recall: {kind: rouge, type: rouge1, measure: recall}\n"


def score(tmp_path, *options):
    (tmp_path / "judges.yaml").write_text(JUDGES)
    arguments = ["--documents", "reviews", "--judges", str(tmp_path / "judges.yaml"), "--out", str(tmp_path / "out")]
    done = CliRunner().invoke(app, ["score", *arguments, *map(str, options)])
    if done.exception and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done


@pytest.fixture
def sets():
    return load_corpus(CorpusSection(path="reviews", attribute="sentiment"))


def test_summaries_of_a_file_are_judged_and_can_be_audited(tmp_path, sets, monkeypatch):
    monkeypatch.setenv("EVENHAND_CACHE", str(tmp_path / "cache"))
    path = tmp_path / "summaries.json"
    path.write_text(json.dumps({each.id: "One two three." if number else "" for number, each in enumerate(sets)}))
    done = score(tmp_path, "--summaries", path)
    rows = list(csv.DictReader((tmp_path / "out" / "scores.csv").open()))
    assert [row["words"] for row in rows] == ["0.0"] + ["3.0"] * (len(sets) - 1)
    assert (rows[0]["recall"], rows[0]["unscored"], rows[1]["unscored"]) == ("", "recall: empty summary", "")
    assert f"{len(sets) - 1} scored, 1 unscored" in done.output
    assert read_summaries(tmp_path / "out" / "candidates.jsonl", sets) == read_summaries(path, sets)


def test_summaries_that_do_not_fit_write_nothing(tmp_path):
    path = tmp_path / "summaries.json"
    path.write_text('{"nowhere": "x"}')
    with pytest.raises(DataError, match="nowhere"):
        score(tmp_path, "--summaries", path)
    assert not (tmp_path / "out").exists()
