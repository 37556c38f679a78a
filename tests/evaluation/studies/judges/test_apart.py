"""Judges on several models before controlled summaries: each model in a process of its own."""

import sys

import pytest

from evenhand.config.judges import RubricJudge, RuleJudge
from evenhand.errors import JudgeError
from evenhand.judges import open_judges
from evenhand.plugins.judge_studies.apart import judge_by_model
from evenhand.plugins.judge_studies.scoring import judge_sets


@pytest.fixture
def started(tmp_path, monkeypatch):
    """A log of the processes that are started with this interpreter, a line each."""
    log, python = tmp_path / "started", tmp_path / "python"
    log.touch()
    python.write_text(f'#!/bin/sh\necho "$@" >> {log}\nexec {sys.executable} "$@"\n')
    python.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(python))
    return log


def two_models(max_model_len=4096, second="org/two"):
    judges = {
        f"{rubric}-{model[-3:]}": RubricJudge(
            kind="rubric", rubric=rubric, model={"name": model}, overflow="error",
            backend={"backend": "scripted", "max_model_len": max_model_len},
        )
        for rubric in ("coverage", "faithfulness")
        for model in ("org/one", second)
    }  # fmt: skip
    return {"length": RuleJudge(kind="length"), **judges}


def test_each_of_several_models_has_a_process_and_says_what_it_says_in_one(sets, started, tmp_path, monkeypatch):
    options = two_models()
    found = judge_by_model(options, sets)
    assert (
        started.read_text().count("evenhand.plugins.judge_studies.apart") == len(started.read_text().splitlines()) == 2
    )
    # nothing comes from the cache
    monkeypatch.setenv("EVENHAND_CACHE", str(tmp_path / "another"))
    assert judge_sets(open_judges(options), sets) == found


def test_a_single_model_needs_no_other_process(sets, started):
    judge_by_model(two_models(second="org/one"), sets)
    assert started.read_text() == ""


def test_refusal_of_a_process_is_the_commands_own(sets, started):
    with pytest.raises(JudgeError, match="max_model_len 16"):
        judge_by_model(two_models(max_model_len=16), sets)
