"""`evenhand import`: every format from the command line to document sets that are read back."""

import json
from functools import partial

import pytest
from commands import invoked

from evenhand.cli.app import VERBS
from evenhand.corpora import read_document_sets
from evenhand.errors import DataError

FORMATS = sorted(name.removeprefix("import.") for name in VERBS if name.startswith("import."))
# plug-in -> its formats, with the options that each must have
OF_PLUGINS = (
    ("polisum", ("polisum",)),
    (
        "perspectivesumm", ("perspectivesumm",), ("reviews", "--labels", "rating"),
        ("dialogue", "--source", "debates", "--whole"), ("tweets", "--source", "election"),
    ),
    ("bias", ("news",)),
)  # fmt: skip


run = partial(invoked, "import")


def test_table(tmp_path):
    source, out = tmp_path / "docs.csv", tmp_path / "sets.jsonl"
    source.write_text("topic,side,age,text\nTrams,ban,old,Too loud.\nTrams,allow,young,Clean.\n")
    columns = ("--set", "topic", "--text", "text", "--attribute", "side", "--attribute", "age", "--topic", "topic")
    done = run("table", source, *columns, "--split", "test", "--out", out)
    (documents,) = read_document_sets(out, "side")
    assert (documents.topic, documents.split, documents.values("age")) == ("Trams", "test", ("old", "young"))
    assert "1 document set; 2 documents" in done.output


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


def test_rows_of_a_table_with_empty_cells_are_left_out_and_told(tmp_path, caplog):
    source, out = tmp_path / "docs.csv", tmp_path / "sets.jsonl"
    source.write_text("topic,side,text\nTrams,ban,Too loud.\nTrams,,Clean.\nTrams,allow,\n")
    arguments = ("table", source, "--set", "topic", "--text", "text", "--attribute", "side", "--out", out)
    with pytest.raises(DataError, match="--skip-empty"):
        run(*arguments)
    run(*arguments, "--skip-empty")
    assert (
        "left out: 2 rows with empty cells (side in line 3; text in line 4), by side: (empty) 1, allow 1" in caplog.text
    )
    assert [len(each.documents) for each in read_document_sets(out)] == [1]


def test_coverage(tmp_path):
    source, out = tmp_path / "d.jsonl", tmp_path / "sets.jsonl"
    source.write_text(json.dumps({"entity_id": "e", "reviews": [{"sentences": ["No."], "label": 1}]}))
    run("coverage", source, "--labels", "semeval", "--out", out)
    assert read_document_sets(out)[0].values("stance") == ("against",)
    with pytest.raises(DataError, match="'amazn' is not known; did you mean 'amazon'"):
        run("coverage", source, "--labels", "amazn", "--out", tmp_path / "others.jsonl")


def test_every_format_has_an_example():
    for name in FORMATS:
        assert f"Example: evenhand import {name}" in run(name, "--help").stdout


ENTITY = json.dumps({"entity_id": "e", "reviews": [{"sentences": ["No."], "label": 1}]}) + "\n"


@pytest.mark.parametrize(
    ("name", "match"),
    [
        ("d.jsonl", "is another file of this command, too"),
        ("../in/d.jsonl", "is another file of this command, too"),
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


@pytest.mark.parametrize("verb", ["coverage", pytest.param("news", marks=pytest.mark.needs("plugins/bias"))])
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
    for name in FORMATS:
        assert "--force" in run(name, "--help").stdout


@pytest.mark.parametrize("content", [None, "text".encode("utf-16")], ids=["absent", "UTF-16"])
@pytest.mark.parametrize(
    "verb",
    [
        ("coverage", "--labels", "semeval"),
        *(pytest.param(words, marks=pytest.mark.needs(f"plugins/{plugin}")) for plugin, *verbs in OF_PLUGINS for words in verbs),
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
