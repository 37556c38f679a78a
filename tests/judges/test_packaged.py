"""Judges of other packages: a score counts if it is one, and whatever else their code does is one message."""

from functools import partial

import made_packages
import pytest
from quick_recipe import RECIPE

from evenhand.config.judges import JUDGE_SECTIONS, read_judge
from evenhand.config.recipe_file import recipe_of
from evenhand.errors import PluginError
from evenhand.generate.stage import generate
from evenhand.judges import JUDGES, open_judge
from evenhand.judges.judge import JudgeInput
from evenhand.judges.stage import judge
from evenhand.records import Judgement
from evenhand.runfolder.phases import JUDGEMENTS, open_phase
from evenhand.storage import read_jsonl

TEXT = """
import sys
from typing import ClassVar, Literal

from evenhand.config.needs import JudgeSection
from evenhand.judges.judge import Kind, ScoringJudge, Verdict, judge_signature


class Section(JudgeSection):
    "A judge of another package."

    kind: Literal["own"]
    meaning: ClassVar[str] = "A number."
    against: Literal["source"] = "source"


class Own(ScoringJudge):
    def __init__(self, name, options, models):
        super().__init__(name, judge_signature("own", "own", v=1), "source")

    def score(self, inputs):
        {line}


OWN = Kind(Own, Section)
"""
INPUTS = [JudgeInput(f"c{n}", "r", f"Text {n}.", True, "Source.") for n in range(2)]


@pytest.fixture
def bring(tmp_path, monkeypatch):
    """Install a package that brings a judge whose `score` is one line."""
    install = partial(made_packages.bring, tmp_path / "site", monkeypatch, (JUDGES, JUDGE_SECTIONS))
    return lambda line, thing="OWN": install(TEXT.replace("{line}", line), {"own": thing})


def opened():
    return open_judge("mine", read_judge({"kind": "own"}))


UNSCORED = {
    "float('nan')": "the judge gave no finite number",
    "float('inf')": "the judge gave no finite number",
    "7.0": "the judge gave a number off its range, 0 to 1",
    "-0.5": "the judge gave a number off its range, 0 to 1",
    "'0.7'": "the judge gave a value of type str",
    "True": "the judge gave a value of type bool",
    "[0.7]": "the judge gave a value of type list",
    "None": "the judge gave no score",
    "0.7, 'too short'": "too short",
    "None, 'too short'": "too short",
    "None, 'half \\ud800'": "half \ufffd",
}


@pytest.mark.parametrize("verdict", UNSCORED)
def test_what_is_no_score_is_a_reason(bring, verdict):
    bring(f"return [Verdict(1), Verdict({verdict})]")
    first, second = opened().score(INPUTS)
    assert (first.score, first.unscored) == (1.0, None)
    assert (second.score, second.unscored) == (None, UNSCORED[verdict])


WRONG = {
    "raise ValueError('boom')": r"raised ValueError: boom \(.*mine/__init__.py:\d+\)",
    "sys.exit(0)": "raised SystemExit: 0",
    "return None": "gave NoneType for 2 summaries; return a list with a Verdict for each",
    "return [Verdict(0.5)]": "gave 1 verdicts for 2 summaries",
    "return [0.5, 0.5]": "gave float and no Verdict",
    "return [Verdict(None, 7)] * 2": "gave a Verdict whose reason or reply is no text",
}


@pytest.mark.parametrize("line", WRONG)
def test_anything_else_is_one_message(bring, line):
    bring(line)
    with pytest.raises(PluginError, match=f"judge 'own' of package mine 1.0 {WRONG[line]}"):
        opened().score(INPUTS)


def test_a_judge_that_cannot_be_opened_or_checked_is_one_message(bring):
    fails = "lambda *arguments: {}['weights']"
    bring(
        f"return []\n\nOwn = {fails}\nFAILS = Kind(Own, Section, checks=Own, readers=Own, prompt=Own, trial=Own)",
        "FAILS",
    )
    kind = JUDGES["own"]
    for call in (kind.open, kind.checks, kind.readers, kind.prompt, kind.trial):
        with pytest.raises(PluginError, match=r"judge 'own' of package mine 1\.0 raised KeyError: 'weights' \(.*mine/"):
            call(*[None] * (3 if call is kind.open else 1 if call is kind.readers else 2))


def test_what_a_check_raises_is_one_message(bring):
    checks = "lambda name, options: [Check('words', lambda: 1 / 0)]"
    own = f"from evenhand.config.section import Check\nCHECKED = Kind(Own, Section, checks={checks})"
    bring(f"return []\n\n{own}", "CHECKED")
    (check,) = JUDGES["own"].checks("mine", None)
    with pytest.raises(PluginError, match=r"judge 'own' of package mine 1\.0 raised ZeroDivisionError"):
        check.run()


def test_its_scores_are_those_of_a_run(bring, tmp_path):
    bring("return [Verdict(len(each.text) % 2 / 2) if 'e' in each.text else Verdict(9.0) for each in inputs]")
    values = RECIPE | {"output": str(tmp_path / "run"), "judges": RECIPE["judges"] | {"mine": {"kind": "own"}}}
    phase = open_phase(recipe_of(values | {"reward": {"judges": ["mine"]}}), "evaluation/base")
    generate(phase)
    judge(phase)
    judgements = [each for each in read_jsonl(phase.folder / JUDGEMENTS, Judgement) if each.judge == "mine"]
    assert judgements and {each.signature for each in judgements} == {"own|judge:own|v:1"}
    assert {each.score for each in judgements} <= {0.0, 0.5, None}
