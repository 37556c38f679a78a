from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.errors import DataError
from evenhand.evaluation.report.systems.ranked import Ranked, RankingBuilder, chances_of_best
from evenhand.evaluation.report.systems.systems import (
    WRONG_SIDE,
    issues_of,
    read_policies,
    systems_of,
    wrong_side_judges,
)
from evenhand.records import Candidate, CandidateGroup, Message, Sampling, ScoredCandidate
from evenhand.runfolder.phases import JUDGEMENTS
from evenhand.storage import read_jsonl, write_jsonl


def group_of(rows: list[tuple[float | None, float | None]], best: int | None = None) -> CandidateGroup:
    """A group of (reward, score) rows; the best is the first of highest reward unless named."""
    scored = []
    for index, (reward, score) in enumerate(rows):
        candidate = Candidate(
            id=f"c{index}", request_id="r", text="x", raw_text="x", contract_ok=True, method="zero-shot", plan="p",
            sampling=Sampling(), index=index, seed=0, model="m", prompt_digest="0", n_prompt_tokens=1, n_tokens=1,
            finish_reason="stop",
        )  # fmt: skip
        scored.append(ScoredCandidate(candidate=candidate, scores={"judge": score}, reward=reward))
    rewarded = [(reward, -index) for index, (reward, _) in enumerate(rows) if reward is not None]
    if best is None and rewarded:
        best = -max(rewarded)[1]
    return CandidateGroup(
        request_id="r",
        set_id="s",
        side="left",
        prompt=(Message(role="user", content="?"),),
        candidates=tuple(scored),
        best_id=None if best is None else f"c{best}",
    )


def expected_best(group: CandidateGroup, n: int) -> float | None:
    ranking = RankingBuilder()
    ranking.add(group, {each.candidate.id: each.scores for each in group.candidates})
    ranked = ranking.ranked()
    (value,) = ranked.expected_best(ranked.columns["judge"], n)
    # the mean over the draws that stand beside it
    (drawn,) = ranked.best_draws(ranked.columns["judge"], n)
    assert value == (pytest.approx(sum(v * chance for v, chance in drawn)) if drawn else None)
    return value


def test_chances_of_the_best_of_two_in_three_by_hand():
    # of the 3 pairs the best candidate is in 2 and the second wins the third
    assert chances_of_best(3, 2) == pytest.approx([2 / 3, 1 / 3, 0])


@given(st.integers(1, 20).flatmap(lambda k: st.tuples(st.just(k), st.integers(1, k))))
def test_chances_sum_to_one(k_and_n):
    assert sum(chances_of_best(*k_and_n)) == pytest.approx(1)


def test_one_draw_is_the_mean_and_all_draws_are_the_best():
    group = group_of([(0.1, 0.2), (0.9, 0.5), (0.4, 0.8)])
    assert expected_best(group, 1) == pytest.approx(0.5)  # (0.2 + 0.5 + 0.8) / 3
    assert expected_best(group, 3) == pytest.approx(0.5)  # the one of reward 0.9
    assert expected_best(group, 2) == pytest.approx((2 * 0.5 + 0.8) / 3)


@given(
    rows=st.lists(st.tuples(st.integers(0, 10**6), st.floats(0, 1)), min_size=1, max_size=7, unique_by=lambda r: r[0]),
    data=st.data(),
)
def test_expected_best_is_the_mean_over_all_subsets(rows, data):
    n = data.draw(st.integers(1, len(rows)))
    group = group_of([(float(reward), value) for reward, value in rows])
    best = [max(subset)[1] for subset in combinations(rows, n)]
    assert expected_best(group, n) == pytest.approx(sum(best) / len(best))


def test_more_draws_than_candidates_give_the_best_of_those_there_are():
    assert expected_best(group_of([(0.1, 0.2), (0.9, 0.5)]), 9) == pytest.approx(0.5)


def test_equal_rewards_follow_the_choice_of_reranking():
    assert expected_best(group_of([(0.5, 0.1), (0.5, 0.7)], best=1), 2) == pytest.approx(0.7)


def test_unscored_candidates_are_left_out_of_one_draw():
    assert expected_best(group_of([(0.1, 0.2), (0.9, None), (0.4, 0.8)]), 1) == pytest.approx(0.5)


def test_an_unscored_best_candidate_gives_no_score():
    assert expected_best(group_of([(0.1, 0.2), (0.9, None)]), 2) is None


def test_candidates_without_a_reward_are_drawn_but_never_chosen():
    group = group_of([(None, 0.9), (0.1, 0.3)])
    assert expected_best(group, 1) == pytest.approx(0.6)
    assert expected_best(group, 2) == pytest.approx(0.3)
    assert expected_best(group_of([(None, 0.9), (None, 0.3)]), 2) is None


def test_values_of_the_four_systems_by_hand(small_run: Any):
    zero_shot, rerank, dpo, dpo_rr = systems_of(read_policies(small_run.recipe))
    assert zero_shot.values("overlap") == pytest.approx([0.3, 0.2, 0.4, 0.3, 0.3, 0.2, 0.6, 0.1])
    assert rerank.values("overlap") == pytest.approx([0.5, 0.2, 0.4, 0.3, 0.7, 0.5, 0.6, 0.1])
    assert dpo.values("overlap") == pytest.approx([0.4, 0.3, 0.5, 0.4, 0.4, 0.3, 0.7, 0.2])
    assert dpo_rr.values("overlap") == pytest.approx([0.6, 0.3, 0.5, 0.4, 0.8, 0.6, 0.7, 0.2])


def test_request_without_candidates_has_no_value(make_run: Any):
    run = make_run(rounds=0)
    run.write("evaluation/base", {"a/left": [(0.1, 0.4)]}, without=["a/right"])
    zero_shot, _ = systems_of(read_policies(run.recipe))
    assert zero_shot.values("overlap") == [0.4, None]


def test_run_without_rounds_has_one_policy(make_run: Any):
    run = make_run(rounds=0)
    run.write("evaluation/base", run.UNTRAINED)
    assert [output.policy for output in read_policies(run.recipe)] == ["untrained"]


def test_unfinished_evaluation_says_what_is_missing_and_how_to_make_it(make_run: Any):
    with pytest.raises(DataError, match=r"requests\.jsonl, judgements\.jsonl, groups\.jsonl; run 'evenhand loop'"):
        read_policies(make_run(rounds=0).recipe)


def test_policies_on_different_requests_are_refused(small_run: Any):
    small_run.write("evaluation/round-00", {"a/left": [(0.1, 0.4)]})
    with pytest.raises(DataError, match="different requests"):
        read_policies(small_run.recipe)


def test_a_judge_that_changed_between_the_policies_is_refused(small_run: Any):
    path = small_run.recipe.output / "evaluation" / "round-00" / JUDGEMENTS
    changed = [j.model_copy(update={"signature": "other"}) for j in read(path)]
    write_jsonl(path, changed)
    with pytest.raises(DataError, match="'other' in evaluation/round-00; judge both phases"):
        read_policies(small_run.recipe)


def test_a_judge_that_changed_within_a_phase_is_refused(small_run: Any):
    path = small_run.recipe.output / "evaluation" / "base" / JUDGEMENTS
    first, *rest = read(path)
    write_jsonl(path, [first.model_copy(update={"signature": "other"}), *rest])
    with pytest.raises(DataError, match="cannot be averaged"):
        read_policies(small_run.recipe)


TWINS = {
    "judges": {
        "fit": {"kind": "alignment"},
        "opposing": {"kind": "alignment", "against": "opposing"},
        "overlap": {"kind": "rouge"},
    },
    "evaluation": {"judges": ["overlap", "opposing"], "resamples": 500},
    "rounds": 0,
}


def test_wrong_side_is_agreeing_more_with_the_other_side(make_run: Any):
    run = make_run(**TWINS)
    # fit, overlap, opposing: on the wrong side, on the right one, equal (not wrong), cannot be told
    rows = [(0.2, 0.1, 0.3), (0.4, 0.1, 0.3), (0.3, 0.1, 0.3), (0.5, 0.1, None)]
    run.write("evaluation/base", {"a/left": rows})
    (output,) = read_policies(run.recipe)
    wrong = dict(zip(output.ranked.index[0], output.trait(WRONG_SIDE)[0], strict=True))
    assert [wrong[draw] for draw in range(3)] == [1.0, 0.0, 0.0]
    assert np.isnan(wrong[3])


def test_wrong_side_needs_two_judges_that_differ_only_in_what_they_compare_with(make_run: Any):
    assert wrong_side_judges(make_run(**TWINS).recipe) == ("fit", "opposing")
    other = {**TWINS["judges"], "opposing": {"kind": "alignment", "against": "opposing", "direction": "recall"}}
    assert wrong_side_judges(make_run(**{**TWINS, "judges": other}).recipe) is None


def test_wrong_side_is_absent_when_the_twin_is_not_run(make_run: Any):
    assert wrong_side_judges(make_run(**{**TWINS, "evaluation": {"judges": ["overlap"]}}).recipe) is None


def test_issues_come_by_how_common_they_are(make_run: Any):
    run = make_run(rounds=0)
    issues = [("multi_sentence",), ("missing_opener", "multi_sentence"), ("empty",)]
    run.write(
        "evaluation/base",
        {"a/left": [(0.1, 0.1)] * 3},
        candidate=lambda request, index: {"issues": issues[index], "contract_ok": False},
    )
    outputs = read_policies(run.recipe)
    assert issues_of(outputs) == ["issue: multi_sentence", "issue: empty", "issue: missing_opener"]
    # one of the three candidates
    zero_shot, _ = systems_of(outputs)
    assert zero_shot.values("issue: empty") == [pytest.approx(1 / 3)]
    assert zero_shot.values("issue: other") == [0]


def read(path):
    from evenhand.records import Judgement

    return read_jsonl(path, Judgement)


def test_requests_without_any_candidate_have_no_first_one():
    nothing = np.zeros((2, 0))
    ranked = Ranked(np.zeros(2, dtype=int), nothing, nothing, {}, {})
    assert ranked.first_drawn(nothing, nothing.astype(bool)) == [None, None]
