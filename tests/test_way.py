"""The way from a command to a model is short: how many frames of evenhand lie between, for a candidate and for a judgement."""

import signal
import sys
import traceback
from pathlib import Path

import pytest
import yaml
from quick_recipe import RECIPE

import evenhand
from evenhand import cli
from evenhand.generate import scripted
from evenhand.judges.rules import CountJudge

OWN = Path(evenhand.__file__).parent
# "path:function" of each frame, from the command to the call of the model, without the model's own
CANDIDATE = """
cli/__init__.py:main
cli/app.py:generate
generate/stage.py:generate
generate/stage.py:finish
generate/stage.py:make_batches
generate/stage.py:make_batch
generate/zero_shot.py:summarise
generate/rounds.py:complete
""".split()
JUDGEMENT = """
cli/__init__.py:main
cli/app.py:judge
judges/stage.py:judge
judges/stage.py:judge_by
judges/stage.py:_finish
judges/open_work.py:judge_open
judges/batch.py:score_batch
judges/asking.py:score_together
""".split()
# of a judge that asks a language model
GRADE = [*JUDGEMENT, "judges/asking.py:ask_together"]
MOST = 9


@pytest.fixture
def way(monkeypatch, tmp_path):
    """Runs commands; the frames of evenhand that stood around the first call of a method, by the class that has it."""
    interrupt = signal.getsignal(signal.SIGINT)
    # no verdict is there before
    monkeypatch.setenv("EVENHAND_CACHE", str(tmp_path / "cache"))
    ways = {}

    def watch(owner, name):
        method = getattr(owner, name)

        def watched(self, *arguments):
            frames = [frame for frame in traceback.extract_stack()[:-1] if is_own(frame)]
            ways.setdefault(owner, [f"{Path(frame.filename).relative_to(OWN)}:{frame.name}" for frame in frames])
            return method(self, *arguments)

        monkeypatch.setattr(owner, name, watched)

    def run(*verbs, **changes):
        recipe = tmp_path / "recipe.yaml"
        recipe.write_text(yaml.safe_dump(RECIPE | {"output": str(tmp_path / "run")} | changes))
        for verb in verbs:
            monkeypatch.setattr(sys, "argv", ["evenhand", verb, str(recipe), "--quiet"])
            with pytest.raises(SystemExit) as end:
                cli.main()
            assert not end.value.code
        return ways

    watch(scripted.ScriptedBackend, "complete")
    watch(CountJudge, "score")
    yield run
    signal.signal(signal.SIGINT, interrupt)


def is_own(frame):
    path = Path(frame.filename)
    # a comprehension is a frame in some versions of Python alone
    is_comprehension = frame.name.endswith("comp>")
    return (
        path.is_relative_to(OWN) and path.relative_to(OWN).parts[0] not in {"tests", ".venv"} and not is_comprehension
    )


def test_a_candidate_s_way_from_the_command_to_the_backend(way):
    assert way("generate")[scripted.ScriptedBackend] == CANDIDATE
    assert len(CANDIDATE) <= MOST


def test_a_grade_s_way_from_the_command_to_the_backend(way):
    rubric = {"kind": "rubric", "model": {"name": "none"}, "backend": {"backend": "scripted"}, "rubric": "coverage"}
    judges = {"judges": {"graded": rubric}, "reward": {"judges": ["graded"]}, "evaluation": {"judges": ["graded"]}}
    # what the backend says is no grade
    ways = way("generate", limits={"unscored": 1.0}, **judges)
    ways.clear()
    way("judge", limits={"unscored": 1.0}, **judges)
    assert ways[scripted.ScriptedBackend] == GRADE
    assert len(GRADE) <= MOST


def test_a_judgement_s_way_from_the_command_to_the_judge(way):
    assert way("generate", "judge")[CountJudge] == JUDGEMENT
    assert len(JUDGEMENT) <= MOST
