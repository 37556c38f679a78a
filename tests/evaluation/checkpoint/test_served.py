from typing import Any

import pytest

from evenhand.evaluation.checkpoint.served import comparable_pairs, compared, engine_sentence, inactive_because, verdict
from evenhand.runfolder.phases import open_phase


@pytest.fixture
def made(make_run: Any) -> Any:
    """Makes the row of a candidate from the sums of engine, untrained and trained policy."""
    run = make_run(rounds=0)
    run.write("evaluation/base", {"a/left": [(0.1, 0.2)]}, candidate=lambda r, i: {"token_ids": (1, 2), "logps": -9.0})
    ((_, candidate),) = comparable_pairs(open_phase(run.recipe, "evaluation/base"))
    return lambda engine, untrained, trained: compared(
        candidate.model_copy(update={"logps": engine}), untrained, trained
    )


@pytest.mark.parametrize(
    ("sums", "nearer", "clearly"),
    [
        ((-10.0, -14.0, -10.5), "trained", True),  # gaps 4 and 0.5
        ((-10.0, -10.5, -14.0), "untrained", True),
        ((-10.0, -12.0, -11.0), "trained", False),  # gaps 2 and 1: less than threefold
        ((-10.0, -9.0, -12.0), "untrained", False),
        ((-10.0, -10.0, -10.0), None, False),  # the adapter changes nothing
        ((-10.0, -10.0, -10.1), "untrained", True),
    ],
)
def test_nearer_policy_by_hand(made: Any, sums: tuple[float, ...], nearer: str | None, clearly: bool):
    found = made(*sums)
    assert (found["nearer"], found["clearly"], found["engine"]) == (nearer, clearly, -10.0)


TRAINED, UNTRAINED, UNSURE = (-10.0, -14.0, -10.5), (-10.0, -10.5, -14.0), (-10.0, -9.0, -12.0)


@pytest.mark.parametrize(
    ("sums", "served"),
    [
        ([TRAINED] * 4, "trained"),
        ([TRAINED, TRAINED, TRAINED, UNTRAINED], "trained"),
        ([TRAINED, TRAINED, UNTRAINED, UNTRAINED], "unclear"),  # no majority
        ([UNTRAINED, UNTRAINED, UNTRAINED, TRAINED], "untrained"),
        ([UNTRAINED, UNTRAINED, UNSURE, UNSURE], "unclear"),  # rounding must not convict
        ([UNTRAINED], "untrained"),
        ([], None),
    ],
)
def test_majority_decides(made: Any, sums: list[tuple[float, ...]], served: str | None):
    assert verdict([made(*each) for each in sums])["served"] == served


def test_candidates_without_tokens_or_log_probabilities_are_not_compared(make_run: Any):
    run = make_run(rounds=0)
    told = {"a/left": {"token_ids": (1,)}, "b/left": {"logps": -3.0}}
    run.write("evaluation/base", {r: [(0.1, 0.2)] for r in told}, candidate=lambda request, index: dict(told[request]))
    assert comparable_pairs(open_phase(run.recipe, "evaluation/base")) == []


def test_four_requests_are_compared_by_their_first_comparable_candidate(make_run: Any):
    run = make_run(rounds=0)
    told = [{}, {"token_ids": (1,), "logps": -1.0}, {"token_ids": (2,), "logps": -2.0}]
    run.write("evaluation/base", run.UNTRAINED, candidate=lambda request, index: dict(told[index]))
    pairs = comparable_pairs(open_phase(run.recipe, "evaluation/base"))
    assert [(request.id, candidate.index) for request, candidate in pairs] == [
        ("a/left", 1), ("b/left", 1), ("c/left", 1), ("d/left", 1),
    ]  # fmt: skip


def test_adapter_that_was_not_served_is_inactive_though_it_moves_probes(made: Any):
    engine = verdict([made(*UNTRAINED), made(*UNTRAINED)])
    probed = {"active": False, "probes": [{"difference": 2.0}], "engine": engine}
    assert "reported the untrained model's log-probabilities of them (2 of 2 candidates)" in inactive_because(probed)
    assert engine_sentence(probed).startswith("The engine did not serve it")
