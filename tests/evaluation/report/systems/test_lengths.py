import numpy as np
import pytest

from evenhand.evaluation.report.systems.compare import Comparer
from evenhand.evaluation.report.systems.contents import Difference, JudgeNote
from evenhand.evaluation.report.systems.lengths import Lengths, is_by_length, share_by_length
from evenhand.evaluation.report.systems.ranked import Ranked
from evenhand.evaluation.report.systems.systems import TRAIT, WORDS, PolicyOutput, RequestOutline, System
from evenhand.evaluation.report.systems.words import gone_with_length, slope_words
from evenhand.number import Number
from evenhand.resampling import Bootstrap

JUDGE = JudgeNote(name="judge", signature="s", role="report", better="higher")


def output(name: str, words: list[list[float]], scores: list[list[float]]) -> PolicyOutput:
    """Candidates of requests of one set each, best first."""
    w, s = np.array(words, dtype=float), np.array(scores, dtype=float)
    place = np.tile(np.arange(float(w.shape[1])), (len(w), 1))
    ranked = Ranked(np.full(len(w), w.shape[1]), -place, place, {"judge": s, TRAIT + WORDS: w}, {})
    requests = tuple(RequestOutline(str(k), str(k), "all", (None, None), "") for k in range(len(w)))
    return PolicyOutput(name, None, requests, ranked, None, name, {})  # type: ignore[arg-type]


def lengths(*outputs: PolicyOutput) -> Lengths:
    return Lengths(Comparer(outputs[0].requests, Bootstrap(resamples=100)), outputs)


def test_a_judge_that_sees_the_logarithm_of_words_alone_has_no_difference_at_equal_length():
    # score = ln words: the difference is ln 2, and all of it goes with length
    one, other = [[10, 20, 40], [8, 16, 64]] * 3, [[20, 40, 80], [16, 32, 128]] * 3
    outputs = output("a", one, np.log(one)), output("b", other, np.log(other))
    found = lengths(*outputs).parts("judge", System("b", outputs[1], 1), System("a", outputs[0], 1), None)
    assert (found["at_equal_length"].value, found["by_length"].value) == (
        pytest.approx(0, abs=1e-9),
        pytest.approx(np.log(2)),
    )
    slope = lengths(*outputs).slope("judge")
    assert (slope.value, slope.low, slope.high) == (pytest.approx(np.log(1.1)),) * 3


def test_a_gain_at_the_same_lengths_is_kept():
    words = [[10, 20, 40], [8, 16, 64]] * 3
    scores = [[0.1, 0.3, 0.2], [0.5, 0.2, 0.4]] * 3
    outputs = output("a", words, scores), output("b", words, [[score + 0.25 for score in row] for row in scores])
    found = lengths(*outputs).parts("judge", System("b", outputs[1], 1), System("a", outputs[0], 1), None)
    assert (found["at_equal_length"].value, found["by_length"].value) == (pytest.approx(0.25), pytest.approx(0))


@pytest.mark.parametrize("words", [[[10]] * 6, [[10, 10]] * 6])
def test_nothing_is_said_of_candidates_that_do_not_differ_in_length(words: list[list[float]]):
    outputs = output("a", words, words), output("b", words, words)
    found = lengths(*outputs)
    assert found.slope("judge") is None
    assert found.parts("judge", System("b", outputs[1], 1), System("a", outputs[0], 1), None) == {}
    assert "unknown" in slope_words([], "judge")


def test_four_sets_have_a_number_and_no_interval():
    one, other = [[10, 20, 40]] * 4, [[20, 41, 80]] * 4
    outputs = output("a", one, np.log(one)), output("b", other, np.log(other))
    found = lengths(*outputs).parts("judge", System("b", outputs[1], 1), System("a", outputs[0], 1), None)
    assert (
        found["at_equal_length"].value is not None
        and found["at_equal_length"].low is None
        and found["by_length"].low is None
    )


@pytest.mark.parametrize(("n_sets", "is_known"), [(5, False), (6, True)])
def test_five_sets_that_agree_have_no_interval_as_elsewhere(n_sets: int, is_known: bool):
    # equal signs of five sets have p = 2 / 2**5, which is above 5 %
    one, other = [[10, 20, 40]] * n_sets, [[20, 40, 80]] * n_sets
    outputs = output("a", one, np.log(one)), output("b", other, np.log(other))
    found = lengths(*outputs).parts("judge", System("b", outputs[1], 1), System("a", outputs[0], 1), None)
    assert (found["by_length"].low is not None, found["at_equal_length"].low is not None) == (is_known, is_known)
    assert is_by_length(Difference(**found)) == is_known


def test_summaries_without_a_word_or_a_score_are_left_out():
    words = [[10, 20, 40, 0, 30]] * 6
    scores = [[0.1, 0.2, 0.3, 0.0, np.nan]] * 6
    outputs = output("a", words, scores), output("b", words, [[s + 0.1 for s in row] for row in scores])
    found = lengths(*outputs).parts("judge", System("b", outputs[1], 1), System("a", outputs[0], 1), None)
    assert found["at_equal_length"].value == pytest.approx(0.1)


def test_half_of_a_clear_difference_is_said_to_go_with_length():
    parts = {
        "at_equal_length": Number(value=0.03, low=-0.01, high=0.07),
        "by_length": Number(value=0.07, low=0.03, high=0.11),
    }
    clear = Difference(
        p_value=0.01, adjusted=0.02, n=24, n_sets=12, measure="judge", system="a", reference="b", value=0.1, low=0.05, high=0.15,
        verdict="higher", **parts,
    )  # fmt: skip
    assert share_by_length(clear) == pytest.approx(0.7)
    said = gone_with_length(clear, JUDGE, (33.0, 25.0))
    assert all(each in said for each in ("70 % of the gain", "shorter", "33.0", "25.0", "+0.030"))
    for other in (
        {"verdict": "no clear difference"},
        {"by_length": Number(value=0.04, low=0.03, high=0.11)},
        {"by_length": Number(value=0.07, low=-0.01, high=0.11)},
        {"at_equal_length": None, "by_length": None},
    ):
        assert gone_with_length(clear.model_copy(update=other), JUDGE, (33.0, 25.0)) == ""
