from typing import Any

import pytest

from evenhand.evaluation.report.systems.roles import deciding, equal_judges, judge_notes
from evenhand.evaluation.report.systems.systems import read_policies
from evenhand.judges import open_judges
from evenhand.judges.independence import overlap_warnings


def recipe(make_run: Any, judges: dict[str, Any], reward: list[str], report: list[str], scope: str = "side") -> Any:
    """A recipe in which what the reward's judges find unfair has a weight below 0."""
    weights = {name: -1 if judges[name]["kind"] in ("value-shares", "equal-coverage") else 1 for name in reward}
    rewards = {"judges": reward, **({"combine": "weighted", "weights": weights} if min(weights.values()) < 0 else {})}
    return make_run(judges=judges, reward=rewards, evaluation={"judges": report}, task={"scope": scope}).recipe


ALIGNMENT = {"kind": "alignment"}
RECALL = {"kind": "alignment", "direction": "recall"}
ROUGE = {"kind": "rouge"}


def test_independent_judges_come_first_and_bring_no_warning(make_run: Any):
    made = recipe(make_run, {"fit": ALIGNMENT, "overlap": ROUGE}, ["fit"], ["overlap"])
    assert [(n.name, n.role) for n in judge_notes(made, {})] == [("overlap", "report"), ("fit", "reward")]
    assert overlap_warnings(made, {}) == []


def test_a_judge_named_twice_is_marked_and_warned_of(make_run: Any):
    made = recipe(make_run, {"fit": ALIGNMENT, "overlap": ROUGE}, ["fit"], ["fit", "overlap"])
    assert [(n.name, n.role) for n in judge_notes(made, {})] == [("overlap", "report"), ("fit", "both")]
    (warning,) = overlap_warnings(made, {})
    assert "'fit' is a" in warning and "of the reward" in warning


def test_the_same_options_under_another_name_are_the_same_judge(make_run: Any):
    made = recipe(make_run, {"fit": ALIGNMENT, "again": ALIGNMENT}, ["fit"], ["again"])
    assert judge_notes(made, {})[0].role == "both"
    (warning,) = overlap_warnings(made, {})
    assert "'again' and reward" in warning and "same judge" in warning


def test_batch_sizes_make_no_other_judge(make_run: Any):
    rubric = {"kind": "rubric", "rubric": "coverage", "model": {"name": "judge-7b"}}
    slow = {"requests_per_batch": 1, "engine": {"gpu_memory_utilization": 0.5}}
    for one, other in ((ALIGNMENT, ALIGNMENT | {"batch_size": 1}), (rubric, rubric | {"backend": slow})):
        made = recipe(make_run, {"one": one, "other": other}, ["one"], ["other"])
        assert judge_notes(made, {})[0].role == "both"


def test_equal_signatures_are_the_same_judge_whatever_its_names(make_run: Any):
    # recall goes by sentences, so `chunks` makes no difference to it; one judge is called what it measures
    judges = {"alignment-recall": RECALL, "other": RECALL | {"chunks": "sentence"}}
    made = recipe(make_run, judges, ["alignment-recall"], ["other"])
    signatures = {judge.name: judge.signature for judge in open_judges(made.judges)}
    assert judge_notes(made, signatures)[0].role == "both"
    (warning,) = overlap_warnings(made, signatures)
    assert "the same judge" in warning


def test_judges_that_measure_different_things_differ_though_called_by_what_they_measure(make_run: Any):
    judges = {"rouge1-recall": ROUGE, "rouge1-precision": ROUGE | {"measure": "precision"}}
    made = recipe(make_run, judges, ["rouge1-recall"], ["rouge1-precision"])
    signatures = {judge.name: judge.signature for judge in open_judges(made.judges)}
    assert judge_notes(made, signatures)[0].role == "report"
    (warning,) = overlap_warnings(made, signatures)
    assert "word overlap (ROUGE)" in warning


def test_a_shared_model_is_warned_of_once_for_all_reward_judges(make_run: Any):
    judges = {"fit": ALIGNMENT, "recall": RECALL, "opposing": {"kind": "alignment", "against": "opposing"}}
    made = recipe(make_run, judges, ["fit", "recall"], ["opposing"])
    (warning,) = overlap_warnings(made, {})
    assert "'fit' and 'recall'" in warning and "embedded:all-minilm-l6-v2" in warning
    assert judge_notes(made, {})[0].role == "report"


def test_report_judges_that_share_the_same_are_named_in_one_warning(make_run: Any):
    judges = {"fit": ROUGE, "f1": ROUGE | {"measure": "fmeasure"}, "precision": ROUGE | {"measure": "precision"}}
    (warning,) = overlap_warnings(recipe(make_run, judges, ["fit"], ["f1", "precision"]), {})
    assert "'f1' and 'precision'" in warning and "reward judge 'fit'" in warning


def test_two_rubrics_of_one_model_share_its_blind_spots(make_run: Any):
    rubrics = {r: {"kind": "rubric", "rubric": r, "model": {"name": "judge-7b"}} for r in ("coverage", "faithfulness")}
    (warning,) = overlap_warnings(recipe(make_run, rubrics, ["coverage"], ["faithfulness"]), {})
    assert "the model judge-7b" in warning


@pytest.mark.needs("plugins/opinions")
@pytest.mark.parametrize(
    ("options", "better"),
    [
        (ROUGE, "higher"),
        ({"kind": "alignment", "against": "opposing"}, "lower"),
        ({"kind": "length"}, None),
        ({"kind": "contract"}, "higher"),
        ({"kind": "value-shares", "matcher": {"kind": "words"}}, "lower"),
        ({"kind": "equal-coverage"}, "lower"),
        pytest.param({"kind": "opinion-graph"}, "lower", marks=pytest.mark.needs("plugins/opinions")),
        ({"kind": "contrast"}, "higher"),
    ],
)
def test_which_scores_are_better(make_run: Any, options: dict[str, Any], better: str | None):
    scope = "side" if options["kind"] == "contrast" or options.get("against") == "opposing" else "all"
    made = recipe(make_run, {"fit": RECALL, "other": options}, ["fit"], ["other"], scope)
    assert judge_notes(made, {})[0].better == better


@pytest.mark.needs("plugins/released")
def test_metrics_on_one_model_share_its_blind_spots(make_run: Any):
    model = {"model": "org/nli"}
    judges = {
        "zs": {"kind": "summac", **model},
        "fit": {"kind": "alignment", "aligner": "nli", **model},
        "facts": {"kind": "finesure", "model": {"name": "org/llm"}},
        "grade": {"kind": "rubric", "rubric": "coverage", "model": {"name": "org/llm"}},
    }
    made = recipe(make_run, judges, ["fit", "grade"], ["zs", "facts"])
    nli, llm = overlap_warnings(made, {})
    assert all(name in nli for name in ("'zs'", "'fit'", "org/nli"))
    assert all(name in llm for name in ("'facts'", "'grade'", "org/llm"))


def test_fairness_judges_share_the_model_or_the_words_that_they_rest_on(make_run: Any):
    judges = {
        "fit": ALIGNMENT,
        "ec": {"kind": "equal-coverage"},
        "ec-again": {"kind": "equal-coverage", "entailer": {"batch_size": 1}},
        "uer": {"kind": "value-shares", "matcher": {"kind": "words"}},
        "bur": {"kind": "value-shares", "measure": "bur", "matcher": {"kind": "words"}},
        "ngram": {"kind": "value-shares", "matcher": {"kind": "ngram"}},
    }
    made = recipe(make_run, judges, ["ec"], ["ec-again"], "all")
    assert "the same judge" in " ".join(overlap_warnings(made, {}))
    assert judge_notes(made, {})[0].role == "both"
    (warning,) = overlap_warnings(recipe(make_run, judges, ["fit"], ["ec"], "all"), {})
    assert "the model embedded:all-minilm-l6-v2" in warning
    for report in ("bur", "ngram"):
        (warning,) = overlap_warnings(recipe(make_run, judges, ["uer"], [report], "all"), {})
        assert "words in common" in warning


def test_model_that_splits_summaries_is_one_that_a_judge_rests_on(make_run: Any):
    model = {"model": {"name": "org/llm"}}
    judges = {
        "grade": {"kind": "rubric", "rubric": "coverage", **model},
        "ec": {"kind": "equal-coverage", "entailer": {"kind": "words", "units": "llm", "splitter": model}},
    }
    (warning,) = overlap_warnings(recipe(make_run, judges, ["grade"], ["ec"], "all"), {})
    assert "the model org/llm" in warning


@pytest.mark.needs("plugins/fairpo")
def test_judge_of_the_pairs_is_one_that_is_trained_on(make_run: Any):
    fairness = {"kind": "equal-coverage", "entailer": {"kind": "words"}}
    judges = {"ec": fairness, "same": fairness, "overlap": ROUGE, "fit": ALIGNMENT}
    fair = {
        "judges": judges, "reward": {"judges": ["fit"]}, "task": {"scope": "all"}, "rounds": 1,
        "generate": {"backend": "scripted", "method": "thinned", "plans": {"p": {}}},
        "pairs": {"mode": "fairpo", "judge": "ec"}, "evaluation": {"judges": ["ec", "same", "overlap"]},
    }  # fmt: skip
    made = make_run(**fair).recipe
    assert {n.name: n.role for n in judge_notes(made, {})} == {
        "ec": "both", "same": "both", "overlap": "report", "fit": "reward",
    }  # fmt: skip
    own, other, one = overlap_warnings(made, {})
    assert "'ec' and 'same'" in one and "one judge" in one
    assert "Judge 'ec' is" in own and "of the pairs" in own
    assert "judge 'same' and" in other and "pairs judge 'ec'" in other
    untrained = make_run(**fair | {"rounds": 0}).recipe
    assert overlap_warnings(untrained, {}) == [one]
    assert [judge.name for judge in deciding(judge_notes(untrained, {}))] == ["ec", "overlap"]


@pytest.mark.parametrize("shift", [0.0, 0.1])
def test_judges_with_equal_scores_are_one_whatever_they_are_called(make_run: Any, shift: float):
    judges = {"fit": ALIGNMENT, "overlap": ROUGE, "other": ROUGE | {"type": "rouge2"}}
    run = make_run(judges=judges, reward={"judges": ["fit"]}, evaluation={"judges": ["overlap", "other"]}, rounds=0)
    numbers = [0.1 * k for k in range(12)]
    rows = {f"s{k}/left": [(x, x + shift, 0.5), (x + 0.01, x + 0.01, 0.2)] for k, x in enumerate(numbers)}
    run.write("evaluation/base", rows)
    (output,) = read_policies(run.recipe)
    equal = equal_judges([output], ["fit", "overlap"])
    assert equal == (set() if shift else {("fit", "overlap"), ("overlap", "fit")})
    roles = {note.name: note.role for note in judge_notes(run.recipe, {}, equal)}
    assert roles["overlap"] == ("report" if shift else "both")
    said = " ".join(overlap_warnings(run.recipe, {}, equal))
    assert ("the same score" in said) == (not shift)
    # of two report judges the first counts
    two = {("overlap", "other"), ("other", "overlap")}
    assert [judge.name for judge in deciding(judge_notes(run.recipe, {}, two))] == ["overlap"]
    assert "are one judge" in " ".join(overlap_warnings(run.recipe, {}, two))
