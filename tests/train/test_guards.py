"""Trainings that went wrong in one way each, and one that did not."""

from typing import Any

import pytest

from evenhand.train.guards import guard

STEPS = 12


def trained(
    *, chosen: float = 0.0, margin: float = 0.6, accuracy: float = 0.8, tokens: tuple[float, float] = (50.0, 48.0)
) -> dict[str, Any]:
    """A training whose numbers went evenly from nothing to these; the chosen summaries had -100 nats."""
    rows: list[dict[str, float]] = []
    for step in range(1, STEPS + 1):
        done = step / STEPS
        rows.append({
            "step": step,
            "loss": 0.69 - 0.1 * done,
            "rewards/chosen": 0.1 * chosen * done,
            "logps/chosen": -100 + chosen * done,
            "rewards/margins": margin * done,
            "rewards/accuracies": 0.5 + (accuracy - 0.5) * done,
        })  # fmt: skip
    mean_tokens = dict(zip(("chosen", "rejected"), tokens, strict=True))
    return {"beta": 0.1, "log_history": rows, "counts": {"mean_tokens": mean_tokens}}


def test_sound_training_is_not_warned_of() -> None:
    # chosen summaries lose 5 nats of 100
    assert guard(trained(chosen=-5)) == []


@pytest.mark.parametrize(
    ("record", "said"),
    [
        # the last quarter are steps 10 to 12, 11/12 of the way on average: 36.7 nats of 100
        (trained(chosen=-40), "fell from -100.0 to -136.7 nats (mean of the last quarter, by 37%"),
        (trained(tokens=(60.0, 40.0)), "60.0 tokens on average and rejected ones 40.0, a ratio of 1.500"),
        (trained(tokens=(40.0, 60.0)), "a ratio of 0.667"),
        # a ratio just beyond the bound is not written like it
        (trained(tokens=(37.2, 44.9)), "a ratio of 0.829 (above 1.200 or below 0.833 is far)"),
        # 2/12 and 11/12 of 1.2; 0.5 and 11/12 of 0.02
        (trained(margin=1.2, accuracy=0.52), "grew from 0.20 to 1.10 (first and last quarter), but only 52% of"),
    ],
)
def test_each_way_of_going_wrong_has_its_warning_with_the_numbers(record: dict[str, Any], said: str) -> None:
    (warning,) = guard(record)
    assert said in warning


@pytest.mark.parametrize(
    "record",
    [
        {},
        trained(chosen=-40) | {"beta": None},
        # too few steps to speak of a trend
        {"log_history": trained(chosen=-40, margin=2.0, accuracy=0.5)["log_history"][:7], "beta": 0.1},
        # margins that do not grow need no accuracy
        trained(margin=0.05, accuracy=0.5),
    ],
)
def test_what_the_log_does_not_say_is_not_warned_of(record: dict[str, Any]) -> None:
    assert guard(record) == []
