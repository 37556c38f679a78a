"""The stage that orders candidates: rewards, best of n, and in training rounds the preference pairs.

Files, each written once: groups.jsonl (all candidates with scores and reward), best.jsonl (the summary to use for each
request), pairs.jsonl (training rounds), ledger.json (whatever was left out, by stage, side and reason).
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from ..config import RewardSection
from ..errors import DataError
from ..judges.combine import combine_group
from ..records import (
    BestSummary,
    Candidate,
    CandidateGroup,
    Judgement,
    PreferencePair,
    ScoredCandidate,
    SummaryRequest,
)
from ..run import BEST, CANDIDATES, GROUPS, JUDGEMENTS, LEDGER, PAIRS, REQUESTS, Phase
from ..stages import Receipt, Stage, left_by
from ..storage import listed, read_jsonl, write_json, write_jsonl
from .best import best_of, first_of_each_text
from .fairpo import pair_fairly
from .pairs import Pairing, choose_pairs, preference_pair


def rerank(phase: Phase) -> tuple[Receipt, bool]:
    """Order the candidates of a phase; the receipt, and whether the files were there already.

    Raises:
        DataError: requests, candidates or judgements are missing, or the judgements are of other candidates.
    """
    stage = rerank_stage(phase)
    # before old files are put aside
    _refuse_unjudged(phase)
    return stage.run(lambda: _work(phase))


def rerank_stage(phase: Phase) -> Stage:
    """The stage, with everything the order depends on.

    Raises:
        DataError: requests, candidates or judgements are missing, or not what was generated and judged.
    """
    recipe = phase.recipe
    _refuse_absent(phase)
    inputs: dict[str, Any] = {
        "files": left_by("generate", phase.folder, REQUESTS, CANDIDATES) | left_by("judge", phase.folder, JUDGEMENTS),
        "reward": recipe.reward.model_dump(mode="json"),
    }
    outputs = [GROUPS, BEST, LEDGER]
    if phase.split == "train":
        is_fair = recipe.pairs.mode == "fairpo"
        # what says nothing of other pairs is no reason to order them anew
        inputs["pairs"] = recipe.pairs.model_dump(mode="json", exclude=None if is_fair else {"judge", "margin_weights"})
        if is_fair:
            inputs["sides"] = recipe.corpus.sides
        outputs.append(PAIRS)
    if phase.method == "thinned":
        inputs["rewarded"] = "summaries of full sets"
    return Stage("rerank", phase.folder, inputs, tuple(outputs))


def _refuse_absent(phase: Phase) -> None:
    made_by = {REQUESTS: "generate", CANDIDATES: "generate", JUDGEMENTS: "judge"}
    absent = [(name, verb) for name, verb in made_by.items() if not (phase.folder / name).is_file()]
    if absent:
        name, verb = absent[0]
        raise DataError(f"{phase.folder / name}: is not there; run `evenhand {verb} RECIPE --phase {phase.name}` first")


def _refuse_unjudged(phase: Phase) -> None:
    """Refuse candidates about which a judge has said nothing: unscored is a judgement too, absent is a stage not run."""
    candidates = read_jsonl(phase.folder / CANDIDATES, Candidate)
    judged = {(j.candidate_id, j.judge) for j in read_jsonl(phase.folder / JUDGEMENTS, Judgement)}
    path = phase.folder / JUDGEMENTS
    mistakes = []
    for name in phase.judges:
        unjudged = [c.id for c in candidates if phase.is_judged(c, name) and (c.id, name) not in judged]
        if unjudged:
            mistakes.append(
                f"{path}: {len(unjudged)} of {len(candidates)} candidates have no judgement by {name!r}, "
                f"for example {unjudged[0]!r}"
            )
    if mistakes:
        raise DataError(
            f"{listed(mistakes)}\ncandidates or judges of {phase.name} changed since it was judged; run "
            f"`evenhand judge RECIPE --phase {phase.name}` first"
        )


def _work(phase: Phase) -> dict[str, Any]:
    groups = build_groups(phase)
    write_jsonl(phase.folder / GROUPS, groups)
    write_jsonl(phase.folder / BEST, (best_summary(group) for group in groups))
    pairings, pairs = _pairings(phase, groups)
    if phase.split == "train":
        write_jsonl(phase.folder / PAIRS, pairs)
    ledger = _ledger(groups, pairings)
    if phase.recipe.pairs.mode == "fairpo":
        # its draws are compared three by three
        ledger["tie_rate"] = None
    write_json(phase.folder / LEDGER, ledger)
    return {**ledger["totals"], "left_out": ledger["rows"]}


def build_groups(phase: Phase) -> list[CandidateGroup]:
    """The candidates of each request with their scores and rewards, requests and candidates in their order."""
    return group_candidates(
        phase,
        read_jsonl(phase.folder / REQUESTS, SummaryRequest),
        read_jsonl(phase.folder / CANDIDATES, Candidate),
        read_jsonl(phase.folder / JUDGEMENTS, Judgement),
    )


def group_candidates(
    phase: Phase, requests: Sequence[SummaryRequest], candidates: Sequence[Candidate], judgements: Sequence[Judgement]
) -> list[CandidateGroup]:
    """These candidates by request, with their scores and the rewards that the phase's recipe gives them.

    The summary of a thinned copy has no reward: it answers another prompt, and FairPO's pairs compare it by a judge of their own.

    Args:
        phase: its recipe says which judges make the reward.
        requests: each gets a group, also when no candidate is its.
        candidates: rewards that rest on the request's other candidates see these alone, and no thinned copies.
        judgements: may be of more candidates than these.
    """
    by_request: dict[str, list[Candidate]] = defaultdict(list)
    for candidate in candidates:
        by_request[candidate.request_id].append(candidate)
    scores: dict[str, dict[str, float | None]] = defaultdict(dict)
    for judgement in judgements:
        scores[judgement.candidate_id][judgement.judge] = judgement.score
    groups = []
    for request in requests:
        mine = by_request.get(request.id, [])
        rows = [{name: scores[c.id].get(name) for name in phase.judges} for c in mine]
        rewards = _rewards(mine, rows, phase.recipe.reward)
        scored = tuple(
            ScoredCandidate(candidate=c, scores=row, reward=rewards.get(c.id))
            for c, row in zip(mine, rows, strict=True)
        )
        groups.append(_group(request, scored))
    return groups


def _rewards(
    candidates: Sequence[Candidate], scores: Sequence[Mapping[str, float | None]], section: RewardSection
) -> dict[str, float | None]:
    """Reward of each candidate of a request that answers the request's own prompt, by its id."""
    own = [(c.id, row) for c, row in zip(candidates, scores, strict=True) if c.thinned is None]
    combined = combine_group([{name: row[name] for name in section.judges} for _, row in own], section)
    return dict(zip((candidate_id for candidate_id, _ in own), combined, strict=True))


def _group(request: SummaryRequest, scored: tuple[ScoredCandidate, ...]) -> CandidateGroup:
    best = best_of(scored)
    return CandidateGroup(
        request_id=request.id,
        set_id=request.document_set.id,
        side=request.side,
        prompt=request.prompt,
        candidates=scored,
        best_id=best.candidate.id if best else None,
    )


def best_summary(group: CandidateGroup) -> BestSummary:
    """The summary to use for a request; its text is None when no candidate has a reward."""
    best = next((c for c in group.candidates if c.candidate.id == group.best_id), None)
    return BestSummary(
        request_id=group.request_id,
        set_id=group.set_id,
        side=group.side,
        text=best.candidate.text if best else None,
        candidate_id=group.best_id,
        reward=best.reward if best else None,
        scores=best.scores if best else {},
        n_candidates=sum(each.candidate.thinned is None for each in group.candidates),
    )


def _pairings(phase: Phase, groups: Sequence[CandidateGroup]) -> tuple[list[Pairing], list[PreferencePair]]:
    """The pairs of each request with what was left out, and all pairs as records; none for an evaluation."""
    if phase.split != "train":
        return [], []
    if phase.recipe.pairs.mode == "fairpo":
        return pair_fairly(phase, groups)
    pairings = [choose_pairs(group.candidates, phase.recipe.pairs) for group in groups]
    return pairings, [
        preference_pair(group, group.candidates[chosen], group.candidates[rejected])
        for group, pairing in zip(groups, pairings, strict=True)
        for chosen, rejected in pairing.pairs
    ]


def _ledger(groups: Sequence[CandidateGroup], pairings: Sequence[Pairing]) -> dict[str, Any]:
    """Everything left out, by stage, side and reason, and the totals it was left out of."""
    left_out: Counter[tuple[str, str, str]] = Counter()
    for group in groups:
        if group.best_id is None:
            left_out["rerank", group.side, "request without a scored candidate"] += 1
        unrewarded = sum(c.reward is None and c.candidate.thinned is None for c in group.candidates)
        left_out["rerank", group.side, "candidate without a reward"] += unrewarded
    for group, pairing in zip(groups, pairings, strict=False):
        for reason, count in pairing.left_out.items():
            left_out["pairs", group.side, reason] += count
    n_candidates = sum(len(group.candidates) for group in groups)
    n_distinct = sum(len(first_of_each_text([c.candidate.text for c in group.candidates])) for group in groups)
    tied = sum(count for (_, _, reason), count in left_out.items() if reason == "equal reward")
    compared = sum(len(g.candidates) * (len(g.candidates) - 1) // 2 for g in groups)
    return {
        "rows": [
            {"stage": stage, "side": side, "reason": reason, "count": count}
            for (stage, side, reason), count in sorted(left_out.items())
            if count
        ],
        "totals": {
            "requests": len(groups),
            "candidates": n_candidates,
            "pairs": sum(len(pairing.pairs) for pairing in pairings),
        },
        "duplicate_rate": 1 - n_distinct / n_candidates if n_candidates else None,
        "tie_rate": tied / compared if compared and pairings else None,
    }
