from typing import Any

import pytest

from evenhand.evaluation.report.systems.examples import choose_examples
from evenhand.evaluation.report.systems.systems import read_policies, systems_of

ABOUT = ("DPO - zero-shot", "overlap")


def chosen(run: Any, paired: list[float | None], count: int) -> list[str]:
    found = choose_examples(systems_of(read_policies(run.recipe)), paired, ABOUT, count)
    return [example.request_id for example in found.examples] if found else []


# a/left a/right b/left b/right c/left c/right d/left d/right
PAIRED = [0.3, -0.2, None, 0.0, 0.1, 0.5, -0.1, 0.2]
# in order: a/right, d/left, b/right, c/left, d/right, a/left, c/right


@pytest.mark.parametrize(
    ("count", "expected"),
    [
        (1, ["c/right"]),
        (2, ["a/right", "c/right"]),
        (3, ["a/right", "c/left", "c/right"]),
        (99, ["a/right", "d/left", "b/right", "c/left", "d/right", "a/left", "c/right"]),
        (0, []),
    ],
)
def test_examples_go_from_the_largest_loss_to_the_largest_gain(small_run: Any, count: int, expected: list[str]):
    assert chosen(small_run, PAIRED, count) == expected


def test_no_difference_no_examples(small_run: Any):
    assert chosen(small_run, [None] * 8, 3) == []


def test_example_shows_first_draw_and_best_with_their_scores(small_run: Any):
    found = choose_examples(systems_of(read_policies(small_run.recipe)), [1.0, *[None] * 7], ABOUT, 1)
    (example,) = found.examples
    assert [(s.system, s.text) for s in example.summaries] == [
        ("zero-shot", "The Left says 0."),
        ("rerank", "The Left says 1."),  # fit 0.3 is the highest of a/left
        ("DPO", "The Left says 0."),
        ("DPO+RR", "The Left says 1."),
    ]
    assert example.summaries[1].scores == {"fit": 0.3, "overlap": 0.5}
    assert example.documents == (("left", "The left of a."), ("right", "The right of a."))


def test_request_without_a_best_candidate_shows_its_draw_alone(make_run: Any):
    run = make_run(rounds=0)
    run.write("evaluation/base", {"a/left": [(None, 0.2), (None, 0.4)]})
    (example,) = choose_examples(systems_of(read_policies(run.recipe)), [0.0], ABOUT, 1).examples
    assert [s.system for s in example.summaries] == ["zero-shot"]
