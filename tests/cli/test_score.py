"""`evenhand score`: summaries made elsewhere, judged from the command line."""

import csv
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from evenhand.cli.app import app
from evenhand.config import CorpusSection
from evenhand.corpora import load_corpus, read_summaries
from evenhand.errors import DataError, RecipeError, StorageError
from evenhand.evaluation.human.files import read_sheets

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


def test_earlier_scores_are_named_and_a_run_is_not_overwritten(tmp_path, sets, monkeypatch):
    monkeypatch.setenv("EVENHAND_CACHE", str(tmp_path / "cache"))
    path = tmp_path / "summaries.json"
    path.write_text(json.dumps({each.id: "One two three." for each in sets}))
    assert "replaced" not in score(tmp_path, "--summaries", path).output
    said = score(tmp_path, "--summaries", path).output
    assert f"holds scores of {len(sets)} summaries by words, recall; they will be replaced." in " ".join(said.split())
    # a phase of a run has files of the same names, and no table of scores
    (tmp_path / "out" / "scores.csv").unlink()
    with pytest.raises(DataError, match=r"holds requests\.jsonl, .*, which no score wrote.* without its scores\.csv"):
        score(tmp_path, "--summaries", path)


def test_scores_of_other_summaries_are_replaced_by_force_alone(tmp_path, monkeypatch):
    monkeypatch.setenv("EVENHAND_CACHE", str(tmp_path / "cache"))
    assert score(tmp_path, "--summaries", "praising").exit_code == 0
    with pytest.raises(DataError, match=r"holds scores of other summaries than those of even-handed; .* --force"):
        score(tmp_path, "--summaries", "even-handed")
    assert score(tmp_path, "--summaries", "praising").exit_code == 0
    assert score(tmp_path, "--summaries", "even-handed", "--force").exit_code == 0


def test_summaries_may_be_named_and_be_those_of_a_folder_of_scores(tmp_path, sets, monkeypatch):
    monkeypatch.setenv("EVENHAND_CACHE", str(tmp_path / "cache"))
    assert score(tmp_path, "--summaries", "theirs=praising").exit_code == 0
    assert read_summaries(tmp_path / "out", sets) == read_summaries(Path("praising"), sets)
    with pytest.raises(
        DataError, match=r"is a folder without best\.jsonl; name a file of summaries, such as .*out/best"
    ):
        read_summaries(tmp_path, sets)


def test_scores_of_which_files_were_taken_away_or_never_written_are_replaced(tmp_path, sets, monkeypatch):
    monkeypatch.setenv("EVENHAND_CACHE", str(tmp_path / "cache"))
    path, out = tmp_path / "summaries.json", tmp_path / "out"
    path.write_text(json.dumps({each.id: "One two three." for each in sets}))

    def full(*arguments):
        raise StorageError("no space left")

    with monkeypatch.context() as disk:
        disk.setattr("evenhand.storage.write_jsonl", full)
        with pytest.raises(StorageError):
            score(tmp_path, "--summaries", path)
    assert "they will be replaced" in " ".join(score(tmp_path, "--summaries", path).output.split())
    (out / "requests.jsonl").unlink()
    assert score(tmp_path, "--summaries", path).exit_code == 0 and (out / "requests.jsonl").is_file()


@pytest.mark.parametrize("table", ["set,side,text\n", "", "my,own,table\n", "\0", "a" * 200_000])
def test_a_table_of_somebody_else_is_not_overwritten(tmp_path, table):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "scores.csv").write_text(table)
    with pytest.raises(DataError, match=r"holds scores\.csv, which no score wrote;"):
        score(tmp_path, "--summaries", "praising")


def test_what_was_scored_goes_onto_the_annotation_page(tmp_path, sets, monkeypatch):
    monkeypatch.setenv("EVENHAND_CACHE", str(tmp_path / "cache"))
    texts = {"first": "One two three.", "second": "Four five."}
    for name, text in texts.items():
        path = tmp_path / f"{name}.json"
        path.write_text(json.dumps({each.id: text for each in sets} | ({sets[0].id: ""} if name == "first" else {})))
        score(tmp_path, "--summaries", path, "--out", tmp_path / name)
    systems = [part for name in texts for part in ("--system", f"{name}={tmp_path / name}")]
    page = tmp_path / "page.html"
    done = CliRunner().invoke(app, ["human", "page", *systems, "--limit", "3", "--out", str(page)])
    assert done.exit_code == 0, done.output
    (sheet,), _ = read_sheets(page.with_suffix(".json"))
    assert [{each.text for each in item.summaries} for item in sheet.items] == [set(texts.values())] * 3
    assert {item.side for item in sheet.items} == {"all"}
    assert all(document.text in item.document for item in sheet.items for document in find(sets, item.set_id).documents)
    assert "left out: no summary by first: 1" in done.output


def find(sets, name):
    return next(each for each in sets if each.id == name)


def test_a_table_is_judged_by_the_names_of_its_columns(tmp_path, monkeypatch):
    monkeypatch.setenv("EVENHAND_CACHE", str(tmp_path / "cache"))
    documents, summaries = tmp_path / "posts.csv", tmp_path / "summaries.csv"
    documents.write_text('thread,party,"body, long"\nferry,left,Cheap.\nferry,right,Dear.\n')
    summaries.write_text("id,summary\nferry,Cheap and dear.\n")
    given = ("--documents", documents, "--attribute", "party", "--summaries", summaries)
    with pytest.raises(DataError, match="--columns set=COLUMN"):
        score(tmp_path, *given)
    done = score(tmp_path, *given, "--columns", "set=thread,text=body, long")
    assert done.exit_code == 0, done.output
    assert [row["words"] for row in csv.DictReader((tmp_path / "out" / "scores.csv").open())] == ["3.0"]
    for wrong in ("txt=body", "set", "set="):
        assert score(tmp_path, *given, "--columns", wrong).exit_code == 2


@pytest.mark.parametrize(("scope", "judge"), [("side", "{kind: equal-coverage}"), ("all", "{kind: contrast}")])
def test_a_judge_that_cannot_score_the_scope_is_told_by_the_option(tmp_path, scope, judge):
    path = tmp_path / "mine.yaml"
    path.write_text(f"judges:\n  mine: {judge}\n")
    with pytest.raises(RecipeError) as caught:
        score(tmp_path, "--summaries", path, "--judges", path, "--scope", scope)
    assert f"--scope {scope}" in str(caught.value) and "the recipe" not in str(caught.value)


def test_one_file_is_scored_and_none_is_dropped_in_silence(tmp_path):
    options = (
        "score",
        "--documents",
        "reviews",
        "--summaries",
        "even-handed",
        "--summaries",
        "praising",
        "--judges",
        "rerank",
    )
    done = CliRunner().invoke(app, [*options, "--out", str(tmp_path / "scores")])
    assert isinstance(done.exception, RecipeError)
    assert str(done.exception).startswith("--summaries: 2 files")


def test_summaries_that_do_not_fit_write_nothing(tmp_path):
    path = tmp_path / "summaries.json"
    path.write_text('{"nowhere": "x"}')
    with pytest.raises(DataError, match="nowhere"):
        score(tmp_path, "--summaries", path)
    assert not (tmp_path / "out").exists()
