"""Methods that are functions of the user's own: what they ask, what becomes of it, and what ends."""

import pytest
from pydantic import ValidationError

import evenhand
from evenhand.config.python_code import RUN_CODE, allow
from evenhand.config.recipe_file import load_recipe, recipe_of
from evenhand.errors import EvenhandError, ModelError, RecipeError
from evenhand.generate import python_method
from evenhand.generate.python_method import try_method


@pytest.fixture(autouse=True)
def nobody_asked(monkeypatch):
    monkeypatch.setenv(RUN_CODE, "")


@pytest.fixture
def made(tmp_path):
    """The candidates of two sets by a method of this code."""

    def make(code, **keys):
        (tmp_path / "method.py").write_text(code)
        sets = list(evenhand.load_documents("sample", "stance").records)[:2]
        keys = {"file": str(tmp_path / "method.py"), "function": "summarise", **keys}
        options = {"backend": "scripted", "method": "python", "code": keys}
        return evenhand.generate(sets, "none", n=3, task={"scope": "all"}, attribute="stance", **options)

    return make


def zero_shot():
    sets = list(evenhand.load_documents("sample", "stance").records)[:2]
    return evenhand.generate(sets, "none", n=3, task={"scope": "all"}, attribute="stance", backend="scripted")


def test_the_first_prompt_draws_as_zero_shot_does(made):
    found = made("def summarise(prompt):\n  yield prompt")
    assert [(each.text, each.seed) for each in found] == [(each.text, each.seed) for each in zero_shot()]
    assert {each.method for each in found} == {"python"}


@pytest.mark.parametrize(
    ("code", "holds"),
    [
        # the last reply, or what is returned
        ("a = yield prompt\n  b = yield f'Say again:\\n{a}\\nNow.'", lambda text, first: text in first),
        ("a = yield prompt\n  return a.upper()", lambda text, first: text == first.upper()),
        ("a = yield prompt\n  return a", lambda text, first: text == first),
        ("for _ in range(3): a = yield prompt", lambda text, first: bool(text)),
        (
            "a = yield prompt\n  return f'{len(sources)} sources on {request[\"topic\"]}'",
            lambda text, first: "sources on" in text,
        ),
    ],
)
def test_steps_go_forward_until_the_function_ends(made, code, holds):
    found = made(f"def summarise(prompt, sources, request):\n  {code}")
    assert len(found) == 6
    assert all(holds(each.text, first.text) for each, first in zip(found, zero_shot(), strict=True))


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("return 'a summary'", "returned a value of type str"), ("yield 3", "of type int and no prompt"),
        ("yield '  '", "no prompt"), ("yield 'half \\ud800'", "a text with half a character"),
        ("yield prompt\n  return 'half \\udfff'", "a text with half a character"),
        ("yield prompt\n  return 7", "of type int and no text"), ("yield prompt\n  1 / 0", "raised ZeroDivisionError"),
        ("if False: yield prompt", "the function asked nothing"), ("while True: yield prompt", "asked more than 4 times"),
        ("yield prompt\n  import sys; sys.exit()", "called sys.exit"),
    ],
)  # fmt: skip
def test_what_is_no_draft_is_a_failure_with_a_reason(made, monkeypatch, body, reason):
    monkeypatch.setattr(python_method, "MOST_STEPS", 4)
    found = made(f"def summarise(prompt):\n  {body}")
    assert not len(found)
    assert len(found.failures) == 2
    assert all(reason in each.reason for each in found.failures)


def test_a_call_that_hangs_loses_its_candidate_alone(made):
    hangs = "if request['id'].startswith('harbour'): time.sleep(60)"
    code = f"import time\ndef summarise(prompt, request):\n  {hangs}\n  yield prompt"
    with pytest.raises(ModelError, match=r"gave no answer within 0.5 s, at 3 calls in a row"):
        made(code, seconds=0.5)
    once = (
        "import time, pathlib\ndef summarise(prompt):\n  mark = pathlib.Path(__file__ + '.mark')\n"
        "  if not mark.exists(): mark.touch(); time.sleep(60)\n  yield prompt"
    )
    found = made(once, seconds=0.5)
    assert (len(found), [each.reason for each in found.failures]) == (
        5,
        ["the function's process gave no answer within 0.5 s"],
    )


@pytest.mark.parametrize(
    ("code", "says"),
    [
        ("def summarise(text): yield text", r"has the parameters \(text\)"),
        ("def summarize(prompt): yield prompt", "did you mean 'summarize'"),
        ("def summarise(prompt) yield", "is no Python"), ("import nowhere_at_all", "nowhere_at_all"),
    ],
)  # fmt: skip
def test_a_file_that_cannot_be_used(tmp_path, made, code, says):
    with pytest.raises(EvenhandError, match=says):
        made(code)


def recipe(file):
    return {
        "name": "own", "output": "run", "model": {"name": "none"}, "judges": {"words": {"kind": "length"}},
        "reward": {"judges": ["words"]}, "evaluation": {"judges": ["words"]}, "rounds": 0,
        "generate": {
            "backend": "scripted", "method": "python", "code": {"file": str(file), "function": "summarise"},
            "plans": {"hot": {"candidates": 2}},
        },
    }  # fmt: skip


def test_the_recipe_knows_the_code_by_its_digest_and_trains_on_nothing_of_it(tmp_path):
    (tmp_path / "method.py").write_text("def summarise(prompt): yield prompt")
    options = recipe_of(recipe(tmp_path / "method.py")).generate.options
    before = options.chosen()
    assert set(before) == {"sha256", "function"}
    with pytest.raises(RecipeError, match="was not asked to run"):
        try_method(options)
    allow([options])
    try_method(options)
    (tmp_path / "method.py").write_text("def summarise(prompt): yield prompt + ' '")
    assert options.chosen() != before
    with pytest.raises(ValidationError, match="asks other prompts"):
        type(recipe_of(recipe("x"))).model_validate({**recipe("x"), "rounds": 1})


def test_a_recipe_without_such_a_method_says_nothing_of_it():
    assert "code" not in load_recipe("quickstart").generate.model_dump(mode="json")
