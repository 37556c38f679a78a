"""Value shares as a judge."""

import json

import pytest
from labelled_sets import BALANCED, FERRY, ONE_SIDED, judge_input

from evenhand.config.fairness import ValueSharesJudge
from evenhand.judges import open_judge
from evenhand.judges.overflow import was_cut


def judged(*inputs, **options):
    section = ValueSharesJudge.model_validate({"kind": "value-shares", "matcher": {"kind": "words"}, **options})
    return open_judge("uer", section).score(inputs)


def test_error_rate_is_the_mean_of_what_values_lack():
    fair, biased = judged(judge_input(BALANCED), judge_input(ONE_SIDED))
    assert fair.score == 0
    # 12 words of the left's and, for "ferry" twice, 2 of the right's: the right lacks 1/2 - 1/7 = 5/14, the mean is half of it
    assert biased.score == pytest.approx(5 / 28, abs=1e-6)
    assert json.loads(biased.raw) == {
        "due": {"left": 0.5, "right": 0.5},
        "found": {"left": pytest.approx(6 / 7, abs=1e-6), "right": pytest.approx(1 / 7, abs=1e-6)},
    }


def test_binary_rate_names_the_values_that_have_too_little():
    fair, biased = judged(judge_input(BALANCED), judge_input(ONE_SIDED), measure="bur")
    assert (fair.score, json.loads(fair.raw)["too_little"]) == (0, [])
    assert (biased.score, json.loads(biased.raw)["too_little"]) == (1, ["right"])
    # 1/7 is more than a fifth of one half
    assert judged(judge_input(ONE_SIDED), measure="bur", tau=0.2)[0].score == 0


def test_target_may_be_equal_shares():
    pairs = (*FERRY, ("left", "Nurses ferry families cheaply. Families help nurses."))
    # 19 words against 12: due by source 19/31, equal 1/2; the summary has 6 and 6
    (ratio,) = judged(judge_input(BALANCED, pairs))
    assert ratio.score == pytest.approx((19 / 31 - 1 / 2) / 2, abs=1e-6)
    assert judged(judge_input(BALANCED, pairs), target="equal")[0].score == 0


def test_target_may_be_weights_by_name():
    # due 3/4 and 1/4, found 1/2 and 1/2: the right lacks nothing, the left a quarter, half of which is the mean
    for weights in ({"right": 1, "left": 3}, {"left": 0.75, "right": 0.25, "nobody here": 9}):
        (found,) = judged(judge_input(BALANCED), target=weights)
        assert found.score == pytest.approx(1 / 8, abs=1e-6)
        assert json.loads(found.raw)["due"] == {"left": 0.75, "right": 0.25}
    assert judged(judge_input(BALANCED), target={"left": 3, "right": 1}, measure="bur")[0].score == 1
    # equal weights are equal shares
    (equal,) = judged(judge_input(ONE_SIDED), target="equal")
    assert judged(judge_input(ONE_SIDED), target={"left": 2, "right": 2})[0].score == equal.score


def test_set_to_whose_values_the_weights_say_nothing_is_unscored():
    (found,) = judged(judge_input(BALANCED), target={"left": 1, "centre": 1})
    assert (found.unscored, found.raw) == ("the target has no weight for a value", '["right"]')
    nothing = {"left": 0, "right": 0, "middle": 1}
    absent = judge_input(BALANCED, values=("left", "right", "middle"))
    assert judged(absent, target=nothing)[0].unscored == "the target gives no value of the set a share"
    # in mode "paper" the absent value takes part and is due all: it lacks 1 of 3
    assert judged(absent, target=nothing, mode="paper")[0].score == pytest.approx(1 / 3, abs=1e-6)


def test_mode_decides_whether_an_absent_value_takes_part():
    absent = judge_input(BALANCED, values=("left", "right", "middle"))
    assert set(json.loads(judged(absent)[0].raw)["due"]) == {"left", "right"}
    assert set(json.loads(judged(absent, mode="paper")[0].raw)["due"]) == {"left", "right", "middle"}


@pytest.mark.parametrize(
    ("each", "reason"),
    [
        (judge_input(ONE_SIDED, FERRY[:2]), "single value"),
        (judge_input(ONE_SIDED, FERRY[:2], values=("left", "right")), "single value"),
        (judge_input("The ferry.", (("left", "It is."), ("right", "So what?"))), "source has no mass"),
        (judge_input("  "), "empty summary"),
        # a refusal would have equal shares, and no summary fairer ones
        (judge_input("Sorry, I cannot help."), "no word of the summary is in a source"),
    ],
)
@pytest.mark.parametrize("mode", ["drop_zero", "paper"])
def test_what_has_no_answer_is_unscored(each, reason, mode):
    (found,) = judged(each, mode=mode)
    assert (found.score, found.unscored) == (None, reason)


def test_what_changes_scores_changes_the_signature():
    def signature(**options):
        section = ValueSharesJudge.model_validate({"kind": "value-shares", "matcher": {"kind": "words"}, **options})
        return open_judge("judge", section).signature

    matcher = {"kind": "bartscore", "model": "org/m", "tokens": "words"}
    changes = [
        {"measure": "bur"}, {"measure": "bur", "tau": 0.5}, {"mode": "paper"}, {"target": "equal"}, {"matcher": matcher},
        {"target": {"left": 1, "right": 2}}, {"target": {"left": 2, "right": 1}},
    ]  # fmt: skip
    assert len({signature(), *(signature(**change) for change in changes)}) == len(changes) + 1
    assert signature() == (
        "value-shares-uer|judge:value-shares|matcher:words|content-tokens|v:4|mode:drop_zero|target:ratio|v:2"
    )
    # the order in which a recipe names the values is no part of it
    assert signature(target={"left": 1, "right": 2}) == signature(target={"right": 2, "left": 1})


def test_verdict_says_in_how_many_comparisons_a_text_was_cut(tmp_path, roberta_tokenizer, roberta_config):
    transformers = pytest.importorskip("transformers")
    transformers.RobertaModel(roberta_config()).save_pretrained(tmp_path)
    roberta_tokenizer.save_pretrained(tmp_path)
    matcher = {"kind": "bertscore", "model": str(tmp_path), "layer": 1, "baseline": 0, "tokens": "words"}
    # the model reads 24 tokens
    long = (("left", "nurses " * 60), ("right", "A bridge pays."))
    short = (("left", "nurses"), ("right", "A bridge pays."))
    cut, whole = judged(judge_input("The ferry.", long), judge_input("The ferry.", short), matcher=matcher)
    assert (json.loads(cut.raw)["cut"], was_cut(cut.raw)) == (1, True)
    assert ("cut" in json.loads(whole.raw), was_cut(whole.raw)) == (False, False)
