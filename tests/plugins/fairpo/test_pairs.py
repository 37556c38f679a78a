"""FairPO's pairs: which three summaries, who is chosen, the slots, and what is left out."""

import json
import math

import pytest
from conftest import make_candidate

from evenhand.config import Recipe
from evenhand.errors import DataError
from evenhand.generate.requests import build_requests
from evenhand.judges.stage import judge
from evenhand.records import (
    Candidate,
    Document,
    DocumentSet,
    Judgement,
    PreferencePair,
    SummaryRequest,
    Thinned,
)
from evenhand.rerank.stage import rerank, rerank_stage
from evenhand.runfolder.files import with_groups
from evenhand.runfolder.phases import CANDIDATES, JUDGEMENTS, LEDGER, PAIRS, REQUESTS, open_phase
from evenhand.storage import file_digest, read_jsonl, write_jsonl
from evenhand.text.digests import digest

# one of eight documents is taken from a copy; only "good" has more than three, "good" and "bad" have more than one
COUNTS = {"good": 4, "bad": 3, "mixed": 1}
VALUES = ("good", "bad", "mixed")
# the value that each summary's prompt lacked some documents of
COPIES = (None, "good", "good", "bad")

# (Equal Coverage, difference of each value) of the summary of all documents and of the three copies
KETTLE = [
    (0.2, (0.1, -0.1, -0.2)),
    (0.1, (0.05, -0.04, 0.0)),
    (0.01, (0.3, 0.3, 0.3)),
    (0.3, (-0.05, 0.1, 0.1)),
]
LAMP = [(0.1, (0.1, -0.02, 0.0)), (0.5, (-0.2, 0.4, 0.0)), (0.9, (0.0, 0.1, 0.0)), (0.2, (0.1, -0.1, 0.0))]


def recipe(tmp_path, **changes):
    values = {
        "name": "fair",
        "output": tmp_path / "run",
        "model": {"name": "none"},
        "corpus": {"attribute": "opinion"},
        "task": {"scope": "all"},
        "generate": {"backend": "scripted", "method": "thinned", "plans": {"p": {"candidates": 1}}},
        "judges": {"ec": {"kind": "equal-coverage", "entailer": {"kind": "words"}}, "words": {"kind": "length"}},
        "reward": {"judges": ["words"]},
        "pairs": {"mode": "fairpo", "judge": "ec"},
        "evaluation": {"judges": ["words"]},
    }
    return Recipe.model_validate(values | changes)


def judgement(candidate, judge, said):
    score, differences = said
    raw = {"overall": 0.4, "difference": dict(zip(VALUES, differences, strict=True)), "counts": COUNTS, "units": 5}
    return Judgement(
        candidate_id=candidate.id, request_id=candidate.request_id, judge=judge, signature=judge, score=score,
        unscored=None if score is not None else "fewer than three units", raw=json.dumps(raw),
    )  # fmt: skip


def judged(phase, rows, **changes):
    """The phase with sets of eight documents, their candidates, and what the judge says; rows by name of the set."""
    opinions = [value for value, n in COUNTS.items() for _ in range(n)]
    sets = [
        DocumentSet(
            id=name,
            documents=tuple(
                Document(id=f"{name}-{i}", text=f"{opinion} {i}", attributes={"opinion": opinion})
                # one of a kind cannot be thinned
                for i, opinion in enumerate(opinions if len(rows[name]) > 1 else ("good", "bad"))
            ),
        )
        for name in rows
    ]
    requests = build_requests(sets, phase.recipe.corpus, phase.recipe.task)
    n_draws, candidates, judgements = phase.recipe.generate.n_candidates, [], []
    for request, said in zip(requests, rows.values(), strict=True):
        for index, each in enumerate(said):
            value = COPIES[index // n_draws]
            candidate = make_candidate(
                request, f"The {request.id} summary {index}.", index, contract_ok=True,
                prompt_digest="copy" if value else "own",
                thinned=Thinned(value=value, left_out=("x",)) if value else None, **changes.get(f"{request.id}#{index}", {}),
            )  # fmt: skip
            candidates.append(candidate)
            judgements += [judgement(candidate, "words", (9.0, each[1])), judgement(candidate, "ec", each)]
    write_jsonl(phase.folder / REQUESTS, requests)
    write_jsonl(phase.folder / CANDIDATES, candidates)
    write_jsonl(phase.folder / JUDGEMENTS, judgements)
    return phase


def open_round(tmp_path, **changes):
    return open_phase(recipe(tmp_path, **changes), "round-00")


def pairs_of(phase):
    rerank(phase)
    return read_jsonl(phase.folder / PAIRS, PreferencePair)


def left_out(phase):
    receipt, _ = rerank(phase)
    return {row["reason"]: row["count"] for row in receipt.counts["left_out"]}


def test_pair_is_of_the_fairest_and_the_unfairest_of_the_three_that_the_full_sets_judgement_chooses(tmp_path):
    kettle, lamp = pairs_of(judged(open_round(tmp_path), {"kettle": KETTLE, "lamp": LAMP}))
    # over: "good", the first copy; under: not "mixed", which has one document, but "bad"; the second copy of "good" stays out
    assert (kettle.chosen_id, kettle.rejected_id) == ("kettle/all#1", "kettle/all#3")
    assert (lamp.chosen_id, lamp.rejected_id) == ("lamp/all#0", "lamp/all#1")
    assert (kettle.chosen_reward, kettle.rejected_reward) == (-0.1, -0.3)
    assert [kettle.margin, lamp.margin] == pytest.approx([0.2, 0.4])
    # training is on the full set's prompt, whichever prompts the summaries were made from
    assert [kettle.prompt_digest, lamp.prompt_digest] == ["own", "own"]
    assert "mixed 7" in kettle.prompt[-1].content


def test_least_represented_value_may_be_the_one_that_alone_is_large_enough(tmp_path):
    rows = [(0.2, (-0.3, 0.1, 0.2)), *KETTLE[1:]]
    # "good" lags, and alone has more than three documents: its two copies are the others, 0.1 and 0.01 against 0.2
    (pair,) = pairs_of(judged(open_round(tmp_path), {"kettle": rows}))
    assert (pair.chosen_id, pair.rejected_id) == ("kettle/all#2", "kettle/all#0")


def test_slots_weights_and_powers_worked_by_hand(tmp_path):
    kettle, lamp = pairs_of(judged(open_round(tmp_path), {"kettle": KETTLE, "lamp": LAMP}))
    fair, other = kettle.fairness, lamp.fairness
    assert fair.values == other.values == VALUES
    assert fair.num == (4, 4, 3, 3, 1, 1)
    # C = difference x documents: good 0.2, bad -0.12, mixed 0
    assert fair.weight_chosen == pytest.approx((0.2, 0, 0, 0.12, 0, 0))
    assert fair.weight_rejected == pytest.approx((0, 0.2, 0.3, 0, 0.1, 0))
    assert other.weight_chosen == pytest.approx((0.4, 0, 0, 0.06, 0, 0))
    assert other.weight_rejected == pytest.approx((0, 0.8, 1.2, 0, 0, 0))
    # two pairs in a slot: one standard deviation below and above the mean of the logarithms; one pair alone: no spread
    low, high = math.exp(-0.5), math.exp(0.5)
    assert fair.pow_chosen == pytest.approx((low, 0, 0, high, 0, 0))
    assert fair.pow_rejected == pytest.approx((0, low, low, 0, 1, 0))
    assert other.pow_rejected == pytest.approx((0, high, high, 0, 0, 0))
    mean = (math.sqrt(0.2) + math.sqrt(0.4)) / 2
    assert [fair.diff, other.diff] == pytest.approx([math.sqrt(0.2) / mean, math.sqrt(0.4) / mean])
    assert kettle.weight == lamp.weight == 1


def test_margin_weights_are_the_baselines(tmp_path):
    pairs = {"mode": "fairpo", "judge": "ec", "margin_weights": True}
    kettle, lamp = pairs_of(judged(open_round(tmp_path, pairs=pairs), {"kettle": KETTLE, "lamp": LAMP}))
    assert (kettle.weight, lamp.weight) == (kettle.fairness.diff, lamp.fairness.diff)
    assert (kettle.weight + lamp.weight) / 2 == pytest.approx(1)


def test_each_draw_gives_a_pair_of_its_own(tmp_path):
    plans = {"backend": "scripted", "method": "thinned", "plans": {"p": {"candidates": 2}}}
    # two draws of all documents, then two of each copy
    both = [each for pair in zip(KETTLE, LAMP, strict=True) for each in pair]
    first, second = pairs_of(judged(open_round(tmp_path, generate=plans), {"kettle": both}))
    assert (first.chosen_id, first.rejected_id) == ("kettle/all#2", "kettle/all#6")
    assert (second.chosen_id, second.rejected_id) == ("kettle/all#1", "kettle/all#3")


def test_whatever_gives_no_pair_is_counted_by_reason(tmp_path):
    nothing = (None, (0.0, 0.0, 0.0))
    rows = {
        "equal": [(0.2, differences) for _, differences in KETTLE],
        "own": [nothing, *KETTLE[1:]],
        "copy": [KETTLE[0], nothing, *KETTLE[2:]],
        "spare": [*KETTLE[:2], nothing, KETTLE[3]],
        "endless": KETTLE,
        "bare": KETTLE[:1],
    }
    phase = judged(open_round(tmp_path), rows, **{"endless/all#1": {"finish_reason": "length"}})
    assert [pair.set_id for pair in pairs_of(phase)] == ["spare"], "a copy that is not needed may be unscored"
    assert left_out(phase) == {
        "all three equally fair": 1,
        "unscored": 2,
        "chosen stopped by max_tokens": 1,
        "no value with documents enough to be thinned": 1,
    }


def test_pairs_left_out_by_a_guard_do_not_count_in_powers(tmp_path):
    alone = pairs_of(judged(open_round(tmp_path / "a"), {"kettle": KETTLE}))
    stopped = {"lamp/all#0": {"finish_reason": "length"}}
    beside = pairs_of(judged(open_round(tmp_path / "b"), {"kettle": KETTLE, "lamp": LAMP}, **stopped))
    assert [pair.fairness for pair in beside] == [pair.fairness for pair in alone]
    assert alone[0].fairness.diff == 1


def test_sets_without_any_pair_leave_an_empty_file(tmp_path):
    assert pairs_of(judged(open_round(tmp_path), {"bare": KETTLE[:1]})) == []


def test_judgement_without_differences_is_refused_by_its_candidate(tmp_path):
    phase = judged(open_round(tmp_path), {"kettle": KETTLE})
    found = read_jsonl(phase.folder / JUDGEMENTS, Judgement)
    write_jsonl(phase.folder / JUDGEMENTS, [each.model_copy(update={"raw": "0.2"}) for each in found])
    with pytest.raises(DataError, match=r"candidate 'kettle/all#0' by 'ec' lacks the differences by value"):
        rerank(phase)


def test_order_of_sides_belongs_to_what_pairs_depend_on(tmp_path):
    rows = {"kettle": KETTLE}
    plain = judged(open_round(tmp_path), rows)
    turned = judged(open_round(tmp_path, corpus={"attribute": "opinion", "sides": ["bad", "good", "mixed"]}), rows)
    assert rerank_stage(plain).key != rerank_stage(turned).key
    (pair,) = pairs_of(turned)
    assert pair.fairness.values == ("bad", "good", "mixed")
    assert pair.fairness.weight_chosen == pytest.approx((0, 0.12, 0.2, 0, 0, 0))


@pytest.mark.parametrize(
    "changes",
    [
        {"generate": {"plans": {"p": {"candidates": 2}}}},
        {"generate": {"plans": {"p": {"candidates": 1}}, "thinned": {"rate": 0.25}}},
        {"corpus": {"attribute": "opinion", "sides": ["bad", "mixed"]}},
    ],
    ids=["draws", "rate", "sides"],
)
def test_candidates_of_another_recipe_are_refused(tmp_path, changes):
    judged(open_round(tmp_path), {"kettle": KETTLE})
    if "generate" in changes:
        changes = {"generate": {"backend": "scripted", "method": "thinned"} | changes["generate"]}
    with pytest.raises(DataError, match=r"'kettle/all' are not those .*\n.*evenhand generate RECIPE --phase round-00"):
        rerank(open_round(tmp_path, **changes))


def test_candidates_without_copies_are_refused(tmp_path):
    phase = judged(open_round(tmp_path), {"kettle": KETTLE})
    write_jsonl(phase.folder / CANDIDATES, read_jsonl(phase.folder / CANDIDATES, Candidate)[:1])
    with pytest.raises(DataError, match="'kettle/all' are not those that the recipe asks for"):
        rerank(phase)


def test_documents_of_one_value_are_refused(tmp_path):
    phase = judged(open_round(tmp_path), {"kettle": KETTLE})
    (request,) = read_jsonl(phase.folder / REQUESTS, SummaryRequest)
    good = request.document_set.select("opinion", "good")
    alike = request.document_set.model_copy(update={"documents": good})
    write_jsonl(phase.folder / REQUESTS, [request.model_copy(update={"document_set": alike})])
    with pytest.raises(DataError, match="documents have 1 value of 'opinion'"):
        rerank(phase)


def test_values_stand_in_the_order_that_the_corpus_declares(tmp_path):
    phase = judged(open_round(tmp_path), {"kettle": KETTLE})
    (request,) = read_jsonl(phase.folder / REQUESTS, SummaryRequest)
    notes = {"values": {"opinion": ["mixed", "unsure", "bad", "good"]}}
    declared = request.document_set.model_copy(update={"notes": notes})
    write_jsonl(phase.folder / REQUESTS, [request.model_copy(update={"document_set": declared})])
    (pair,) = pairs_of(phase)
    # no document is unsure
    assert pair.fairness.values == ("mixed", "bad", "good")


def test_key_says_which_summaries_have_a_reward(tmp_path):
    phase = judged(open_round(tmp_path), {"kettle": KETTLE})
    recipe = phase.recipe
    inputs = {
        "files": {name: file_digest(phase.folder / name) for name in (REQUESTS, CANDIDATES, JUDGEMENTS)},
        "reward": recipe.reward.model_dump(mode="json"),
        "groups": "ids and scores",
        "pairs": recipe.pairs.model_dump(mode="json"),
        "sides": None,
        "rewarded": "summaries of full sets",
    }
    assert rerank_stage(phase).key == digest(inputs)
    rerank(phase)
    ((_, group),) = with_groups(phase.folder)
    assert [each.reward for each in group.candidates] == [9.0, None, None, None]


def test_judges_of_the_reward_are_not_asked_about_copies(tmp_path, monkeypatch):
    monkeypatch.setenv("EVENHAND_CACHE", str(tmp_path / "cache"))
    phase = judged(open_round(tmp_path, limits={"unscored": 1.0}), {"kettle": KETTLE})
    own, *copies = [each.id for each in read_jsonl(phase.folder / CANDIDATES, Candidate)]
    receipt, _ = judge(phase)
    found = {(each.judge, each.candidate_id) for each in read_jsonl(phase.folder / JUDGEMENTS, Judgement)}
    assert found == {("words", own), *(("ec", each) for each in (own, *copies))}
    assert receipt.counts["scored"]["words"] == 1
    # nothing is missing for the stage that comes next
    rerank(phase)
    ((_, group),) = with_groups(phase.folder)
    assert [each.scores["words"] is None for each in group.candidates] == [False, True, True, True]
    # another judge of pairs has not been asked about the copies
    values = phase.recipe.model_dump(mode="json", exclude={"task": True})
    values |= {"task": {"scope": "all"}, "pairs": {"mode": "fairpo", "judge": "other"}}
    values["judges"] |= {"other": {"kind": "equal-coverage", "fewest_units": 1, "entailer": {"kind": "words"}}}
    values["reward"]["judges"] = ["words", "ec", "other"]
    values["reward"] |= {"combine": "z_mean", "weights": {"words": 1.0, "ec": -1.0, "other": -1.0}}
    both = open_phase(Recipe.model_validate(values), "round-00")
    judge(both)
    values["pairs"]["judge"] = "ec"
    _, reused = judge(open_phase(Recipe.model_validate(values), "round-00"))
    assert not reused
    assert rerank(open_phase(Recipe.model_validate(values), "round-00"))


def test_there_are_no_ties_among_three(tmp_path):
    phase = judged(open_round(tmp_path), {"equal": [(0.2, differences) for _, differences in KETTLE]})
    rerank(phase)
    assert json.loads((phase.folder / LEDGER).read_text())["tie_rate"] is None
