"""The stage that orders candidates: rewards, pairs, what is left out, and judgements that do not belong."""

import json

import pytest
from conftest import make_candidate, make_request

from evenhand.cli.terminal import summary
from evenhand.config import Recipe
from evenhand.errors import DataError
from evenhand.records import BestSummary, Candidate, Judgement, PreferencePair, Thinned
from evenhand.rerank.stage import rerank, rerank_stage
from evenhand.runfolder.files import with_groups
from evenhand.runfolder.phases import BEST, CANDIDATES, GROUPS, JUDGEMENTS, LEDGER, PAIRS, REQUESTS, open_phase
from evenhand.storage import file_digest, read_jsonl, write_jsonl
from evenhand.text.digests import digest

# (text, score by "fit", score by "flow") of each request's candidates; the reward is the mean of both
LEFT = [("The Left a.", 1.0, 2.0), ("The Left b.", 3.0, 4.0), ("The Left c.", None, 5.0)]
RIGHT = [("The Right a.", 2.0, 2.0), ("The Right b.", 2.0, 2.0)]


def recipe(tmp_path, **changes):
    values = {
        "name": "small",
        "output": tmp_path / "run",
        "model": {"name": "none"},
        "generate": {"backend": "scripted", "plans": {"nucleus": {}}},
        "judges": {"fit": {"kind": "rouge"}, "flow": {"kind": "length"}, "other": {"kind": "contract"}},
        "reward": {"judges": ["fit", "flow"]},
        "pairs": {"mode": "all"},
        "evaluation": {"judges": ["other"]},
    }
    return Recipe.model_validate(values | changes)


def judged(phase, documents, left=LEFT, right=RIGHT):
    """The phase with its requests, candidates and judgements on disk."""
    requests = [make_request(documents, side) for side in ("left", "right")]
    candidates, judgements = [], []
    for request, rows in zip(requests, (left, right), strict=True):
        for index, (text, *scores) in enumerate(rows):
            candidate = make_candidate(request, text, index)
            candidates.append(candidate)
            for name, score in zip(phase.judges, (*scores, 1.0), strict=False):
                reason = "unreadable reply" if score is None else None
                judgements.append(
                    Judgement(
                        candidate_id=candidate.id, request_id=request.id, judge=name, signature=name, score=score,
                        unscored=reason,
                    )
                )  # fmt: skip
    write_jsonl(phase.folder / REQUESTS, requests)
    write_jsonl(phase.folder / CANDIDATES, candidates)
    write_jsonl(phase.folder / JUDGEMENTS, judgements)
    return phase


@pytest.fixture
def phase(tmp_path, ferry):
    return judged(open_phase(recipe(tmp_path), "round-00"), ferry)


def test_file_of_groups_holds_ids_scores_and_rewards_and_no_text(phase):
    rerank(phase)
    first = json.loads((phase.folder / GROUPS).read_text().splitlines()[0])
    assert first == {
        "request_id": "ferry/left", "set_id": "ferry", "side": "left", "best_id": "ferry/left#1", "candidates": [
            {"id": "ferry/left#0", "scores": {"fit": 1.0, "flow": 2.0}, "reward": 1.5},
            {"id": "ferry/left#1", "scores": {"fit": 3.0, "flow": 4.0}, "reward": 3.5},
            {"id": "ferry/left#2", "scores": {"fit": None, "flow": 5.0}, "reward": None},
        ],
    }  # fmt: skip


def test_candidates_are_ordered_by_the_mean_of_their_scores(phase):
    rerank(phase)
    left, right = (group for _, group in with_groups(phase.folder))
    # (1 + 2) / 2, (3 + 4) / 2, and no reward where a judge left the candidate unscored
    assert [c.reward for c in left.candidates] == [1.5, 3.5, None]
    assert (left.side, left.best_id) == ("left", "ferry/left#1")
    assert [c.reward for c in right.candidates] == [2.0, 2.0]
    best = read_jsonl(phase.folder / BEST, BestSummary)
    # of equals the first drawn
    assert [each.text for each in best] == ["The Left b.", "The Right a."]
    assert [each.n_candidates for each in best] == [3, 2]


def test_pairs_and_what_they_left_out_are_counted_by_side(phase):
    receipt, reused = rerank(phase)
    (pair,) = read_jsonl(phase.folder / PAIRS, PreferencePair)
    assert not reused
    assert (pair.chosen_id, pair.rejected_id, pair.margin) == ("ferry/left#1", "ferry/left#0", 2.0)
    rows = {(row["stage"], row["side"], row["reason"]): row["count"] for row in receipt.counts["left_out"]}
    assert rows == {
        ("pairs", "left", "unscored"): 2,
        ("pairs", "right", "equal reward"): 1,
        ("rerank", "left", "candidate without a reward"): 1,
    }
    ledger = json.loads((phase.folder / LEDGER).read_text())
    assert ledger["totals"] == {"requests": 2, "candidates": 5, "pairs": 1}
    # one tie among the 1 + 1 comparisons of rewards; no two candidates of a request have one text
    assert (ledger["tie_rate"], ledger["duplicate_rate"]) == (0.5, 0)


def test_evaluation_makes_no_pairs_and_keeps_the_scores_of_the_report(tmp_path, ferry):
    phase = judged(open_phase(recipe(tmp_path), "evaluation/base"), ferry)
    rerank(phase)
    assert not (phase.folder / PAIRS).exists()
    left, _ = (group for _, group in with_groups(phase.folder))
    # "other" is the report's judge: shown, but no part of the reward (1 + 2) / 2
    assert left.candidates[0].scores == {"fit": 1.0, "flow": 2.0, "other": 1.0}
    assert left.candidates[0].reward == 1.5


def test_request_without_a_candidate_has_no_summary_and_is_counted(tmp_path, ferry):
    phase = judged(open_phase(recipe(tmp_path), "round-00"), ferry, right=[])
    receipt, _ = rerank(phase)
    assert read_jsonl(phase.folder / BEST, BestSummary)[1].text is None
    # that it has none was counted where candidates are made
    assert not [row for row in receipt.counts["left_out"] if row["side"] == "right"]


def test_what_is_left_out_is_counted_in_one_unit(tmp_path, ferry):
    unscored = [("The Right a.", None, None), ("The Right b.", None, None)]
    phase = judged(open_phase(recipe(tmp_path), "round-00"), ferry, right=unscored)
    receipt, _ = rerank(phase)
    rows = [(row["stage"], row["what"], row["count"]) for row in receipt.counts["left_out"] if row["side"] == "right"]
    assert rows == [("pairs", "pair", 1), ("rerank", "candidate", 2), ("rerank", "request", 1)]
    # of the left: one candidate, and the two pairs that it is in
    assert "3 candidates, 3 pairs, 1 request left out" in summary("round-00 rerank", receipt, reused=False)


def test_finished_stage_is_reused_and_other_pairs_are_made_anew(phase, tmp_path):
    rerank(phase)
    assert rerank(phase)[1]
    other = open_phase(recipe(tmp_path, pairs={"mode": "all", "least_margin": 2.5}), "round-00")
    assert not rerank(other)[1]
    assert read_jsonl(phase.folder / PAIRS, PreferencePair) == []


def test_judgements_of_other_candidates_are_refused_with_the_stage_to_run(phase, ferry):
    rerank(phase)
    before = (phase.folder / BEST).read_bytes()
    # generated again with another seed, and not judged again
    fresh = [make_candidate(make_request(ferry), f"The Left {i}.", i, id=f"fresh-{i}") for i in range(2)]
    write_jsonl(phase.folder / CANDIDATES, fresh)
    with pytest.raises(DataError, match=r"(?s)judgements\.jsonl: .*evenhand judge RECIPE --phase round-00") as caught:
        rerank(phase)
    assert "2 of 2 candidates have no judgement by 'fit', for example 'fresh-0'" in str(caught.value)
    assert "2 of 2 candidates have no judgement by 'flow'" in str(caught.value)
    assert (phase.folder / BEST).read_bytes() == before


def test_candidate_that_was_added_later_is_refused(phase, ferry):
    right = make_request(ferry, "right")
    with (phase.folder / CANDIDATES).open("a") as file:
        file.write(make_candidate(right, "The Right c.", 2).model_dump_json() + "\n")
    with pytest.raises(DataError, match=r"1 of 6 candidates have no judgement by 'fit', for example 'ferry/right#2'"):
        rerank(phase)


def test_judge_that_was_added_to_the_recipe_later_is_refused(phase, tmp_path):
    more = open_phase(recipe(tmp_path, reward={"judges": ["fit", "flow", "other"]}), "round-00")
    with pytest.raises(DataError, match=r"5 of 5 candidates have no judgement by 'other'") as caught:
        rerank(more)
    assert "'fit'" not in str(caught.value)


@pytest.mark.parametrize(("name", "verb"), [(REQUESTS, "generate"), (CANDIDATES, "generate"), (JUDGEMENTS, "judge")])
def test_absent_file_names_the_stage_that_makes_it(phase, name, verb):
    (phase.folder / name).unlink()
    with pytest.raises(DataError, match=rf"{name}: is not there; .*evenhand {verb} RECIPE --phase round-00"):
        rerank(phase)


def test_same_inputs_give_the_same_bytes(tmp_path, ferry):
    phases = [judged(open_phase(recipe(tmp_path, output=tmp_path / name), "round-00"), ferry) for name in "ab"]
    for phase in phases:
        rerank(phase)
    for name in (GROUPS, BEST, PAIRS, LEDGER):
        first, second = ((phase.folder / name).read_bytes() for phase in phases)
        assert first == second, name


def test_key_of_pairs_without_fairpo_is_made_of_what_they_depend_on(phase):
    inputs = {
        "files": {name: file_digest(phase.folder / name) for name in (REQUESTS, CANDIDATES, JUDGEMENTS)},
        "reward": {"judges": ["fit", "flow"], "combine": "mean", "weights": {}},
        "groups": "ids and scores",
        "pairs": {
            "mode": "all", "k": 10, "least_margin": 0.0, "most_length_ratio": None, "chosen_keeps_contract": True,
        },
    }  # fmt: skip
    assert rerank_stage(phase).key == digest(inputs)
    rerank(phase)
    assert "fairness" not in (phase.folder / PAIRS).read_text()


def test_summary_to_use_is_never_that_of_a_thinned_copy(phase):
    found = read_jsonl(phase.folder / CANDIDATES, Candidate)
    copy = {"thinned": Thinned(value="left", left_out=("x",))}
    # the best of the left side, 3.5 against 1.5
    write_jsonl(
        phase.folder / CANDIDATES,
        [each.model_copy(update=copy) if each.id == "ferry/left#1" else each for each in found],
    )
    rerank(phase)
    best = read_jsonl(phase.folder / BEST, BestSummary)[0]
    assert (best.candidate_id, best.n_candidates) == ("ferry/left#0", 2)


def test_rewards_are_made_among_summaries_of_the_full_set_alone(tmp_path, ferry):
    weights = {"fit": 1.0, "flow": 0.9}
    reward = {"judges": ["fit", "flow"], "combine": "z_mean", "weights": weights}
    # beside a copy's 100, a gap of 1 in "fit" would be next to nothing
    left = [("The Left a.", 0.0, 10.0), ("The Left b.", 1.0, 8.0), ("The Left c.", 100.0, 9.0)]
    phase = judged(open_phase(recipe(tmp_path, reward=reward), "round-00"), ferry, left=left)
    found = read_jsonl(phase.folder / CANDIDATES, Candidate)
    copy = found[2].model_copy(update={"thinned": Thinned(value="left", left_out=("x",))})
    write_jsonl(phase.folder / CANDIDATES, [*found[:2], copy, *found[3:]])
    receipt, _ = rerank(phase)
    # z-scores of two are -1 and 1: (-1 + 0.9) / 1.9 and (1 - 0.9) / 1.9
    _, group = next(with_groups(phase.folder))
    rewards = [each.reward for each in group.candidates]
    assert rewards == [pytest.approx(-0.1 / 1.9), pytest.approx(0.1 / 1.9), None]
    assert read_jsonl(phase.folder / BEST, BestSummary)[0].candidate_id == "ferry/left#1"
    assert "candidate without a reward" not in [row["reason"] for row in receipt.counts["left_out"]]
