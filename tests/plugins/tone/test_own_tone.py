"""Tone by a function of the user's own: its number or one message, never another number."""

import hashlib

import pytest
from audit_inputs import two_sided
from pydantic import ValidationError

import evenhand
from evenhand.config.python_code import RUN_CODE
from evenhand.errors import DataError, PluginError, RecipeError
from evenhand.evaluation.audit.run import ask
from evenhand.judges.shared import SharedModels
from evenhand.plugins.tone.scorers import open_tone
from evenhand.plugins.tone.section import ToneSection


@pytest.fixture(autouse=True)
def nothing_may_run_but_what_is_named(monkeypatch):
    monkeypatch.setenv(RUN_CODE, "")


@pytest.fixture
def opened(tmp_path):
    scorers = []

    def make(body, **keys):
        path = tmp_path / "tone.py"
        path.write_text(f"import os, time\n\ndef tone(text):\n    {body}\n")
        scorers.append(open_tone(ToneSection(kind="python", file=path, function="tone", **keys), SharedModels()))
        return scorers[-1]

    yield make
    for scorer in scorers:
        scorer.close()


def test_a_number_is_positive_or_negative_as_far_as_it_is_off_zero(opened):
    scorer = opened("print('said'); return {'good': 1, 'bad': -0.25}.get(text, 0)")
    assert scorer.amounts(["good", "bad", ""]) == [(1.0, 0.0), (0.0, 0.25), (0.0, 0.0)]
    assert scorer.amounts([]) == []


WRONG = {
    "raise KeyError('x')": "raised KeyError",
    "raise SystemExit": "called sys.exit",
    "return float('nan')": "returned nan",
    "return float('-inf')": "returned -inf",
    "return 1.0001": "returned 1.0001",
    "return -2": "returned -2",
    "return '0.5'": "returned a text and no number",
    "return 'positive'": "positive",
    "return ''": "gave no score",
    "return None": "gave no score",
    "return True": "type bool and no number",
    "return [0.5]": "type list and no number",
    "os._exit(3)": "process",
}


def test_whatever_else_comes_of_it_is_one_message_with_the_texts_place(opened):
    cases = "".join(f"\n    if text == '{n}': {body}" for n, body in enumerate(WRONG))
    scorer = opened(f"if text == 'fine': return 0.5{cases}")
    for n, wrong in enumerate(WRONG.values()):
        with pytest.raises(PluginError, match=rf"tone\.py:tone: text 2 of 3, '{n}': .*from -1 to 1") as error:
            scorer.amounts(["fine", str(n), "fine"])
        assert wrong in str(error.value)


def test_one_that_hangs_is_ended(opened):
    with pytest.raises(PluginError, match=r"text 1 of 1, 'odd': .*no answer within 0\.3 s"):
        opened("time.sleep(60)", seconds=0.3).amounts(["odd"])


def test_the_file_is_in_the_signature(opened, tmp_path):
    one, other = opened("return 0"), opened("return 1")
    assert one.signature != other.signature
    assert hashlib.sha256((tmp_path / "tone.py").read_bytes()).hexdigest() in other.signature


def test_a_file_that_changes_after_it_was_read_is_refused(opened, tmp_path):
    scorer = opened("return 0")
    (tmp_path / "tone.py").write_text("def tone(text):\n    return 1\n")
    with pytest.raises(RecipeError, match=r"was changed"):
        scorer.amounts(["a"])


def test_a_file_that_is_not_there_is_told(tmp_path):
    with pytest.raises(RecipeError, match=r"none\.py"):
        open_tone(ToneSection(kind="python", file=tmp_path / "none.py", function="tone"), SharedModels())


@pytest.mark.parametrize(
    "keys",
    [
        {"kind": "python"},
        {"kind": "python", "file": "a.py"},
        {"kind": "python", "file": "a.py", "function": "no name"},
        {"kind": "python", "file": "a.py", "function": "tone", "seconds": 0},
        {"kind": "python", "file": "a.py", "function": "tone", "positive": ["good"], "negative": ["bad"]},
        {"kind": "vader", "file": "a.py"},
    ],
)
def test_keys_that_do_not_go_together_are_refused(keys):
    with pytest.raises(ValidationError):
        ToneSection.model_validate(keys)


@pytest.mark.parametrize("text", ["tone.py:", "tone.py:a b", "python", "tone.py"])
def test_a_function_that_is_written_otherwise_is_refused(text):
    with pytest.raises(DataError, match=r"--tone "):
        ask({"measures": "tone", "tone": text})


def test_an_audit_by_a_function_says_which_file_it_is(tmp_path):
    path = tmp_path / "tone.py"
    path.write_text("def tone(text):\n    return -0.5 if 'pear' in text.lower() else 0.5\n")
    documents = two_sided(3)
    summaries = {"mine": {each.id: "Apple. Pear." for each in documents}}
    result = evenhand.audit(documents, summaries, "stance", measures="tone", tone=f"{path}:tone", out=tmp_path / "out")
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    assert digest in result.found.measures[0].signature
    assert digest in (tmp_path / "out/details.html").read_text()
