"""What `evenhand score` wrote goes onto the annotation page as it is."""

import json

import pytest
from typer.testing import CliRunner

from evenhand.cli.app import app
from evenhand.config import CorpusSection
from evenhand.corpora import load_corpus
from evenhand.plugins.judge_studies.people.annotations.files import read_sheets


@pytest.fixture
def sets():
    return load_corpus(CorpusSection(path="reviews", attribute="sentiment"))


def score(tmp_path, *options):
    (tmp_path / "judges.yaml").write_text("judges: {words: {kind: length}}\n")
    usual = {"--documents": "reviews", "--judges": str(tmp_path / "judges.yaml"), "--out": str(tmp_path / "out")}
    arguments = [part for option, value in usual.items() if option not in options for part in (option, value)]
    done = CliRunner().invoke(app, ["score", *arguments, *map(str, options)])
    assert done.exit_code == 0, done.output


def test_what_was_scored_goes_onto_the_annotation_page(tmp_path, sets):
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
    documents = {each.id: each.documents for each in sets}
    assert [{each.text for each in item.summaries} for item in sheet.items] == [set(texts.values())] * 3
    assert {item.side for item in sheet.items} == {"all"}
    assert all(document.text in item.document for item in sheet.items for document in documents[item.set_id])
    assert "left out: no summary by first: 1" in done.output


def test_summaries_from_elsewhere_stand_whole_on_the_page(tmp_path, sets):
    forms = (
        "Opinions are divided.\n\nSome find it cheap.",
        "## Summary\n\n- For: cheap.",
        "In favour:\nCheap.\n\n",
        "Cheap.\r\n\r\nDear.",
    )
    texts = dict(zip((each.id for each in sets), forms, strict=False))
    documents, path = tmp_path / "docs.jsonl", tmp_path / "mine.jsonl"
    documents.write_text("\n".join(each.model_dump_json() for each in sets[: len(texts)]))
    path.write_text("".join(json.dumps({"id": name, "summary": text}) + "\n" for name, text in texts.items()))
    score(tmp_path, "--documents", documents, "--summaries", f"one={path}", "--summaries", f"other={path}")
    page, out = tmp_path / "page.html", tmp_path / "out"
    systems = ("--system", f"a={out / 'one'}", "--system", f"b={out / 'other'}")
    assert CliRunner().invoke(app, ["human", "page", *systems, "--out", str(page)]).exit_code == 0
    (sheet,), _ = read_sheets(page.with_suffix(".json"))
    assert {item.set_id: {each.text for each in item.summaries} for item in sheet.items} == {
        name: {text.strip()} for name, text in texts.items()
    }
