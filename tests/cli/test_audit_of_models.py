"""`evenhand audit --model`: each model writes a summary of every set, and what it wrote is kept and audited."""

import json

import pytest
from audit_inputs import ATTRIBUTE, two_sided, write_sets, write_summaries
from commands import ended

from evenhand.api.asked import asked_models, recipes_of
from evenhand.corpora.reader import read_any
from evenhand.errors import DataError
from evenhand.evaluation.audit.contents import Audit

FAST = ("--measures", "value-shares", "--matcher", "words", "--resamples", "200")
# answers without a model
RECIPE = """
name: mine
output: runs/mine
model: {name: none}
generate: {backend: scripted, plans: {drawn: {candidates: 4, max_tokens: 77}}}
judges: {contract: {kind: contract}}
reward: {judges: [contract]}
evaluation: {judges: [contract]}
rounds: 0
"""


def audit(*arguments):
    """Exit code of the verb, run in this process, and what it refused."""
    done = ended("audit", *arguments)
    return done.returncode, done.stderr


@pytest.fixture
def documents(tmp_path):
    return write_sets(tmp_path / "documents.jsonl", two_sided(6))


@pytest.fixture
def recipe(tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_text(RECIPE)
    return path


def test_a_model_is_asked_once_and_audited(documents, recipe, tmp_path):
    out = tmp_path / "audit"
    asked = ("--documents", documents, "--attribute", ATTRIBUTE, "--model", recipe, *FAST, "--out", out)
    code, said = audit(*asked)
    assert code == 0, said
    (system,) = Audit.model_validate_json((out / "audit.json").read_text()).systems
    assert (system.label, system.n_summaries) == ("mine", 6)
    lines = (out / "models" / "mine" / "summaries.jsonl").read_text().splitlines()
    assert [json.loads(line)["id"] for line in lines] == [f"set-{number}" for number in range(6)]
    candidates = out / "models" / "mine" / "evaluation" / "base" / "candidates.jsonl"
    written = candidates.stat().st_mtime_ns
    assert audit(*asked)[0] == 0
    assert candidates.stat().st_mtime_ns == written


def test_columns_that_are_named_are_those_of_files(documents, recipe, tmp_path):
    lines = [json.dumps({"case": f"set-{number}", "given": "Apple berry."}) for number in range(6)]
    (tmp_path / "own.jsonl").write_text("\n".join(lines))
    code, said = audit(
        *("--documents", documents, "--attribute", ATTRIBUTE, "--model", recipe, "--summaries", tmp_path / "own.jsonl"),
        *("--summary-columns", "id=case,text=given", *FAST, "--out", tmp_path / "audit"),
    )
    assert code == 0, said
    systems = Audit.model_validate_json((tmp_path / "audit" / "audit.json").read_text()).systems
    assert [(system.label, system.n_summaries) for system in systems] == [("own", 6), ("mine", 6)]


def test_only_the_sets_that_are_drawn_are_asked_for(documents, recipe, tmp_path):
    out, drawn = tmp_path / "audit", ("--limit", 5, "--allow-missing")
    written = write_summaries(tmp_path / "files.jsonl", {f"set-{number}": "Apple berry." for number in range(6)})
    for options in (drawn[:2], drawn):
        code, said = audit(
            *("--documents", documents, "--attribute", ATTRIBUTE, "--model", recipe, "--summaries", written),
            *(*options, *FAST, "--out", out),
        )
        assert code == 0, said
    assert len((out / "models" / "mine" / "summaries.jsonl").read_text().splitlines()) == 5
    audited = Audit.model_validate_json((out / "audit.json").read_text())
    assert (audited.n_sets, audited.systems[-1].n_summaries) == (5, 5)


def test_all_that_an_audit_refuses_is_refused_before_a_model_is_asked(documents, recipe, tmp_path):
    out = tmp_path / "audit"
    for options, said in (
        (("--attribute", "colour"), "no document has the attribute 'colour'"),
        (("--attribute", ATTRIBUTE, "--target", "left=1"), "no weight for right"),
        (("--attribute", ATTRIBUTE, "--summaries", tmp_path / "absent.jsonl"), "absent.jsonl"),
        (("--attribute", ATTRIBUTE, "--model", f"mine={recipe}"), "two systems are called 'mine'"),
    ):
        code, refusal = audit("--documents", documents, "--model", recipe, *options, *FAST, "--out", out)
        assert code == 2
        assert said in refusal
    assert not (out / "models" / "mine").exists()


def test_all_models_that_cannot_be_had_are_named_together(documents, tmp_path):
    code, refusal = audit(
        *("--documents", documents, "--attribute", ATTRIBUTE, "--model", "/nowhere/a,/nowhere/b", *FAST),
        *("--out", tmp_path / "audit"),
    )
    assert code == 2
    assert "--model /nowhere/a: " in refusal
    assert "--model /nowhere/b: " in refusal


def test_models_are_called_by_the_last_part_of_their_names(tmp_path):
    entries = ["org/small", "embedded:tiny", "qwen2.5:1.5b@http://localhost:11434/v1", "x=org/y,mine.yaml"]
    models = asked_models(entries, tmp_path)
    assert [(model.label, model.text) for model in models] == [
        ("small", "org/small"),
        ("tiny", "embedded:tiny"),
        ("qwen2.5:1.5b", "qwen2.5:1.5b@http://localhost:11434/v1"),
        ("x", "org/y"),
        ("mine", "mine.yaml"),
    ]
    with pytest.raises(DataError, match="write which of the server's models"):
        asked_models(["http://localhost:8000/v1"], tmp_path)


def test_of_a_recipe_its_model_is_asked_for_one_greedy_answer_of_all_sides(documents, recipe, tmp_path):
    models = asked_models([str(recipe)], tmp_path)
    ((made, size),) = recipes_of(models, read_any(documents), ATTRIBUTE, tmp_path)
    (plan,) = made.generate.plans.values()
    assert (plan.temperature, plan.candidates, plan.max_tokens) == (0, 1, 77)
    assert (made.task.scope, made.rounds, size.candidates) == ("all", 0, 6)


@pytest.mark.needs("plugins/server")
@pytest.mark.parametrize(
    ("address", "variable"),
    [("https://api.openai.com/v1", "OPENAI_API_KEY"), ("https://openai.com.example.org/v1", None)],
)
def test_the_key_of_openai_is_sent_to_openai_alone(address, variable, documents, monkeypatch, tmp_path):
    monkeypatch.setattr("evenhand.api.asked.preflight", lambda recipe: None)
    models = asked_models([f"a@{address}"], tmp_path)
    ((made, _),) = recipes_of(models, read_any(documents), ATTRIBUTE, tmp_path)
    assert (made.generate.server.base_url, made.generate.server.api_key_env) == (address, variable)
