"""Methods of other packages: asked by their names in a recipe, with options of their own, and refused where they are wrong."""

import os
from functools import partial
from types import SimpleNamespace

import made_packages
import pytest
from commands import started
from method_runs import make_recipe
from quick_recipe import RECIPE

from evenhand.config.generate import METHOD_SECTIONS, options_key
from evenhand.config.plain_yaml import dump_yaml
from evenhand.config.recipe_file import dump_recipe, load_recipe, recipe_of
from evenhand.errors import PluginError, RecipeError
from evenhand.generate.methods import METHODS
from evenhand.generate.stage import GenerateCounts, generate, generate_stage, phase_requests
from evenhand.records import Candidate, Failure, Turn
from evenhand.runfolder.phases import CANDIDATES, FAILURES, TURNS, open_phase
from evenhand.runfolder.stages import Stage
from evenhand.storage import read_jsonl
from evenhand.text.digests import digest

# the worked example of a method of another package
SHORTER = '''
from evenhand.config.methods import MethodSection
from evenhand.generate.method import Job, Method
from evenhand.generate.threads import Call, ask_round, candidates, first_answers, going, open_threads
from evenhand.records import Message


class ShorterSection(MethodSection):
    """A summary that is said again in fewer words."""

    words: int = 20

    @property
    def asks_again(self):
        return True


def summarise(job: Job):
    say = f"Say it in {job.recipe.generate.options_as(ShorterSection).words} words."
    threads = open_threads(job)
    first_answers(job.backend, going(threads))
    calls = []
    for each in going(threads):
        said = Message(role="assistant", content=each.summary()), Message(role="user", content=say)
        calls.append(Call(each, "shorten", (*each.request.prompt, *said), each.sampling))
    ask_round(job.backend, 1, calls)
    return candidates(threads)


SHORTER = Method(summarise, ShorterSection)
'''
HEAD = """
from dataclasses import replace
from evenhand.config.methods import MethodSection
from evenhand.generate import zero_shot
from evenhand.generate.backend import Reply
from evenhand.generate.method import Job, Method
"""


@pytest.fixture
def bring(tmp_path, monkeypatch):
    """Install a package that brings methods."""
    return partial(made_packages.bring, tmp_path / "site", monkeypatch, (METHODS, METHOD_SECTIONS))


def phase_of(tmp_path, method, output="run", **generate_keys):
    generation = RECIPE["generate"] | {"method": method, "requests_per_batch": 2} | generate_keys
    recipe = recipe_of(RECIPE | {"output": str(tmp_path / output), "generate": generation})
    return open_phase(recipe, "evaluation/base")


def made(phase):
    return list(read_jsonl(phase.folder / CANDIDATES, Candidate))


def test_a_method_of_another_package_makes_candidates_with_its_options(tmp_path, bring):
    bring(SHORTER, {"shorter": "SHORTER"})
    phase = phase_of(tmp_path, "shorter", shorter={"words": 7})
    assert "shorter:\n    words: 7" in dump_recipe(phase.recipe)
    counts = generate(phase)[0].counted(GenerateCounts)
    found = made(phase)
    assert counts.candidates == len(found) == 2 * counts.requests
    assert {each.method for each in found} == {"shorter"} and all(each.text for each in found)
    # both answers of each draw are kept, and counted
    turns = list(read_jsonl(phase.folder / TURNS, Turn))
    assert [turn.role for turn in turns[:2]] == ["summary", "shorten"]
    assert counts.turns == len(turns) == 2 * len(found)
    # what was made is not made again, unless options or the package change
    assert generate(phase)[1]
    other = phase_of(tmp_path, "shorter", shorter={"words": 8})
    assert inputs(other) != inputs(phase) == inputs(phase_of(tmp_path, "shorter", "elsewhere", shorter={"words": 7}))


def inputs(phase):
    stage: Stage = generate_stage(phase, phase_requests(phase))
    return stage.inputs


def test_the_package_and_its_version_count(tmp_path, bring):
    bring(SHORTER, {"shorter": "SHORTER"})
    assert inputs(phase_of(tmp_path, "shorter"))["package"] == "mine 1.0"
    assert "package" not in inputs(phase_of(tmp_path, "zero-shot"))


def test_the_loop_runs_a_method_of_another_package(tmp_path, bring):
    bring(SHORTER, {"shorter": "SHORTER"})
    recipe = tmp_path / "recipe.yaml"
    generation = RECIPE["generate"] | {"method": "shorter", "replicas": 2, "requests_per_batch": 2}
    recipe.write_text(dump_yaml(RECIPE | {"output": str(tmp_path / "run"), "generate": generation}))
    paths = os.pathsep.join([str(tmp_path / "site"), *filter(None, [os.environ.get("PYTHONPATH")])])
    done = started("loop", recipe, PYTHONPATH=paths)
    assert done.returncode == 0, done.stderr
    assert "words: 20" in (tmp_path / "run" / "recipe.yaml").read_text()
    assert len(made(open_phase(load_recipe(recipe), "evaluation/base"))) == 12


def test_wrong_options_are_explained_with_the_others(tmp_path, bring):
    bring(SHORTER, {"shorter": "SHORTER"})
    with pytest.raises(RecipeError) as caught:
        phase_of(tmp_path, "shorter", shorter={"wrods": 7}, max_model_len="x")
    assert (
        "key 'generate.shorter.wrods' is not known; did you mean 'words'? Keys of 'generate.shorter' are words."
        in str(caught.value)
    )
    assert "key 'generate.max_model_len' needs a whole number" in str(caught.value)
    with pytest.raises(RecipeError, match=r"key 'generate.shortr' is not known; did you mean 'shorter'"):
        phase_of(tmp_path, "shorter", shortr={"words": 7})
    with pytest.raises(RecipeError, match="shorter has no effect with method: zero-shot; write method: shorter"):
        phase_of(tmp_path, "zero-shot", shorter={"words": 7})
    with pytest.raises(
        RecipeError, match=r"generate.method' is wrong: there is no method 'shortre'; did you mean 'shorter'"
    ):
        phase_of(tmp_path, "shortre")


@pytest.mark.parametrize("method", [pytest.param("debate", marks=pytest.mark.needs("plugins/debate")), "shorter"])
def test_a_method_that_is_not_there_is_refused_in_one_message(tmp_path, monkeypatch, method):
    for door in (METHODS, METHOD_SECTIONS):
        monkeypatch.setitem(vars(door), "_points", {})
    with pytest.raises(RecipeError, match=f"there is no method '{method}'. Methods are zero-shot, "):
        phase_of(tmp_path, method)
    with pytest.raises(RecipeError, match=f"'generate.{method}' is not known"):
        phase_of(tmp_path, "zero-shot", **{method: {}})


def test_it_cannot_be_trained_on_unless_it_says_so(bring):
    bring(SHORTER, {"shorter": "SHORTER"})
    with pytest.raises(RecipeError, match=r"generate.method 'shorter' asks other prompts; write rounds: 0"):
        recipe_of(RECIPE | {"output": "run", "rounds": 1, "generate": RECIPE["generate"] | {"method": "shorter"}})


def test_a_method_without_options_has_no_key(tmp_path, bring):
    bring(HEAD + "MINE = Method(zero_shot.summarise)\n", {"plain-one": "MINE"})
    phase = phase_of(tmp_path, "plain-one")
    assert "plain_one" not in dump_recipe(phase.recipe)
    assert not phase.recipe.generate.can_train
    generate(phase)
    plain = phase_of(tmp_path, "zero-shot", "plain")
    generate(plain)
    assert [each.text for each in made(phase)] == [each.text for each in made(plain)]


def test_a_method_may_ask_no_model(tmp_path, bring):
    text = HEAD + (
        "class FirstSection(MethodSection):\n    asks_model = False\n"
        "def summarise(job):\n    return [[Reply(r.source_documents[0].text, 'stop')] for r in job.requests]\n"
        "LEAD = Method(summarise, FirstSection)\n"
    )
    bring(text, {"lead": "LEAD"})
    values = {key: value for key, value in RECIPE.items() if key != "model"}
    recipe = recipe_of(values | {"output": str(tmp_path / "run"), "generate": {"method": "lead"}})
    assert (list(recipe.generate.plans), recipe.generate.has_model) == (["summary"], False)
    phase = open_phase(recipe, "evaluation/base")
    generate(phase)
    assert {each.plan for each in made(phase)} == {"summary"}
    with pytest.raises(RecipeError, match="plans have no effect with method: lead, which draws nothing"):
        phase_of(tmp_path, "lead")
    with pytest.raises(RecipeError, match=r"evaluation.plans has no effect with method: lead"):
        recipe_of(
            values
            | {"output": "run", "generate": {"method": "lead"}, "evaluation": {"judges": ["words"], "plans": {"a": {}}}}
        )


def test_a_method_may_bring_its_backend(tmp_path, bring):
    text = HEAD + (
        "from evenhand.generate.scripted import ScriptedBackend\n"
        "def open_own(phase, signature):\n    return ScriptedBackend(lambda ask: f'{signature} says so.')\n"
        "LOUD = Method(zero_shot.summarise, open_backend=open_own)\n"
    )
    bring(text, {"loud": "LOUD"})
    phase = phase_of(tmp_path, "loud")
    generate(phase)
    assert {each.text for each in made(phase)} == {"scripted:copy_a_sentence says so."}


def test_replies_that_failed_leave_the_request_out(tmp_path, bring):
    text = HEAD + (
        "def summarise(job):\n    rows = zero_shot.summarise(job)\n"
        "    failed = Reply('', 'failed', reason='too dull', error='it is dull')\n"
        "    return [[failed, *row[1:]] for row in rows]\n"
        "DULL = Method(summarise)\n"
    )
    bring(text, {"dull": "DULL"})
    phase = phase_of(tmp_path, "dull")
    generate(phase)
    assert {each.index for each in made(phase)} == {1}
    assert {each.reason for each in read_jsonl(phase.folder / FAILURES, Failure)} == {"too dull"}


WRONG = [
    ("raise ValueError('no such mood')", r"raised ValueError: no such mood \(.*mine/__init__.py:8\)"),
    ("return replies[:-1]", "gave 1 rows for 2 requests; return a list with a row for each"),
    ("return None", "gave NoneType for 2 requests"),
    (
        "return [row[:-1] for row in replies]",
        "gave 1 replies for 2 draws of request '.*'; return a reply for each draw",
    ),
    ("return [row * 2 for row in replies]", "gave 4 replies for 2 draws"),
    ("return [[reply.text for reply in row] for row in replies]", "gave str and no Reply for request"),
    ("return [[replace(r, text=None) for r in row] for row in replies]", "gave a reply whose text is NoneType"),
    ("return [[Reply('', 'failed')] * 2 for _ in replies]", "gave a failed reply without a reason"),
    ("return job.recipe.generate.debate", "raised AttributeError: .*debate"),
]


@pytest.mark.parametrize(("line", "text"), WRONG, ids=[text[:24] for _, text in WRONG])
def test_a_method_that_gives_anything_else_is_refused_by_name(tmp_path, bring, line, text):
    code = f"def summarise(job):\n    {line if line.startswith('raise') else 'replies = zero_shot.summarise(job)'}\n    {line}\n"
    bring(HEAD + code + "WRONG = Method(summarise)\n", {"wrong": "WRONG"})
    phase = phase_of(tmp_path, "wrong")
    with pytest.raises(PluginError, match=f"method 'wrong' of package mine 1.0 {text}"):
        generate(phase)
    assert not (phase.folder / CANDIDATES).exists()


BROKEN = {
    "cannot be imported": (
        "raise RuntimeError('ouch')\n",
        {"broken": "X"},
        "cannot be imported from mine:X: RuntimeError: ouch",
    ),
    "is no method": ("X = 7\n", {"broken": "X"}, "is int and no method"),
    "options of another kind": (
        HEAD + "X = Method(zero_shot.summarise, dict)\n",
        {"broken": "X"},
        "is Method and no method",
    ),
    "the core has the name": (
        HEAD + "X = Method(zero_shot.summarise)\n",
        {"zero-shot": "X"},
        "is brought by evenhand and by mine",
    ),
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_package_is_told_and_harms_no_other_method(tmp_path, bring, case):
    text, methods, said = BROKEN[case]
    bring(text, methods)
    with pytest.raises(PluginError, match=said):
        phase_of(tmp_path, *methods)
    if "zero-shot" not in methods:
        assert make_recipe("zero-shot").generate.options.can_train
        # nor is what is said of a key
        with pytest.raises(RecipeError, match="did you mean 'method'"):
            phase_of(tmp_path, "zero-shot", methd={})


def test_a_name_that_two_packages_bring_is_refused(tmp_path, bring):
    bring(SHORTER, {"shorter": "SHORTER"})
    bring(SHORTER, {"shorter": "SHORTER"}, package="yours", version="2.0")
    with pytest.raises(
        PluginError, match=r"method 'shorter' is brought by (mine 1.0 and by yours 2.0|yours 2.0 and by mine 1.0)"
    ):
        phase_of(tmp_path, "shorter")


def test_options_whose_key_is_another_are_refused(tmp_path, bring):
    bring(SHORTER, {"plans": "SHORTER"})
    with pytest.raises(PluginError, match="'plans' is a key of every recipe's 'generate'; have the method renamed"):
        phase_of(tmp_path, "plans")


NULLS = dict.fromkeys(map(options_key, METHODS))
# method -> digest of what its stage depends on besides the model, as version 0.2.0 had it before there were doors
BEFORE = {
    "zero-shot": "f3ac6372175d42da",
    "self-refine": "12acec23fbcf7294",
    "debate": "32e166a7e4579b0c",
    "attention-reweighting": "c21bb4a75552c3da",
    "shuffled": "d93b5c181ea20fa5",
    "chain-of-thought": "b8513d641c3eed24",
    "hierarchical": "8cdbd2557dfab975",
    "thinned": "f3ac6372175d42da",
    "fair-extractive": "0d86ce53ddbcbe47",
}


@pytest.mark.parametrize("method", [each for each in METHODS if each in BEFORE])
def test_a_run_of_before_goes_on(method):
    """A resolved recipe of before says null for all other methods, and what was finished by it is not done again."""
    section = METHOD_SECTIONS[method]
    values = make_recipe("zero-shot").model_dump(mode="json")
    values["task"] = {"scope": "all"}
    values["generate"] |= NULLS | {"method": method}
    if method == "attention-reweighting":
        values["generate"] |= {"backend": "transformers", "attention_reweighting": {"mode": "all"}}
    if not section.asks_model:
        del values["generate"]["plans"]
    phase = open_phase(recipe_of(values), "evaluation/base")
    stage = generate_stage(phase, SimpleNamespace(digest="requests"))
    assert digest({key: value for key, value in stage.inputs.items() if key != "model"}) == BEFORE[method]


def test_the_worked_example_is_short():
    assert len([line for line in SHORTER.splitlines() if line.strip()]) < 25
