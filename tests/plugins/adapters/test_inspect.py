import pytest

import evenhand
from evenhand.errors import RecipeError
from evenhand.plugins.adapters.inspect import as_judge, as_scorer

inspect_ai = pytest.importorskip("inspect_ai", reason="needs inspect_ai: pip install 'evenhand[inspect]'")

DOCUMENTS = [
    {
        "id": "ferry",
        "topic": "The ferry",
        "documents": [
            {"id": "1", "text": "cheap and fast", "attributes": {"stance": "for"}},
            {"id": "2", "text": "loud at night", "attributes": {"stance": "against"}},
        ],
    }
]


def scorer_of(value, metadata=None, **score):
    """A scorer of inspect_ai that always says so."""

    @inspect_ai.scorer.scorer(metrics=[inspect_ai.scorer.mean()])
    def fixed():
        async def judged(state, target):
            if isinstance(value, Exception):
                raise value
            return None if value is None else inspect_ai.scorer.Score(value=value, **score)

        return judged

    return fixed()


def said(judge):
    (row,) = evenhand.judge({"ferry": "cheap"}, {"theirs": judge}, DOCUMENTS).rows()
    return row["theirs"], row.get("unscored")


@pytest.mark.parametrize(("value", "number"), [(0.25, 0.25), (3, 3.0), (True, 1.0), ("C", 1.0), ("I", 0.0), ("P", 0.5)])
def test_a_score_of_inspect_ai_is_a_score(value, number):
    assert as_judge(scorer_of(value))("cheap", ["a"], ABOUT) == number


ABOUT = {"id": "r", "prompt": "", "documents": [], "topic": "", "side": None, "references": []}


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (None, "the scorer gave no score"),
        (float("nan"), "grader_failed"),
        ("N", "the scorer's value is no number: N"),
        ("0.5", "the scorer's value is no number: 0.5"),
        ([1, 2], "the scorer's value is no number"),
        ({"a": 1}, "the scorer's value is no number"),
    ],
)
def test_what_is_no_number_there_is_none_here(value, reason):
    assert as_judge(scorer_of(value, reason="grader_failed"))("cheap", ["a"], ABOUT) == reason


@pytest.mark.parametrize("scorer", [inspect_ai.scorer.f1, "f1", None, len])
def test_what_is_no_scorer_is_refused_at_once(scorer):
    with pytest.raises(RecipeError, match=r"is no scorer; .*as_judge\(f1\(\)\)"):
        as_judge(scorer)


def test_one_number_of_several_is_named():
    assert as_judge(scorer_of({"a": 0.5}), key="a")("cheap", ["a"], ABOUT) == 0.5
    assert as_judge(scorer_of({"a": 0.5}), key="b")("cheap", ["a"], ABOUT) == "the scorer's value has no 'b'"


def test_a_scorer_judges_with_the_summary_as_output_and_the_sources_as_target():
    # its own scorer of words in common: "cheap" of "cheap and fast" has precision 1 and recall 1/3, F1 .5
    judge = as_judge(inspect_ai.scorer.f1(stop_words=[]))
    rows = evenhand.judge({"ferry": "cheap"}, {"f1": judge}, DOCUMENTS).rows()
    assert rows[0]["f1"] == pytest.approx(0.5)


def test_a_scorer_that_raises_leaves_the_summary_unscored():
    assert said(as_judge(scorer_of(ValueError("broken"))))[0] is None


def test_a_file_that_names_a_scorer_is_a_judge(tmp_path):
    path = tmp_path / "scorers.py"
    path.write_text(
        "from inspect_ai.scorer import f1\nfrom evenhand.plugins.adapters.inspect import as_judge\nscore = as_judge(f1())\n"
    )
    keys = {
        "kind": "python",
        "file": str(path),
        "function": "score",
        "better": "higher",
        "range": [0.0, 1.0],
        "means": "F1.",
    }
    assert said(keys)[0] > 0


def evaluated(tmp_path, scorer, metadata):
    """The log of an evaluation in which the model says "cheap"."""
    model = "mockllm/model"

    @inspect_ai.solver.solver
    def answer():
        async def solve(state, generate):
            state.output = inspect_ai.model.ModelOutput.from_content(model, "cheap")
            return state

        return solve

    sample = inspect_ai.dataset.Sample(input="Summarise: cheap and fast", target="", metadata=metadata)
    task = inspect_ai.Task(dataset=[sample], solver=answer(), scorer=scorer)
    (log,) = inspect_ai.eval(task, model=model, log_dir=str(tmp_path), display="none")
    assert log.status == "success", log.error
    return log


def test_a_judge_scores_in_an_evaluation_under_its_name(tmp_path):
    scorer = as_scorer({"precise": {"kind": "rouge", "type": "rouge1", "measure": "recall"}})
    log = evaluated(tmp_path, scorer, {"documents": ["cheap and fast"]})
    assert log.samples[0].scores["precise"].value == pytest.approx(1 / 3)
    (score,) = log.results.scores
    assert (score.name, score.metrics["mean"].value) == ("precise", pytest.approx(1 / 3))


def test_without_documents_the_input_is_the_source(tmp_path):
    log = evaluated(tmp_path, as_scorer({"n": lambda summary, sources: float(len(sources[0].split()))}), {})
    assert log.samples[0].scores["n"].value == 4.0


def test_what_a_judge_cannot_score_is_unscored_in_the_log_with_its_reason(tmp_path):
    log = evaluated(tmp_path, as_scorer({"n": lambda summary: "nothing to say"}), {})
    score = log.samples[0].scores["n"]
    assert score.value != score.value
    assert (score.reason, score.explanation) == ("scoring_failed", "nothing to say")
    assert log.results.scores[0].unscored_samples == 1
