"""`evenhand judges train` from the command line, and the judge that it wrote in a recipe."""

import json

import pytest
import yaml
from typer.testing import CliRunner

from evenhand.cli.app import app
from evenhand.errors import EvenhandError

pytest.importorskip("rouge_score")
RECIPE = {
    "name": "study",
    "output": "run",
    "model": {"name": "none"},
    "corpus": {"path": "sample", "sides": ["left", "right"], "test": {"split": "test", "limit": 2}},
    "generate": {"backend": "scripted", "plans": {"few": {"candidates": 2}}},
    "judges": {"recall": {"kind": "rouge"}, "mine": {"kind": "combined", "file": "mine/judge.json"}},
    "reward": {"judges": ["recall"]},
    "evaluation": {"judges": ["mine"], "resamples": 100},
    "rounds": 0,
}


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "recipe.yaml").write_text(yaml.safe_dump(RECIPE))
    return tmp_path


def invoked(*arguments):
    return CliRunner().invoke(app, [*map(str, arguments)])


def train(*options, out="mine"):
    return invoked("judges", "train", "sample", "--purpose", "coverage", "--out", out, *options)


def test_what_it_wrote_is_a_judge_of_a_recipe(here):
    done = train("--monotone", "rouge2-recall=up")
    assert done.exit_code == 0, done.output
    assert "Trained judge of coverage" in done.output and "gain" in done.output
    assert "judge: {kind: combined, file: mine/judge.json}" in done.output
    assert invoked("validate", "recipe.yaml").exit_code == 0
    # the judge is changed by hand: preflight says so in the first second, by its key
    saved = json.loads((here / "mine/judge.json").read_text())
    saved["members"][0]["signature"] += "0"
    (here / "mine/judge.json").write_text(json.dumps(saved))
    refused = invoked("validate", "recipe.yaml")
    assert isinstance(refused.exception, EvenhandError) and refused.exception.exit_code == 2
    assert "key 'judges.mine.file'" in str(refused.exception) and "Train it again" in str(refused.exception)


def test_a_file_that_is_not_there_is_refused_by_its_key_unless_the_recipe_is_for_elsewhere(here):
    refused = invoked("validate", "recipe.yaml")
    assert "key 'judges.mine.file': mine/judge.json" in str(refused.exception)
    assert invoked("validate", "recipe.yaml", "--elsewhere").exit_code == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--monotone", "rouge1-recall"), "write NAME=up or NAME=down"),
        (("--monotone", "rouge1-recall=more"), "write NAME=up or NAME=down"),
        (("--judges", "recipe.yaml", "--judge", "recal"), "--judge recal: no such judge; did you mean 'recall'"),
        (("--judges", "recipe.yaml"), "judge 'mine' combines others itself"),
    ],
)
def test_what_cannot_be_combined_is_refused(here, options, message):
    refused = train(*options)
    assert isinstance(refused.exception, EvenhandError)
    assert message in str(refused.exception)
    assert not (here / "mine").exists()


@pytest.mark.parametrize(
    ("purposes", "message"),
    [
        (["recall=coverage", "recall=faithfulness"], "--purpose recall"),
        (["recall=both", "=coverage", "mine"], "--purpose '=coverage': write NAME=coverage or NAME=faithfulness"),
    ],
)
def test_a_judge_has_one_purpose_and_every_mistake_is_told(here, purposes, message):
    refused = invoked(
        "judges", "audit", "sample", "--judges", "recipe.yaml", *(x for p in purposes for x in ("--purpose", p))
    )
    assert isinstance(refused.exception, EvenhandError) and message in str(refused.exception)
    assert all(purpose in str(refused.exception) for purpose in purposes)
