"""Grades of models whose vocabulary writes "3" as two tokens: what is read, and what is refused before anything is loaded."""

import json
import subprocess
import sys
from contextlib import closing

import pytest
from sentencepiece_models import save_mistral

from evenhand.config.judges import RubricJudge
from evenhand.errors import RecipeError
from evenhand.generate.backend import prompt_tokens
from evenhand.judges import JUDGES, open_judge
from evenhand.judges.judge import JudgeInput
from evenhand.judges.rubric import refuse_unreadable_grades

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

SOURCE = "The ferry is cheap. Nurses need it at night. " * 6
TEXTS = ("The Left says the ferry is cheap.", "A bridge pays for itself.", "Nurses need the ferry.")
INPUTS = [JudgeInput(f"c{i}", "r", text, True, SOURCE) for i, text in enumerate(TEXTS)]


@pytest.fixture(scope="module")
def mistral(tmp_path_factory):
    """Folder of a small Mistral with Mistral's own vocabulary."""
    folder = tmp_path_factory.mktemp("models") / "mistral"
    save_mistral(folder)
    return folder


def rubric(folder, backend="transformers", **changes):
    values = {
        "kind": "rubric",
        "rubric": "coverage",
        "model": {"name": str(folder), "dtype": "float32"},
        "backend": {"backend": backend, "max_model_len": 1024},
    }
    return RubricJudge.model_validate(values | changes)


@pytest.fixture(scope="module")
def expected(mistral):
    """The distribution over the grades of each input by a plain pass of the model: after the prompt and a blank."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(mistral)
    model = transformers.AutoModelForCausalLM.from_pretrained(mistral, dtype=torch.float32)
    ids = tokenizer.convert_tokens_to_ids(["1", "2", "3", "4", "5"])
    blank = tokenizer.convert_tokens_to_ids("▁")
    judge = open_judge("coverage", rubric(mistral))
    found = []
    for each in INPUTS:
        prompt = prompt_tokens(tokenizer, judge.prompt(each))
        with torch.inference_mode():
            logits = model(torch.tensor([[*prompt, blank]])).logits[0, -1]
        found.append(logits[ids].softmax(dim=-1).tolist())
    return found


def check(verdicts, expected):
    """Compare scores and distributions; each verdict is a score and its `raw`."""
    for (score, raw), shares in zip(verdicts, expected, strict=True):
        assert list(json.loads(raw)) == ["1", "2", "3", "4", "5"]
        assert list(json.loads(raw).values()) == pytest.approx(shares, abs=1e-4)
        assert score == pytest.approx(sum(g * share for g, share in enumerate(shares, start=1)), abs=1e-3)
    # the model tells the inputs apart, so that a wrong place would show
    assert len({round(score, 3) for score, _ in verdicts}) == len(INPUTS)


def test_expected_grade_on_transformers_is_that_of_a_plain_pass(mistral, expected):
    with closing(open_judge("coverage", rubric(mistral))) as judge:
        check([(verdict.score, verdict.raw) for verdict in judge.score(INPUTS)], expected)


SCRIPT = """
import json, sys
from evenhand.config.judges import RubricJudge
from evenhand.judges import open_judge
from evenhand.judges.judge import JudgeInput

def main():
    judge = open_judge("coverage", RubricJudge.model_validate_json(sys.argv[1]))
    verdicts = judge.score([JudgeInput(*each) for each in json.loads(sys.argv[2])])
    judge.close()
    print("RESULT" + json.dumps([[verdict.score, verdict.raw] for verdict in verdicts]))

if __name__ == "__main__":
    main()
"""


@pytest.mark.slow
@pytest.mark.usefixtures("quick_engines")
def test_expected_grade_on_vllm_is_that_of_a_plain_pass(mistral, expected, tmp_path):
    # vLLM would take the folder for one of Mistral's own format, and a tokenizer without chat template
    assert (mistral / "tokenizer.model.v3").is_file()
    script = tmp_path / "judge.py"
    script.write_text(SCRIPT)
    options = rubric(mistral, "vllm").model_dump_json()
    inputs = json.dumps([[each.candidate_id, "r", each.text, True, each.reference] for each in INPUTS])
    done = subprocess.run(
        [sys.executable, str(script), options, inputs], capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    (line,) = [line for line in done.stdout.splitlines() if line.startswith("RESULT")]
    check(json.loads(line.removeprefix("RESULT")), expected)


def refuse_grades(options, tokenizer):
    asks = JUDGES[options.kind].prompt
    refuse_unreadable_grades("judges.coverage.scoring", options.model.name, asks("coverage", options).grades, tokenizer)


def test_grades_that_a_tokenizer_can_tell_apart_pass(mistral):
    tokenizer = transformers.AutoTokenizer.from_pretrained(mistral)
    refuse_grades(rubric(mistral), tokenizer)


def test_judge_whose_grades_cannot_be_read_is_refused_with_its_key(mistral):
    tokenizer = transformers.AutoTokenizer.from_pretrained(mistral)
    tokenizer.chat_template += "{% if add_generation_prompt %}<think>{% endif %}"
    with pytest.raises(RecipeError, match=r"key 'judges\.coverage\.scoring': model .* use scoring: thought or greedy"):
        refuse_grades(rubric(mistral), tokenizer)
    # a reply that is read as text needs no place
    refuse_grades(rubric(mistral, scoring="greedy"), tokenizer)
