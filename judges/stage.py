"""The stage that judges: requests and candidates in, judgements out.

Candidates go to the judges in fixed batches of requests, and a finished batch of one judge is one line of the journal, so
an interrupted run redoes only the batch that was in flight. Judges on one model follow each other batch by batch; a model is
closed before the next is loaded, and one whose verdicts are all in the cache is never loaded.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from typing import Any

from tqdm import tqdm

from ..errors import DataError, LeftOutError, StorageError
from ..records import Candidate, Judgement, Record, SummaryRequest
from ..run import CANDIDATES, JUDGEMENTS, REQUESTS, Phase
from ..stages import Receipt, Stage
from ..storage import Journal, file_digest, listed, read_jsonl, write_jsonl
from . import open_judges
from .cache import VerdictCache, cache_path
from .judge import Against, Judge, JudgeInput, Verdict

MISSING_REFERENCE = {
    "source": "no source text",
    "opposing": "no documents of other sides",
    "key_points": "no key points listed",
}


class Batch(Record):
    """What one judge said of one batch of requests: a line of the journal."""

    judge: str
    judgements: tuple[Judgement, ...]
    # distinct inputs whose verdict came from the cache
    cached: int


@dataclass(frozen=True)
class Work:
    """What is judged: the candidates of each request, in their order."""

    requests: Mapping[str, SummaryRequest]
    candidates: Sequence[Candidate]

    def batches(self, size: int) -> list[list[Candidate]]:
        """The candidates of `size` requests at a time."""
        by_request: dict[str, list[Candidate]] = {}
        for candidate in self.candidates:
            by_request.setdefault(candidate.request_id, []).append(candidate)
        groups = list(by_request.values())
        return [
            [candidate for group in groups[start : start + size] for candidate in group]
            for start in range(0, len(groups), size)
        ]


def judge(phase: Phase) -> tuple[Receipt, bool]:
    """Judge the candidates of a phase by all of its judges; the receipt, and whether the judgements were there already.

    Raises:
        StorageError: the candidates are not there yet.
        DataError: requests and candidates do not belong together.
        LeftOutError: a judge left more unscored than limits.unscored allows; the file is written all the same.
    """
    judges = open_judges({name: phase.recipe.judges[name] for name in phase.judges})
    receipt, reused = judge_by(phase, judges)
    refuse_unscored(phase, receipt)
    return receipt, reused


def judge_by(phase: Phase, judges: Sequence[Judge]) -> tuple[Receipt, bool]:
    """Judge the candidates of a phase by these judges, however many they leave unscored."""
    stage = judge_stage(phase, judges)
    return stage.run(lambda: _work(phase, stage, judges))


def judge_stage(phase: Phase, judges: Sequence[Judge]) -> Stage:
    """The stage, with everything its judgements depend on."""
    absent = [name for name in (REQUESTS, CANDIDATES) if not (phase.folder / name).is_file()]
    if absent:
        raise StorageError(f"{phase.folder / absent[0]}: is not there; run the 'generate' stage of {phase.name} first")
    inputs = {
        "requests": file_digest(phase.folder / REQUESTS),
        "candidates": file_digest(phase.folder / CANDIDATES),
        "judges": [[judge.name, judge.signature] for judge in judges],
    }
    return Stage("judge", phase.folder, inputs, (JUDGEMENTS,))


def _work(phase: Phase, stage: Stage, judges: Sequence[Judge]) -> dict[str, Any]:
    work = read_work(phase)
    journal = Journal(stage.journal_path(), Batch)
    done = {(j.judge, j.candidate_id) for batch in journal.records for j in batch.judgements}
    with (
        closing(VerdictCache(cache_path())) as cache,
        tqdm(total=len(judges) * len(work.candidates), unit="judgement", disable=None) as bar,
    ):
        for group in _by_model(judges):
            with ExitStack() as models:
                for each in group:
                    models.callback(each.close)
                for candidates in work.batches(min(each.requests_per_batch for each in group)):
                    for each in group:
                        if any((each.name, candidate.id) not in done for candidate in candidates):
                            _judge_batch(each, work, candidates, cache, journal)
                        bar.update(len(candidates))
    found = {(j.candidate_id, j.judge): j for batch in journal.records for j in batch.judgements}
    judgements = [found[candidate.id, each.name] for candidate in work.candidates for each in judges]
    write_jsonl(phase.folder / JUDGEMENTS, judgements)
    counts = _counts(work, judges, judgements, journal.records)
    journal.close()
    return counts


def read_work(phase: Phase) -> Work:
    """The phase's requests and candidates.

    Raises:
        DataError: a candidate's request is missing, or a candidate occurs twice; all such are listed.
    """
    requests = {request.id: request for request in read_jsonl(phase.folder / REQUESTS, SummaryRequest)}
    candidates = read_jsonl(phase.folder / CANDIDATES, Candidate)
    path = phase.folder / CANDIDATES
    times = Counter(candidate.id for candidate in candidates)
    mistakes = [f"{path}: candidate id {i!r} occurs {n} times" for i, n in times.items() if n > 1]
    mistakes += [
        f"{path}: candidate {c.id!r} belongs to request {c.request_id!r}, which {REQUESTS} does not have"
        for c in candidates
        if c.request_id not in requests
    ]
    if mistakes:
        raise DataError(listed(mistakes))
    return Work(requests, candidates)


def _by_model(judges: Sequence[Judge]) -> list[list[Judge]]:
    """The judges in groups that hold one model together, in order of first appearance."""
    groups: dict[str, list[Judge]] = {}
    for each in judges:
        groups.setdefault(each.loads or each.name, []).append(each)
    return list(groups.values())


def _judge_batch(
    judge: Judge, work: Work, candidates: Sequence[Candidate], cache: VerdictCache, journal: Journal[Batch]
) -> None:
    inputs = [_input(judge.against, work.requests[candidate.request_id], candidate) for candidate in candidates]
    verdicts, n_cached, fresh = _verdicts(judge, inputs, cache)
    judgements = tuple(_judgement(judge, i, v) for i, v in zip(inputs, verdicts, strict=True))
    # the journal comes first: a batch that was cut short is then asked in the same company again
    journal.append([Batch(judge=judge.name, judgements=judgements, cached=n_cached)])
    cache.keep(judge.signature, fresh)


def _input(against: Against | None, request: SummaryRequest, candidate: Candidate) -> JudgeInput:
    return JudgeInput(
        candidate_id=candidate.id,
        request_id=request.id,
        text=candidate.text,
        contract_ok=candidate.contract_ok,
        reference=reference_text(request, against) if against else "",
    )


def reference_text(request: SummaryRequest, against: Against) -> str:
    """The text that a summary of this request is compared with; "" when the document set has none."""
    if against == "key_points":
        listed_points = request.document_set.key_points
        sides = listed_points if request.perspective is None else (request.side,)
        return "\n".join(point for side in sides for point in listed_points.get(side, ()))
    return request.source if against == "source" else request.opposing


def _verdicts(
    judge: Judge, inputs: Sequence[JudgeInput], cache: VerdictCache
) -> tuple[list[Verdict], int, dict[tuple[str, str], Verdict]]:
    """A verdict for each input, the number found in the cache, and the verdicts that are new to it."""
    if judge.against is None:
        return judge.score(inputs), 0, {}
    judged = [(each.reference, each.text) for each in inputs]
    reasons = {pair: _why_not(judge.against, *pair) for pair in judged}
    distinct = {pair: each for pair, each in zip(judged, inputs, strict=True) if reasons[pair] is None}
    known = cache.find(judge.signature, list(distinct))
    open_inputs = {pair: each for pair, each in distinct.items() if pair not in known}
    fresh: dict[tuple[str, str], Verdict] = {}
    if open_inputs:
        fresh = dict(zip(open_inputs, judge.score(list(open_inputs.values())), strict=True))
    refused = {pair: Verdict(None, reason, attempts=0) for pair, reason in reasons.items() if reason is not None}
    every = known | fresh | refused
    return [every[pair] for pair in judged], len(known), fresh


def _why_not(against: Against, reference: str, text: str) -> str | None:
    """Why a judge need not be asked at all; None when it is to be asked."""
    if not text.strip():
        return "empty summary"
    return None if reference.strip() else MISSING_REFERENCE[against]


def _judgement(judge: Judge, each: JudgeInput, verdict: Verdict) -> Judgement:
    return Judgement(
        candidate_id=each.candidate_id,
        request_id=each.request_id,
        judge=judge.name,
        signature=judge.signature,
        score=verdict.score,
        unscored=verdict.unscored,
        raw=verdict.raw,
        attempts=verdict.attempts,
    )


def _counts(
    work: Work, judges: Sequence[Judge], judgements: Sequence[Judgement], batches: Sequence[Batch]
) -> dict[str, Any]:
    unscored = Counter(
        (j.judge, work.requests[j.request_id].side, f"{j.judge}: {j.unscored}") for j in judgements if j.unscored
    )
    scored = Counter(j.judge for j in judgements if j.score is not None)
    return {
        "candidates": len(work.candidates),
        "scored": {each.name: scored[each.name] for each in judges},
        "cached": {each.name: sum(b.cached for b in batches if b.judge == each.name) for each in judges},
        "signatures": {each.name: each.signature for each in judges},
        "left_out": [
            {"stage": "judge", "judge": name, "side": side, "reason": reason, "count": count}
            for (name, side, reason), count in sorted(unscored.items())
        ],
    }


def refuse_unscored(phase: Phase, receipt: Receipt) -> None:
    """Refuse to go on when a judge left too much unscored.

    Raises:
        LeftOutError: the share of a judge exceeds limits.unscored; all such judges are listed with their reasons.
    """
    total, limit = receipt.counts["candidates"], phase.recipe.limits.unscored
    mistakes = []
    for name, scored in receipt.counts["scored"].items():
        if total - scored <= limit * total:
            continue
        rows = [row for row in receipt.counts["left_out"] if row["judge"] == name]
        reasons = ", ".join(f"{row['reason']} ({row['side']} {row['count']})" for row in rows)
        mistakes.append(f"{total - scored} of {total} candidates are unscored: {reasons}")
    if mistakes:
        raise LeftOutError(
            f"{phase.folder / JUDGEMENTS}: more is unscored than limits.unscored {limit} allows\n{listed(mistakes)}\n"
            "the file is written and names each reason; mend the judge, or raise limits.unscored; to ask the same judge again, "
            f"delete {phase.folder / 'receipts' / 'judge.json'}"
        )
