"""`evenhand import`: every format from the command line to document sets that are read back."""

import gzip
import json

import pytest
from typer.testing import CliRunner

from evenhand.cli.app import app
from evenhand.corpora import read_document_sets
from evenhand.errors import DataError


def run(*arguments):
    done = CliRunner().invoke(app, ["import", *map(str, arguments)])
    if done.exception and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done


def test_table(tmp_path):
    source, out = tmp_path / "docs.csv", tmp_path / "sets.jsonl"
    source.write_text("topic,side,age,text\nTrams,ban,old,Too loud.\nTrams,allow,young,Clean.\n")
    columns = ("--set", "topic", "--text", "text", "--attribute", "side", "--attribute", "age", "--topic", "topic")
    done = run("table", source, *columns, "--split", "test", "--out", out)
    (documents,) = read_document_sets(out, "side")
    assert (documents.topic, documents.split, documents.values("age")) == ("Trams", "test", ("old", "young"))
    assert "1 document sets; 2 documents" in done.output


def test_a_table_tells_its_values_and_sets_of_one_and_names_that_differ_by_capitals_are_refused(tmp_path):
    source = tmp_path / "docs.csv"
    source.write_text(
        "topic,side,text\nTrams,ban,Loud.\nTrams,ban\u200b,[removed]\nTrams, ban,Old.\nBikes,allow,Clean.\n"
    )
    columns = ("--set", "topic", "--text", "text", "--attribute", "side")
    said = run("table", source, *columns, "--out", tmp_path / "sets.jsonl").output.splitlines()
    assert said[1] == "side: 'ban' 3 and 'allow' 1 documents; 2 sets with one value alone"
    assert said[2].startswith("warning: 1 document or value may be what a spreadsheet or a platform left")
    source.write_text("topic,side,text\nTrams,ban,Loud.\nTrams,Ban,Slow.\nTrams,ban,Old.\nBikes,allow,Clean.\n")
    with pytest.raises(
        DataError, match=r"values of 'side' differ only by capitals: 'ban' \(2 documents\), 'Ban' \(1\);"
    ):
        run("table", source, *columns, "--out", tmp_path / "others.jsonl")


def test_rows_of_a_table_with_empty_cells_are_left_out_and_told(tmp_path):
    source, out = tmp_path / "docs.csv", tmp_path / "sets.jsonl"
    source.write_text("topic,side,text\nTrams,ban,Too loud.\nTrams,,Clean.\nTrams,allow,\n")
    arguments = ("table", source, "--set", "topic", "--text", "text", "--attribute", "side", "--out", out)
    with pytest.raises(DataError, match="--skip-empty"):
        run(*arguments)
    done = run(*arguments, "--skip-empty")
    assert "left out: 2 rows with empty cells: side in line 3; text in line 4" in done.output
    # of which sides they are: what leaves one side out more often is a bias
    assert "left out by side: (empty) 1, allow 1" in done.output
    assert [len(each.documents) for each in read_document_sets(out)] == [1]


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


def test_annotation(tmp_path):
    source, out = tmp_path / "annotation.json", tmp_path / "out.jsonl"
    items = [{"topic": "Ferry", "stance": side, "document": f"The {side}."} for side in ("left", "right")]
    source.write_text(json.dumps(items))
    assert run("annotation", source, "--out", out, "--split", "test").stdout.startswith(
        f"{out}: 1 document sets; 2 items"
    )
    assert read_document_sets(out)[0].split == "test"
    done = run("annotation", source, "--out", out, "--articles", "--force")
    assert done.stdout.startswith(f"{out}: 2 articles; 2 items")
    with pytest.raises(DataError, match="already exists"):
        run("annotation", source, "--out", out, "--articles")
    with pytest.raises(DataError, match="--articles writes none"):
        run("annotation", source, "--out", out, "--articles", "--split", "test")


def test_coverage(tmp_path):
    source, out = tmp_path / "d.jsonl", tmp_path / "sets.jsonl"
    source.write_text(json.dumps({"entity_id": "e", "reviews": [{"sentences": ["No."], "label": 1}]}))
    run("coverage", source, "--labels", "semeval", "--out", out)
    assert read_document_sets(out)[0].values("stance") == ("against",)
    with pytest.raises(DataError, match="'amazn' is not known; did you mean 'amazon'"):
        run("coverage", source, "--labels", "amazn", "--out", tmp_path / "others.jsonl")


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
    for name in ("polisum", "annotation", "perspectivesumm", "coverage", "tweets", "reviews", "dialogue"):
        assert f"Example: evenhand import {name}" in run(name, "--help").stdout


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


ENTITY = json.dumps({"entity_id": "e", "reviews": [{"sentences": ["No."], "label": 1}]}) + "\n"


@pytest.mark.parametrize(
    ("name", "match"),
    [
        ("d.jsonl", "is one of the files that are read"),
        ("../in/d.jsonl", "is one of the files that are read"),
        ("precious.txt", r"name a file that ends in \.jsonl"),
        ("sets.jsonl.gz", r"name a file that ends in \.jsonl"),
    ],
)
def test_an_output_that_could_do_harm_is_refused_and_nothing_is_written(tmp_path, name, match):
    folder = tmp_path / "in"
    folder.mkdir()
    source = folder / "d.jsonl"
    source.write_text(ENTITY)
    (folder / "precious.txt").write_text("precious")
    with pytest.raises(DataError, match=match):
        run("coverage", source, "--labels", "semeval", "--out", folder / name)
    assert source.read_text() == ENTITY
    assert sorted(path.name for path in folder.iterdir()) == ["d.jsonl", "precious.txt"]
    assert (folder / "precious.txt").read_text() == "precious"


def test_an_output_in_the_folder_that_is_read_is_refused(tmp_path):
    (tmp_path / "b.tsv").write_text("b\tFine.\t4\n")
    with pytest.raises(DataError, match=r"lies in the folder .*, which is read"):
        run("reviews", tmp_path, "--labels", "rating", "--out", tmp_path / "sets.jsonl")


@pytest.mark.parametrize("verb", ["coverage", "news"])
def test_what_is_there_is_replaced_by_force_only(tmp_path, verb):
    source, out = tmp_path / "d.jsonl", tmp_path / "sets.jsonl"
    source.write_text(ENTITY)
    out.write_text("somebody's work\n")
    options = ("--labels", "semeval") if verb == "coverage" else ()
    with pytest.raises(DataError, match=r"sets\.jsonl: already exists; .* add --force") as caught:
        run(verb, source, *options, "--out", out)
    assert ("What a person reviewed" in str(caught.value)) == (verb == "news")
    assert out.read_text() == "somebody's work\n"


def test_an_earlier_import_is_replaced_by_force(tmp_path):
    source, out = tmp_path / "d.jsonl", tmp_path / "sets.jsonl"
    source.write_text(ENTITY)
    out.write_text("of last time\n")
    run("coverage", source, "--labels", "semeval", "--out", out, "--force")
    assert len(read_document_sets(out)) == 1


def test_every_format_takes_force():
    for name in ("polisum", "annotation", "perspectivesumm", "coverage", "tweets", "reviews", "dialogue", "news"):
        assert "--force" in run(name, "--help").stdout


@pytest.mark.parametrize("content", [None, "text".encode("utf-16")], ids=["absent", "UTF-16"])
@pytest.mark.parametrize(
    "verb",
    [
        ("polisum",), ("perspectivesumm",), ("coverage", "--labels", "semeval"), ("reviews", "--labels", "rating"),
        ("dialogue", "--source", "debates", "--whole"), ("tweets", "--source", "election"), ("news",),
    ],
    ids=lambda verb: verb[0],
)  # fmt: skip
def test_a_file_that_cannot_be_read_was_given_wrongly(tmp_path, verb, content):
    source = tmp_path / "given.txt.gz"
    if content is not None:
        source.write_bytes(content)
    with pytest.raises(DataError, match=r"given\.txt\.gz: (cannot be read|is not )") as caught:
        run(verb[0], source, *verb[1:], "--out", tmp_path / "sets.jsonl")
    assert caught.value.exit_code == 2


def test_tweets_are_looked_at_before_nltk(tmp_path, monkeypatch):
    monkeypatch.setenv("EVENHAND_NLTK", str(tmp_path / "absent"))
    with pytest.raises(DataError, match=r"input\.txt: cannot be read"):
        run("tweets", tmp_path / "input.txt", "--source", "claritin", "--out", tmp_path / "s.jsonl")
