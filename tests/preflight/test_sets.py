"""What is said of too few test sets before a run is what its report says after it."""

from itertools import product
from types import SimpleNamespace

import pytest

from evenhand.config import Recipe
from evenhand.evaluation.report.checkpoint.evidence import evidence_of
from evenhand.evaluation.report.checkpoint.findings import RERANKING, TRAINING
from evenhand.evaluation.report.systems.compare import Comparer, bootstrap_of
from evenhand.evaluation.report.systems.roles import deciding, judge_notes
from evenhand.evaluation.report.systems.systems import RequestOutline
from evenhand.preflight import warn_of_report
from evenhand.preflight.sets import few_sets
from evenhand.resampling import sets_needed, too_few
from evenhand.runfolder.phases import BASE, open_phase

TWO = ("left", "right")
NAMES = ("own", "a", "b", "c", "d")
SYSTEMS = {"zero-shot": 0.0, "rerank": 0.5, "DPO": 1.0, "DPO+RR": 2.0}


def recipe(report, reward=("own",), *, rounds=1, level=0.95, n=3):
    judges = {
        name: {"kind": "rouge", "type": kind, "measure": measure}
        for name, (kind, measure) in zip(
            NAMES, product(("rouge1", "rouge2"), ("recall", "precision", "mean")), strict=False
        )
        if name in {*report, *reward}
    }
    return Recipe.model_validate({
        "name": "t", "output": "run", "model": {"name": "none"}, "rounds": rounds, "judges": judges,
        "generate": {"backend": "scripted", "plans": {"plain": {"candidates": n}}}, "reward": {"judges": list(reward)},
        "evaluation": {"judges": list(report), "level": level, "resamples": 100},
    })  # fmt: skip


def requests(n, sides):
    """Of the sets, as much as numbers need and as much as preflight looks at."""
    pairs = [(f"set {k}", side) for k in range(n) for side in sides]
    return (
        [RequestOutline(f"{name}/{side}", name, side, (None, None), side) for name, side in pairs],
        [SimpleNamespace(document_set=SimpleNamespace(id=name), side=side) for name, side in pairs],
    )


def reported(given, n, sides):
    """Evidence of a report in which every system is better than the one before, in every set, by every judge."""
    asked, _ = requests(n, sides)
    candidates = open_phase(given, BASE).n_candidates
    systems = {
        name: value
        for name, value in SYSTEMS.items()
        if (given.rounds or "DPO" not in name) and (candidates > 1 or name in ("zero-shot", "DPO"))
    }
    notes = judge_notes(given, {})
    values = {note.name: {name: [value] * len(asked) for name, value in systems.items()} for note in notes}
    return evidence_of(Comparer(asked, bootstrap_of(given)), notes, values, candidates)


KINDS = {
    "as shipped": {"report": ("a", "b", "c", "d"), "reward": ("own",)},
    "one judge": {"report": ("a",)},
    "judge of the reward alone": {"report": ("own",), "rounds": 0},
    "some of the reward": {"report": ("own", "a"), "rounds": 0},
    "at 99 %": {"report": ("a", "b"), "level": 0.99},
}


@pytest.mark.parametrize(
    ("kind", "sides", "most"),
    [("as shipped", TWO, 30), *((kind, sides, 10) for kind in KINDS for sides in (TWO, ("all",)))],
)
def test_it_is_what_the_report_says(kind, sides, most):
    given = recipe(**KINDS[kind])
    claim = TRAINING if given.rounds else RERANKING
    for n in range(1, most + 1):
        evidence, said = reported(given, n, sides), few_sets(given, requests(n, sides)[1])
        judges = {judge.name for judge in deciding(evidence.judges)}
        headline = [d for d in evidence.differences if (d.pair, d.side) == (claim, None) and d.measure in judges]
        assert headline
        few = too_few(n, given.evaluation.level)
        assert bool(few) == bool(evidence.few_sets)
        assert said.startswith(few)
        # word for word what the report says where enough sets are too few once its tests are corrected
        assert said == evidence.few_together
        if few:
            assert {d.verdict for d in evidence.differences} == {"no clear difference"}
        if not said:
            assert {d.verdict for d in headline} == {"higher"}


def test_the_number_that_is_said_is_enough_for_one_difference():
    # four judges, and half of the level: 2 ** (1 - n) is at most 0.05 / 8 from nine sets on
    given, sides = recipe(("a", "b", "c", "d")), TWO
    assert "from 9 on" in few_sets(given, requests(6, sides)[1])
    assert few_sets(given, requests(8, sides)[1])
    assert few_sets(given, requests(9, sides)[1]) == ""
    assert few_sets(given, []) == ""


def test_nothing_is_said_where_nothing_is_compared():
    given = recipe(("a",), rounds=0, n=1)
    assert few_sets(given, requests(2, TWO)[1]) == ""


@pytest.mark.parametrize(("level", "needed"), [(0.5, 5), (0.9, 5), (0.95, 6), (0.99, 8), (0.999, 11)])
def test_sets_that_a_level_needs(level, needed):
    # 2 ** (1 - n) is at most 1 - level
    assert sets_needed(1 - level) == needed
    assert too_few(needed, level) == ""
    assert f"take {needed} or more" in too_few(needed - 1, level)


@pytest.mark.parametrize(("report", "reward", "said"), [
    (("a",), ("own",), []),
    (("own",), ("own",), ["Judge 'own' is a judge of the report and of the reward"]),
    (("a", "b"), ("own", "b"), ["Judge 'b' is a judge of the report and of the reward"]),
])  # fmt: skip
def test_it_is_said_before_the_run_that_judges_of_reward_and_report_are_one(report, reward, said, caplog):
    warn_of_report(recipe(report, reward), [])
    found = [each.getMessage() for each in caplog.records if each.name.startswith("evenhand")]
    assert [each.startswith(f"key 'evaluation.judges': {text}") for each, text in zip(found, said, strict=True)] == [
        True
    ] * len(said)


def test_one_judge_under_two_names_is_told_before_the_run(caplog):
    made = recipe(("a",), ("own",))
    twins = made.model_copy(update={"judges": {"own": made.judges["own"], "a": made.judges["own"]}})
    warn_of_report(twins, [])
    assert any("are the same judge under another name" in each.getMessage() for each in caplog.records)
