"""The stage that orders candidates: rewards, best of n, and in training rounds the preference pairs.

Files, each written once, request by request: groups.jsonl (ids of all candidates with scores and reward), best.jsonl (the summary
to use for each request), pairs.jsonl (training rounds), ledger.json (whatever was left out, by stage, side and reason).
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from math import comb
from typing import Any

from ..errors import DataError
from ..judges.combine import Ranges, combine_group, reward_ranges
from ..records import (
    BestSummary,
    Candidate,
    CandidateGroup,
    Judgement,
    LeftOut,
    Record,
    ScoredCandidate,
    SummaryRequest,
)
from ..runfolder.files import refuse_absent, scores_of, with_judgements
from ..runfolder.phases import BEST, CANDIDATES, GROUPS, JUDGEMENTS, LEDGER, PAIRS, REQUESTS, Phase
from ..runfolder.stages import Counts, Receipt, Stage, left_by
from ..storage import whole_file, write_json, write_jsonl, write_record
from ..text.mistakes import listed
from .pair_modes import PAIR_MODES, open_pairer
from .pairs import best_of, choose_pairs, first_of_each_text, preference_pair


class Totals(Record):
    """What a phase has."""

    requests: int
    candidates: int
    pairs: int


class Ledger(Record):
    """What ledger.json says."""

    rows: tuple[LeftOut, ...]
    totals: Totals
    # share of the candidates whose text an earlier one of their request has; None without candidates
    duplicate_rate: float | None
    # of two candidates of a request that have rewards, the share that have the same; None where none are compared
    tie_rate: float | None


class RerankCounts(Counts):
    """The ledger's totals, and what was left out."""

    requests: int
    candidates: int
    pairs: int
    left_out: tuple[LeftOut, ...]


def rerank(phase: Phase) -> tuple[Receipt, bool]:
    """Order the candidates of a phase; the receipt, and whether the files were there already.

    Raises:
        DataError: requests, candidates or judgements are missing, or the judgements are of other candidates.
    """
    stage = rerank_stage(phase)
    if stage.receipt() is None:
        # before old files are put aside
        _refuse_unjudged(phase)
    return stage.run(lambda: _work(phase))


def rerank_stage(phase: Phase) -> Stage:
    """The stage, with everything the order depends on.

    Raises:
        DataError: requests, candidates or judgements are missing, or not what was generated and judged.
    """
    recipe = phase.recipe
    refuse_absent(phase, {REQUESTS: "generate", CANDIDATES: "generate", JUDGEMENTS: "judge"})
    inputs: dict[str, Any] = {
        "files": left_by("generate", phase.folder, REQUESTS, CANDIDATES) | left_by("judge", phase.folder, JUDGEMENTS),
        "reward": recipe.reward.model_dump(mode="json"),
        # how groups.jsonl is written: earlier versions repeated candidates and prompts in it
        "groups": "ids and scores",
    }
    outputs = [GROUPS, BEST, LEDGER]
    if phase.split == "train":
        is_own = recipe.pairs.is_own
        # what says nothing of other pairs does not change their order
        inputs["pairs"] = recipe.pairs.model_dump(mode="json", exclude=None if is_own else {"judge", "margin_weights"})
        if is_own:
            inputs["sides"] = recipe.corpus.sides
        if package := PAIR_MODES.package(recipe.pairs.mode):
            inputs["package"] = package
        outputs.append(PAIRS)
    if phase.copies:
        inputs["rewarded"] = "summaries of full sets"
    return Stage("rerank", phase.folder, inputs, tuple(outputs))


def _refuse_unjudged(phase: Phase) -> None:
    """Refuse candidates about which a judge has said nothing: unscored is a judgement too, absent is a stage not run."""
    n_candidates = 0
    unjudged: dict[str, list[str]] = {name: [] for name in phase.judges}
    for _, candidates, judgements in with_judgements(phase.folder):
        n_candidates += len(candidates)
        judged = {(judgement.candidate_id, judgement.judge) for judgement in judgements}
        for name, ids in unjudged.items():
            ids += [c.id for c in candidates if phase.is_judged(c, name) and (c.id, name) not in judged]
    mistakes = [
        f"{phase.folder / JUDGEMENTS}: {len(ids)} of {n_candidates} candidates have no judgement by {name!r}, for example "
        f"{ids[0]!r}"
        for name, ids in unjudged.items()
        if ids
    ]
    if mistakes:
        raise DataError(
            f"{listed(mistakes)}\ncandidates or judges of {phase.name} changed since it was judged; run "
            f"`evenhand judge RECIPE --phase {phase.name}` first"
        )


def _work(phase: Phase) -> RerankCounts:
    folder, ledger = phase.folder, _Ledger()
    trains, pairer = phase.split == "train", open_pairer(phase)
    with ExitStack() as files:
        groups, best = (files.enter_context(whole_file(folder / name)) for name in (GROUPS, BEST))
        pairs = files.enter_context(whole_file(folder / PAIRS)) if trains and pairer is None else None
        for request, group, judgements in _scored(phase):
            write_record(groups, scores_of(group))
            write_record(best, best_summary(group))
            ledger.count(group)
            if pairer is not None:
                ledger.leave_out("pairs", "pair", group.side, pairer.take(request, group, judgements))
            elif pairs is not None:
                pairing = choose_pairs(group.candidates, phase.recipe.pairs)
                for chosen, rejected in pairing.pairs:
                    write_record(pairs, preference_pair(group, group.candidates[chosen], group.candidates[rejected]))
                ledger.n_pairs += len(pairing.pairs)
                ledger.leave_out("pairs", "pair", group.side, pairing.left_out)
    if pairer is not None:
        write_jsonl(folder / PAIRS, pairer.pairs(group for _, group, _ in _scored(phase)))
        ledger.n_pairs = pairer.n_pairs
    # a package's way need not compare candidates two by two, as FairPO's does not
    total = ledger.total(has_ties=trains and pairer is None)
    write_json(folder / LEDGER, total.model_dump(mode="json"))
    return RerankCounts(**dict(total.totals), left_out=total.rows)


def _scored(phase: Phase) -> Iterator[tuple[SummaryRequest, CandidateGroup, tuple[Judgement, ...]]]:
    """The requests in their order, each with its candidates, scored, and the judgements that say so."""
    ranges = reward_ranges(phase.recipe.reward, phase.recipe.judges)
    for request, candidates, judgements in with_judgements(phase.folder):
        yield request, score_group(phase, request, candidates, judgements, ranges), judgements


def score_group(
    phase: Phase,
    request: SummaryRequest,
    candidates: Sequence[Candidate],
    judgements: Sequence[Judgement],
    ranges: Ranges,
) -> CandidateGroup:
    """The candidates of a request with their scores and the rewards that the phase's recipe gives them.

    The summary of a copy of the set has no reward: it answers another prompt, and pairs compare it by a judge of their own.

    Args:
        phase: its recipe says which judges make the reward.
        request: what the candidates answer.
        candidates: rewards that rest on the request's other candidates see these alone, and no copies' summaries.
        judgements: may be of more candidates than these.
        ranges: the judges' scales, as `reward_ranges` gives them.
    """
    scores: dict[str, dict[str, float | None]] = defaultdict(dict)
    for judgement in judgements:
        scores[judgement.candidate_id][judgement.judge] = judgement.score
    rows = [{name: scores[c.id].get(name) for name in phase.judges} for c in candidates]
    section = phase.recipe.reward
    answers = {c.id: row for c, row in zip(candidates, rows, strict=True) if c.answers_request}
    combined = combine_group(
        [{name: row[name] for name in section.judges} for row in answers.values()], section, ranges
    )
    rewards = dict(zip(answers, combined, strict=True))
    scored = tuple(
        ScoredCandidate(candidate=c, scores=row, reward=rewards.get(c.id))
        for c, row in zip(candidates, rows, strict=True)
    )
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
        n_candidates=sum(entry.candidate.answers_request for entry in group.candidates),
    )


class _Ledger:
    """Everything left out, by stage, side and reason, and the totals it was left out of."""

    def __init__(self) -> None:
        self.n_pairs = 0
        self._left_out: Counter[tuple[str, str, str, str]] = Counter()
        self._n_requests = self._n_candidates = self._n_distinct = self._n_compared = self._n_tied = 0

    def count(self, group: CandidateGroup) -> None:
        """Count a request and its candidates; one that has none was left out, and counted, where candidates are made."""
        answers = [entry for entry in group.candidates if entry.candidate.answers_request]
        if answers and group.best_id is None:
            self.leave_out("rerank", "request", group.side, {"request without a scored candidate": 1})
        unrewarded = sum(entry.reward is None for entry in answers)
        self.leave_out("rerank", "candidate", group.side, {"candidate without a reward": unrewarded})
        n = len(group.candidates)
        self._n_requests += 1
        self._n_candidates += n
        self._n_distinct += len(first_of_each_text([c.candidate.text for c in group.candidates]))
        rewards = Counter(c.reward for c in group.candidates if c.reward is not None)
        self._n_compared += comb(rewards.total(), 2)
        self._n_tied += sum(comb(equal, 2) for equal in rewards.values())

    def leave_out(self, stage: str, unit: str, side: str, counts: Mapping[str, int]) -> None:
        """Count what was left out, by reason; `unit` is one of it."""
        for reason, count in counts.items():
            self._left_out[stage, unit, side, reason] += count

    def total(self, *, has_ties: bool) -> Ledger:
        """What ledger.json says; `has_ties` where candidates were compared two by two."""
        return Ledger(
            rows=LeftOut.rows(("stage", "what", "side", "reason"), +self._left_out),
            totals=Totals(requests=self._n_requests, candidates=self._n_candidates, pairs=self.n_pairs),
            duplicate_rate=1 - self._n_distinct / self._n_candidates if self._n_candidates else None,
            tie_rate=self._n_tied / self._n_compared if has_ties and self._n_compared else None,
        )
