"""Judges that are functions of the user's own: what counts as a score, what ends a call, whose code runs, and where it works."""

import json
import logging
import os
import sys
import time
from collections import Counter
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError
from quick_recipe import RECIPE
from typer.testing import CliRunner

import evenhand
from evenhand.cli.app import app
from evenhand.config.python_code import ALL, RUN_CODE, PythonJudge, allow, is_of_run
from evenhand.config.recipe_file import dump_recipe, load_judges, load_recipe, recipe_of
from evenhand.errors import EvenhandError, JudgeError, RecipeError
from evenhand.judges import open_judge, try_judges
from evenhand.judges.judge import JudgeInput
from evenhand.judges.python_code import FORMS, CodeJudge, FunctionJudge, _verdict, in_memory, source_text
from evenhand.runfolder import python_code
from evenhand.runfolder.own_functions import Refused, answers, calling
from evenhand.runfolder.python_code import imported

# what a summary asks of the function is its text
FUNCTION = """
import os, subprocess, sys, time
import numpy as np
calls = 0
def score(summary, sources, request):
    global calls
    calls += 1
    return eval(summary)
def do(run):
    exec(run, globals())
"""
KEYS = {"kind": "python", "function": "score", "better": "higher", "range": [0, 1], "means": "Nothing."}


@pytest.fixture(autouse=True)
def nobody_asked(monkeypatch):
    monkeypatch.delenv(RUN_CODE, raising=False)
    # `allow` sets it
    monkeypatch.setenv(RUN_CODE, "")


def section(file, **keys):
    return PythonJudge.model_validate({**KEYS, "file": str(file), **keys})


def about(text, name="r"):
    return JudgeInput(text, name, text, True, source_text(name, "ferries", "The ferry is cheap."))


def written(folder, code, **keys):
    """The judge of this code, allowed."""
    file = folder / "judge.py"
    file.write_text(code)
    found = section(file, **keys)
    allow([found])
    return found


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    """One judge, and so one process, for all cases that do not end it."""
    before = os.environ.get(RUN_CODE)
    judge = open_judge("mine", written(tmp_path_factory.mktemp("code"), FUNCTION, seconds=5))
    judge.score([about("0.5")])
    yield judge
    judge.close()
    os.environ.pop(RUN_CODE, None) if before is None else os.environ.update({RUN_CODE: before})


@pytest.fixture
def of_shared(shared, monkeypatch):
    """What that judge says of a summary."""
    monkeypatch.setenv(RUN_CODE, ALL)

    def say(text):
        (found,) = shared.score([about(text)])
        return found

    return say


@pytest.mark.parametrize(
    ("summary", "score"),
    [
        ("0.25", 0.25), ("0", 0.0), ("1", 1.0), ("np.float32(0.5)", 0.5), ("np.int64(1)", 1.0),
        ("__import__('fractions').Fraction(1, 4)", 0.25), ("len(sources) / 2", 0.5),
        ("float(request['topic'] == 'ferries')", 1.0),
        # what is printed is no answer
        ("print('0.9') or 0.5", 0.5), ("os.write(1, b'[[\"score\", 0.9]]\\n') and 0.5", 0.5),
        ("subprocess.run(['echo', '[[\"score\", 0.9]]']) and 0.5", 0.5), ("sys.stdout.close() or 0.5", 0.5),
        # a forked process does not answer as well
        ("os.fork() * 0 + 0.75", 0.75), ("0.75 if os.fork() else 1 / 0", 0.75),
        ("0.75 if os.fork() else sys.exit()", 0.75),
    ],
)  # fmt: skip
def test_a_number_is_the_score(of_shared, summary, score):
    assert of_shared(summary).score == score
    # and the next answer is that of the next call
    assert of_shared("0.125").score == 0.125


@pytest.mark.parametrize(
    ("summary", "reason"),
    [
        ("float('nan')", "no finite number"), ("float('inf')", "no finite number"), ("-np.inf", "no finite number"),
        ("10 ** 400", "beyond all floats"), ("True", "of type bool"), ("np.bool_(True)", "of type bool"),
        ("None", "gave no score"), ("''", "gave no score"), ("'0.7'", "a text and no number"),
        ("' 1e3 '", "a text and no number"), ("'half \\ud800'", "half \ufffd"),
        ("'nan'", "a text and no number"), ("'no claim in it'", "no claim in it"), ("[0.5]", "of type list"),
        ("{'score': 1}", "of type dict"), ("1j", "of type complex"), ("np.array([0.5])", "of type ndarray"),
        ("b'1'", "of type bytes"), ("(x for x in [1])", "of type generator"), ("1.01", "off its range, 0 to 1"),
        ("-1", "off its range"), ("7", "off its range"), ("1 / 0", "raised ZeroDivisionError"),
        ("[][0]", "raised IndexError"),
        ("1 +", "raised SyntaxError"), ("__import__('nowhere')", "raised ModuleNotFoundError"),
        ("sys.exit(0)", "called sys.exit"),
        ("sys.exit('no')", "called sys.exit"), ("do('def f(): f()') or f()", "raised RecursionError"),
    ],
)  # fmt: skip
def test_whatever_is_no_number_leaves_the_summary_unscored_with_a_reason(of_shared, summary, reason):
    found = of_shared(summary)
    assert found.score is None
    assert reason in found.unscored
    assert of_shared("0.125").score == 0.125


def test_reasons_are_alike_for_like_cases_and_what_they_are_of_is_told_apart(of_shared):
    first, second = of_shared("{}['a']"), of_shared("{}['b']")
    assert first.unscored == second.unscored == "the function raised KeyError"
    assert (first.raw, second.raw) == ("<string>:1: 'a'", "<string>:1: 'b'")


@given(st.one_of(st.floats(allow_nan=True, allow_infinity=True), st.integers(), st.booleans(), st.text(), st.none()))
def test_no_value_becomes_another_score(value):
    judge = FunctionJudge("mine", section("x", range=[0, 1]), lambda summary: value)
    (found,) = judge.score([about("a")])
    is_one = type(value) in {int, float} and 0 <= value <= 1
    assert (found.score is not None) == is_one
    assert found.score == (value if is_one else None)
    assert bool(found.unscored) != is_one


@pytest.mark.parametrize(
    ("summary", "how"),
    [
        ("time.sleep(60)", "gave no answer within 0.3 s"), ("do('while True: pass')", "gave no answer within 0.3 s"),
        ("os._exit(0)", "ended with exit code 0"), ("os.kill(os.getpid(), 11)", "was killed by signal 11"),
        ("os.kill(os.getpid(), 9)", "was killed by signal 9"),
        # with what it has started, which holds its output
        ("os.fork() and time.sleep(60) or time.sleep(60)", "gave no answer within 0.3 s"),
    ],
)  # fmt: skip
def test_a_call_that_ends_its_process_or_does_not_end_loses_one_summary(tmp_path, summary, how):
    judge = open_judge("mine", written(tmp_path, FUNCTION, seconds=0.3))
    start = time.monotonic()
    first, second, third = judge.score([about("0.25"), about(summary), about("0.75")])
    assert (first.score, second.score, third.score) == (0.25, None, 0.75)
    assert how in second.unscored
    assert time.monotonic() - start < 30
    judge.close()


def test_three_ends_in_a_row_are_not_the_summaries_doing(tmp_path):
    judge = open_judge("mine", written(tmp_path, FUNCTION))
    with pytest.raises(JudgeError, match=r"judge.py:score ended with exit code 7, at 3 calls in a row.*continues"):
        judge.score([about("os._exit(7)")] * 4)
    # and it can be used again
    assert judge.score([about("0.5")])[0].score == 0.5
    judge.close()


def test_what_a_function_started_ends_with_it(tmp_path):
    judge = open_judge("mine", written(tmp_path, FUNCTION))
    pid = judge.score([about("subprocess.Popen(['sleep', '60']).pid / 1e9")])[0].score
    judge.close()
    deadline = time.monotonic() + 10
    while Path(f"/proc/{round(pid * 1e9)}/stat").exists() and time.monotonic() < deadline:
        if Path(f"/proc/{round(pid * 1e9)}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
            break
        time.sleep(0.05)
    assert time.monotonic() < deadline


@pytest.mark.parametrize(
    "code",
    [
        "def score(summaries): return [len(s) / 10 for s in summaries]",
        "def score(summaries, sources, requests):\n  assert len(sources) == len(requests) == len(summaries)\n"
        "  return [len(s) / 10 for s in summaries]",
        "import numpy\ndef score(*, summaries): return numpy.array([len(s) / 10 for s in summaries])",
        "def score(prompts, completions, **columns): return tuple(len(s) / 10 for s in completions)",
        "def score(completions, sources, **columns): return [len(s) / 10 for s in completions]",
        "class Score:\n  def __call__(self, summary): return len(summary) / 10\nscore = Score()",
        "score = lambda summary, weight=10: len(summary) / weight",
        "from functools import partial\nscore = partial(lambda summary, sources: len(summary) / 10)",
    ],
)
def test_a_function_is_called_by_the_names_of_its_parameters(code):
    space = {}
    exec(code, space)  # noqa: S102
    rows = [{"summary": text, "sources": ["s"], "request": {}, "prompt": "p"} for text in ("a", "bbb")]
    assert answers(calling(space["score"], "judge.py:score", FORMS), rows) == [["score", 0.1], ["score", 0.3]]


@pytest.mark.parametrize(
    ("returns", "reason"),
    [
        ("[0.5]", "returned 1 scores for a batch of 2"), ("[1, 1, 1]", "returned 3 scores for a batch of 2"),
        ("[]", "0 scores"), ("0.5", "type float and no list"), ("None", "NoneType and no list"),
        ("'ab'", "type str and no list"),
        ("{0: 1, 1: 1}", "type dict and no list"), ("{1, 0}", "type set and no list"), ("1 / 0", "raised ZeroDivisionError"),
    ],
)  # fmt: skip
def test_what_is_no_list_of_the_batchs_length_scores_none_of_it(returns, reason):
    call = calling(eval(f"lambda summaries: {returns}"), "judge.py:score", FORMS)  # noqa: S307
    found = answers(call, [{"summary": "a"}, {"summary": "b"}])
    assert len(found) == 2
    assert all(kind == "fault" and reason in said for kind, said, _ in found)


def test_one_wrong_value_of_a_batch_is_one_unscored_summary():
    call = calling(lambda summaries: [0.5, None, True], "judge.py:score", FORMS)
    found = [_verdict(each, 0, 1).score for each in answers(call, [{"summary": "a"}] * 3)]
    assert found == [0.5, None, None]


@pytest.mark.parametrize(
    ("code", "says"),
    [
        ("def score(summary) return 1", "judge.py:1: is no Python"),
        ("def score(summary):\n return 1\n  x", "judge.py:3: is no Python"),
        ("\n\nimport nowhere_at_all", "judge.py:3: cannot be imported: ModuleNotFoundError.*install it into the Python"),
        ("x = 1\n1 / 0", "judge.py:2: cannot be imported: ZeroDivisionError"),
        ("import sys\nsys.exit(0)", "judge.py:2: cannot be .*SystemExit"),
        ("def scores(summary): return 1", "has no function 'score'; did you mean 'scores'"), ("", "has no function 'score'"),
        ("score = 0.5", "score is 0.5 and no function"), ("import json as score", "no function"),
        ("def score(a, b, c): return 1", r"parameters \(a, b, c\), which are known by their names; write \(summary, sources"),
        ("def score(): return 1", r"has the parameters \(\)"), ("def score(*texts): return 1", "has the parameters"),
        ("def score(summary, reference): return 1", "needs reference, which nothing fills"),
        ("def score(summary, /): return 1", "has the parameters"),
        ("def score(summary, requests): return 1", "needs requests, which"),
    ],
)  # fmt: skip
def test_a_file_that_cannot_be_used_is_told(tmp_path, monkeypatch, code, says):
    monkeypatch.setattr(sys, "path", [*sys.path])
    found = written(tmp_path, code).code()
    # as its process does
    with pytest.raises((RecipeError, Refused), match=says):
        calling(imported(found.file, found.digest, "score"), found.label, FORMS)


@pytest.mark.parametrize(
    ("code", "says"),
    [
        ("def score(summary) return 1", "judge.py:1: is no Python"),
        ("def score(text): return 1", r"has the parameters \(text\)"),
        ("import os\nos._exit(3)", "could not be imported: its process ended with exit code 3"),
        ("while True: pass", "could not be imported: its process gave no answer within 1 s"),
    ],
)  # fmt: skip
def test_a_trial_tells_it_before_anything_is_spent(tmp_path, monkeypatch, code, says):
    monkeypatch.setattr(python_code, "START_SECONDS", 1.0 if "while" in code else 60.0)
    with pytest.raises(EvenhandError, match=says):
        try_judges({"mine": written(tmp_path, code)})


def test_all_that_cannot_be_used_is_told_together(tmp_path):
    written(tmp_path, "def score(summary): return 1")
    judges = {
        "a": section(tmp_path / "judge.py", function="scor"),
        "b": section(tmp_path / "jduge.py"),
        "c": section(tmp_path / "judge.py"),
    }
    with pytest.raises(RecipeError) as found:
        try_judges(judges)
    first, second = str(found.value).splitlines()
    assert first.startswith("judges.a: ")
    assert "did you mean 'score'" in first
    assert second.startswith("judges.b: ")
    assert "jduge.py: cannot be read: No such file or directory; did you mean 'judge.py'" in second


def test_a_file_beside_it_can_be_imported_and_takes_no_librarys_place(tmp_path):
    (tmp_path / "helping.py").write_text("half = 0.5")
    (tmp_path / "statistics.py").write_text("1 / 0")
    judge = open_judge("mine", written(tmp_path, "import helping, statistics\ndef score(summary): return helping.half"))
    assert judge.score([about("a")])[0].score == 0.5
    judge.close()


@pytest.mark.parametrize(
    ("keys", "says"),
    [
        ({"better": ...}, "better"), ({"range": ...}, "range"), ({"means": ...}, "means"), ({"file": ...}, "file"),
        ({"function": ...}, "function"),
        ({"better": "up"}, "'higher' or 'lower'"), ({"range": [1, 0]}, r"range \[1, 0\] does not go up"),
        ({"range": [1, 1]}, "does not go up"),
        ({"range": [0]}, "range"), ({"range": [0, float("inf")]}, "range"), ({"range": [float("nan"), 1]}, "range"),
        ({"range": [False, True]}, "range"), ({"means": ""}, "means"), ({"function": "mod:score"}, "no name of a function"),
        ({"function": ""}, "no name of a function"), ({"seconds": 0}, "seconds"), ({"against": "source"}, "against"),
        ({"model": "x"}, "model"),
    ],
)  # fmt: skip
def test_keys_that_are_wrong_are_refused(keys, says):
    values = {**KEYS, "file": "judge.py", **keys}
    with pytest.raises(ValidationError, match=says):
        PythonJudge.model_validate({key: value for key, value in values.items() if value is not ...})


def test_a_range_may_be_open_and_neither_direction_better():
    found = section("judge.py", range=None, better=None)
    assert (found.scale, found.bounds, found.better) == (None, (float("-inf"), float("inf")), None)
    assert section("judge.py", range=[-1, 2.5]).scale == (-1, 2.5)
    assert section("judge.py", means="long " * 100).means.startswith("long")


def test_the_signature_has_the_files_digest_and_nothing_of_where_it_lies(tmp_path):
    (tmp_path / "a").mkdir()
    first = open_judge("mine", written(tmp_path, "def score(summary): return 1"))
    again = open_judge("other", written(tmp_path / "a", "def score(summary): return 1", seconds=3))
    changed = open_judge("mine", written(tmp_path, "def score(summary): return 1 # as before"))
    assert first.signature == again.signature != changed.signature
    assert open_judge("mine", section(tmp_path / "judge.py", range=[0, 2])).signature != changed.signature


def test_a_file_that_changes_while_the_command_runs_is_refused(tmp_path, monkeypatch):
    judge = open_judge("mine", written(tmp_path, FUNCTION))
    (tmp_path / "judge.py").write_text("def score(summary): return 0.9")
    with pytest.raises(RecipeError, match="was changed while the command ran"):
        judge.score([about("0.5")])
    # nor does another command's process take what was not allowed
    with pytest.raises(RecipeError, match="was not asked to run"):
        open_judge("mine", section(tmp_path / "judge.py")).score([about("0.5")])


def test_scores_that_rest_on_chance_or_on_the_batch_are_told(tmp_path, caplog):
    for code in (
        "n = 0\ndef score(summary):\n  global n; n += 1; return n / 9",
        "def score(summaries): return [1 / len(summaries)] * len(summaries)",
    ):
        judge = open_judge("mine", written(tmp_path, code))
        with caplog.at_level(logging.WARNING, "evenhand"):
            judge.score([about("a"), about("b")])
            judge.score([about("c")])
        judge.close()
    told = [each.getMessage() for each in caplog.records if each.name.startswith("evenhand")]
    assert len(told) == 2
    assert all("for the same summary" in each for each in told)


def test_a_function_that_repeats_itself_is_not_told_of(of_shared, tmp_path, caplog):
    judge = open_judge("mine", written(tmp_path, "def score(summary): return 0.5"))
    with caplog.at_level(logging.WARNING, "evenhand"):
        judge.score([about("a")])
    judge.close()
    assert not [each for each in caplog.records if each.name.startswith("evenhand")]


# whose code runs


def recipe_file(folder, code="def score(summary): return 0.5", name="study.yaml", output="run"):
    folder.mkdir(exist_ok=True)
    (folder / "judge.py").write_text(code)
    judges = {**RECIPE["judges"], "mine": {**KEYS, "file": str(folder / "judge.py")}}
    values = {
        **RECIPE,
        "output": str(folder / output),
        "judges": judges,
        "evaluation": {"judges": ["mine"], "resamples": 100},
    }
    (folder / name).write_text(json.dumps(values))
    return folder / name


def run_folder(tmp_path):
    """A recipe as a run folder of somebody else has it."""
    path = recipe_file(tmp_path / "theirs", name="recipe.yaml")
    (path.parent / "manifest.json").write_text("{}")
    return path


def may_run(judges):
    return judges["mine"].code().may_run


def test_a_recipe_that_is_named_runs_its_code_and_a_run_folders_does_not(tmp_path):
    foreign = run_folder(tmp_path)
    assert not may_run(load_recipe(foreign).judges)
    assert not may_run(load_judges(foreign))
    # nor one that goes through memory
    assert not may_run(recipe_of(load_recipe(foreign).model_dump(mode="json")).judges)
    with pytest.raises(
        RecipeError, match=r"judge.py:score \(SHA-256 [0-9a-f]{16}\) is code that this command was not asked to run"
    ):
        try_judges({"mine": load_recipe(foreign).judges["mine"]})
    with pytest.raises(RecipeError, match="--run-code"):
        made = evenhand.generate("sample", "none", n=1, task={"scope": "all"}, backend="scripted", attribute="stance")
        evenhand.judge(made, foreign)
    (tmp_path / "extending.yaml").write_text(json.dumps({"extends": str(foreign)}))
    assert not may_run(load_recipe(tmp_path / "extending.yaml").judges)
    assert may_run(load_recipe(recipe_file(tmp_path / "mine", "def score(summary): return 1")).judges)
    assert not may_run(load_recipe(foreign).judges)


@pytest.mark.parametrize("place", ["recipe.yaml", "slurm/recipe-1.yaml", "shards/0-of-2/recipe.yaml", "again.yaml"])
def test_copies_of_a_recipe_in_a_run_folder_are_its_own(tmp_path, place):
    foreign = run_folder(tmp_path)
    copy = foreign.parent / place
    copy.parent.mkdir(parents=True, exist_ok=True)
    copy.write_bytes(foreign.read_bytes())
    assert not may_run(load_recipe(copy).judges)
    # nor does a link to it from elsewhere make it another's
    (tmp_path / "link.yaml").symlink_to(copy)
    assert not may_run(load_recipe(tmp_path / "link.yaml").judges)


def test_a_recipe_of_yaml_is_known_by_the_file_that_names_the_code(tmp_path):
    foreign = run_folder(tmp_path)
    foreign.write_text(dump_recipe(load_recipe(foreign)))
    assert not may_run(load_recipe(foreign).judges)
    (tmp_path / "own.yaml").write_text(
        f"extends: {foreign}\nseed: 7\njudges:\n  mine:\n    file: {foreign.parent / 'judge.py'}\n"
    )
    assert may_run(load_recipe(tmp_path / "own.yaml").judges)


def test_verbs_say_what_would_run_and_run_it_when_they_are_asked_to(tmp_path, own_cache, monkeypatch):
    monkeypatch.chdir(tmp_path)
    own, marks = recipe_file(tmp_path / "mine"), tmp_path / "marks"
    (own.parent / "judge.py").write_text(f"open({str(marks)!r}, 'a').write('.')\ndef score(summary): return 0.5")
    run = partial(CliRunner().invoke, app)
    for verb in ("validate", "generate", "judge", "rerank", "report"):
        assert run([verb, str(own)]).exit_code == 0
    n = len(marks.read_text())
    # as somebody else has it, who reads what is there
    monkeypatch.setenv(RUN_CODE, "")
    foreign = str(own.parent / "run" / "recipe.yaml")
    assert run(["report", foreign]).exit_code == 0
    refused = run(["validate", foreign])
    assert "runs code: judges.mine: " in refused.output
    for found in (refused, run(["judge", foreign]), run(["loop", foreign])):
        assert "--run-code" in str(found.exception)
    assert len(marks.read_text()) == n
    assert run(["validate", foreign, "--run-code"]).exit_code == 0
    assert len(marks.read_text()) == n + 1


def test_code_that_an_override_names_is_the_users(tmp_path):
    foreign = run_folder(tmp_path)
    assert may_run(load_recipe(foreign, [f"judges.mine.file={foreign.parent / 'judge.py'}"]).judges)


def test_a_recipe_of_the_name_is_no_run_folders_by_that_alone(tmp_path):
    path = recipe_file(tmp_path / "study", name="recipe.yaml")
    assert not is_of_run(path)
    assert may_run(load_recipe(path).judges)


def test_a_run_folders_code_runs_when_it_is_asked_for(tmp_path, monkeypatch):
    monkeypatch.setenv(RUN_CODE, ALL)
    assert may_run(load_recipe(run_folder(tmp_path)).judges)


# where it works


def test_keys_and_functions_in_python(tmp_path, own_cache):
    made = evenhand.generate("sample", "none", n=2, task={"scope": "all"}, backend="scripted", attribute="stance")
    (tmp_path / "judge.py").write_text("def score(summary, sources): return min(1, len(summary) / len(sources) / 100)")

    def words(summary, sources, request):
        """How many words there are."""
        return len(summary.split()) if request["documents"] else "no documents"

    judges = {
        "filed": {**KEYS, "file": str(tmp_path / "judge.py")},
        "words": words,
        "less": {
            "kind": "python",
            "function": lambda summaries: [0.5] * len(summaries),
            "better": "lower",
            "range": [0, 1],
            "means": "x",
        },
        "length": {"kind": "length"},
    }
    found = evenhand.judge(made, judges)
    assert found.judges == tuple(judges)
    rows = found.rows()
    assert all(row["words"] == row["length"] and row["less"] == 0.5 and 0 < row["filed"] <= 1 for row in rows)
    assert (found.recipe.judges["words"].means, found.recipe.judges["words"].better) == (
        "How many words there are.",
        "higher",
    )
    assert found.recipe.judges["less"].better == "lower"
    best = evenhand.rerank(found, ["words", "filed"])
    assert best[0].scores["words"] == max(row["words"] for row in rows if row["set"] == best[0].set_id)
    assert recipe_of(found.recipe.model_dump(mode="json")) == found.recipe
    with pytest.raises(RecipeError, match="in the memory of one Python process alone"):
        evenhand.rerank(found, ["words"], combine="min")


def test_functions_of_python_that_are_wrong(tmp_path):
    summaries = evenhand.generate("sample", "none", n=1, task={"scope": "all"}, backend="scripted", attribute="stance")
    with pytest.raises(RecipeError, match=r"has the parameters \(text\)"):
        evenhand.judge(summaries, {"mine": lambda text: 1})
    with pytest.raises(RecipeError, match=r"judge 'mine' is wrong: .*better"):
        evenhand.judge(
            summaries, {"mine": {"kind": "python", "function": len, "better": "up", "range": None, "means": "x"}}
        )
    with pytest.raises(RecipeError, match=r"none.py: cannot be read"):
        evenhand.judge(summaries, {"mine": {**KEYS, "file": str(tmp_path / "none.py")}})
    assert in_memory("a", {"kind": "rouge"}) is None


def test_a_second_run_has_the_scores_from_the_cache_and_a_changed_file_judges_anew(tmp_path, own_cache):
    made = evenhand.generate("sample", "none", n=1, task={"scope": "all"}, backend="scripted", attribute="stance")
    count = tmp_path / "count"
    code = f"def score(summary):\n  open({str(count)!r}, 'a').write('.')\n  return 0.5"
    judges = {"mine": {**KEYS, "file": str(tmp_path / "judge.py")}}
    (tmp_path / "judge.py").write_text(code)
    first = evenhand.judge(made, judges)
    n = len(count.read_text())
    assert list(evenhand.judge(made, judges)) == list(first)
    assert len(count.read_text()) == n > len(made) / 2
    (tmp_path / "judge.py").write_text(code.replace("0.5", "0.25"))
    assert {each.score for each in evenhand.judge(made, judges)} == {0.25}
    assert len(count.read_text()) == 2 * n


def test_what_was_judged_before_the_process_ended_for_good_is_kept(tmp_path, own_cache, monkeypatch):
    monkeypatch.chdir(tmp_path)
    broken, calls = tmp_path / "broken", tmp_path / "calls"
    path = recipe_file(
        tmp_path / "mine",
        "import os, pathlib\ndef score(summary, request):\n"
        f"  calls = pathlib.Path({str(calls)!r}); calls.touch(); seen = calls.read_text().splitlines()\n"
        f"  if seen and request['id'] not in seen and os.path.exists({str(broken)!r}): os._exit(9)\n"
        "  calls.write_text('\\n'.join([*seen, request['id']]))\n  return 0.5",
    )
    run = partial(CliRunner().invoke, app)
    broken.touch()
    options = ["--set", "judges.mine.requests_per_batch=1", "--set", "generate.plans.hot.candidates=4"]
    assert run(["generate", str(path), *options]).exit_code == 0
    stopped = run(["judge", str(path), *options])
    assert "ended with exit code 9, at 3 calls in a row" in str(stopped.exception)
    before = Counter(calls.read_text().splitlines())
    broken.unlink()
    assert run(["judge", str(path), *options]).exit_code == 0
    after = Counter(calls.read_text().splitlines())
    assert len(before) == 1
    assert len(after) > 1
    assert all(after[name] == n for name, n in before.items())


def test_it_is_a_kind_as_others_are(tmp_path):
    recipe = load_recipe(recipe_file(tmp_path / "mine"))
    assert "kind: python" in dump_recipe(recipe)
    assert isinstance(open_judge("mine", recipe.judges["mine"]), CodeJudge)
    assert recipe.judges["mine"].bases == [f"the code {tmp_path / 'mine' / 'judge.py'}"]
