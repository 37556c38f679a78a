"""One question, one word: a comparison says what a run's own report says of the same two systems, or that it is another."""

from typing import Any

import numpy as np
import pytest

from evenhand.evaluation.pages import markdown
from evenhand.evaluation.report.checkpoint.build import build_report
from evenhand.evaluation.report.comparison.build import build_comparison
from evenhand.evaluation.report.comparison.entries import NamedRecipe, read_entries
from evenhand.evaluation.report.comparison.page import page

SYSTEMS = {("", 1): "zero-shot", ("", 3): "rerank", ("trained", 1): "DPO", ("trained", 3): "DPO+RR"}


def write(run: Any, phase: str, gain: float, seed: int) -> None:
    """Scores that rise with the reward a little, and by the gain."""
    generator = np.random.default_rng(seed)
    scores = {}
    for number in range(12):
        for side in ("left", "right"):
            rewards = generator.normal(size=3)
            own = 0.5 + 0.05 * rewards + gain + 0.05 * generator.normal(size=3)
            scores[f"s{number:02d}/{side}"] = list(zip(rewards.tolist(), own.tolist(), strict=True))
    run.write(phase, scores, candidate=lambda request, index: {"id": f"{seed} {request} {index}"})


def runs(make_run: Any, tmp_path: Any, seed: int) -> list[NamedRecipe]:
    """The first has the very candidates that the second one's untrained model wrote."""
    named = []
    for place, label, rounds in ((1, "plain", 0), (1, "trained", 1), (2, "other", 0)):
        run = make_run(rounds=rounds)
        run.recipe = run.recipe.model_copy(update={"output": tmp_path / f"{seed}" / label})
        write(run, "evaluation/base", 0.0, 10 * seed + place)
        if rounds:
            write(run, "evaluation/round-00", 0.03, 10 * seed + 7)
        named.append(NamedRecipe(label, run.recipe))
    return named


def asked_of(subject: str, k: int, reference: str, reference_k: int, run: str) -> str | None:
    """What the report of a run calls a difference of the comparison; None where it has it not."""
    labels = {run: ""} if run != "trained" else {"trained": "trained", "plain": ""}
    if subject not in labels or reference not in (*labels, "one draw") or (run, subject) == ("trained", "plain"):
        return None
    other = labels[subject if reference == "one draw" else reference]
    return f"{SYSTEMS[labels[subject], k]} - {SYSTEMS[other, reference_k]}"


@pytest.mark.parametrize("seed", range(3))
def test_the_same_question_has_the_same_word_or_the_cell_says_what_the_report_says(make_run, tmp_path, seed):
    named = runs(make_run, tmp_path, seed)
    found = build_comparison(read_entries(named))
    n_alike = 0
    for each in named:
        report = {(d.measure, d.pair, d.side): d for d in build_report(each.recipe, None).differences}
        for test in (*found.tests, *found.baselines):
            name = asked_of(test.system, test.k, test.reference, test.reference_k, each.label)
            if theirs := report.get((test.measure, name, test.side)):
                assert (theirs.value, theirs.p_value, theirs.n_sets) == (test.value, test.p_value, test.n_sets)
                assert (test.own_report or test.verdict) == theirs.verdict
                n_alike += 1
    # by each side and by both: what reranking adds to two entries that are not trained, as an entry and as what a reward must
    # beat; and what training gives at one draw, at the best of three, and with what reranking adds
    assert n_alike == 3 * (2 * 2 + 3)


def test_what_the_report_says_stands_beside_the_verdict(make_run, tmp_path):
    found = build_comparison(read_entries(runs(make_run, tmp_path, 0)))
    test = found.tests[0].model_copy(update={"verdict": "no clear difference", "own_report": "higher"})
    shown = markdown.render(page(found.model_copy(update={"tests": (test, *found.tests[1:])})))
    assert "better in the run's own report, which asks less" in shown


def test_pages_of_one_run_and_of_many_do_differ(make_run, tmp_path):
    """Else nothing would be tried above."""
    differing = [
        test
        for seed in range(3)
        for test in build_comparison(read_entries(runs(make_run, tmp_path, seed))).tests
        if test.own_report
    ]
    assert differing
