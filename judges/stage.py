"""The stage that judges: requests and candidates in, judgements out.

Candidates go to the judges in fixed batches of requests. Judges that ask one language model are asked together, so that a
document is run once for all of its rubrics and candidates; every other judge is asked alone. What came of a batch is one line of
the journal, so an interrupted run redoes only the batch that was in flight, and in the same company. Judges on one model follow
each other batch by batch; a model is closed before the next is loaded, and one whose verdicts are all in the cache is never
loaded.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from typing import Any

from tqdm import tqdm

from ..errors import DataError, LeftOutError, StorageError
from ..generate.backend import Usage
from ..journal import Journal
from ..records import Candidate, Judgement, SummaryRequest
from ..run import CANDIDATES, JUDGEMENTS, REQUESTS, Phase
from ..stages import Receipt, Stage, left_by
from ..storage import listed, read_jsonl, write_jsonl
from . import open_judges
from .asking import AskingJudge, by_model, companies
from .batch import Batch, judge_batch, judge_work, keep_verdicts
from .cache import VerdictCache, cache_path
from .judge import Judge
from .overflow import was_cut


@dataclass(frozen=True)
class Work:
    """What is judged: the candidates of each request, in their order."""

    requests: Mapping[str, SummaryRequest]
    candidates: Sequence[Candidate]

    def with_requests(self) -> list[tuple[SummaryRequest, Candidate]]:
        """Each candidate with its request."""
        return [(self.requests[candidate.request_id], candidate) for candidate in self.candidates]

    def batches(self, size: int) -> list[list[tuple[SummaryRequest, Candidate]]]:
        """The candidates of `size` requests at a time, each with its request."""
        by_request: dict[str, list[tuple[SummaryRequest, Candidate]]] = {}
        for request, candidate in self.with_requests():
            by_request.setdefault(request.id, []).append((request, candidate))
        groups = list(by_request.values())
        return [
            [each for group in groups[start : start + size] for each in group] for start in range(0, len(groups), size)
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
    """The stage, with everything its judgements depend on.

    Raises:
        StorageError: the candidates are not there yet.
        DataError: they are not what was generated.
    """
    absent = [name for name in (REQUESTS, CANDIDATES) if not (phase.folder / name).is_file()]
    if absent:
        raise StorageError(f"{phase.folder / absent[0]}: is not there; run the 'generate' stage of {phase.name} first")
    made = left_by("generate", phase.folder, REQUESTS, CANDIDATES)
    inputs: dict[str, Any] = {
        "requests": made[REQUESTS],
        "candidates": made[CANDIDATES],
        "judges": [[judge.name, judge.signature] for judge in judges],
    }
    if phase.method == "thinned":
        inputs["of_copies"] = phase.recipe.pairs.judge
    return Stage("judge", phase.folder, inputs, (JUDGEMENTS,))


def _work(phase: Phase, stage: Stage, judges: Sequence[Judge]) -> dict[str, Any]:
    work = read_work(phase)
    journal = Journal(stage.journal_path(), Batch)
    done = {(j.judge, j.candidate_id) for batch in journal for j in batch.judgements}
    with (
        closing(VerdictCache(cache_path())) as cache,
        tqdm(total=len(judges) * len(work.candidates), unit="judgement", disable=None) as bar,
    ):
        # a kill may have come between the journal and the cache
        if len(journal):
            last = journal[-1]
            judged = {each.candidate_id for each in last.judgements}
            keep_verdicts(last, judge_work(judges, [p for p in work.with_requests() if p[1].id in judged]), cache)
        for group in by_model(judges):
            with ExitStack() as models:
                for each in group:
                    models.callback(each.close)
                for batch in work.batches(min(each.requests_per_batch for each in group)):
                    for company in companies(group):
                        candidates = [
                            (r, c) for r, c in batch if any(phase.is_judged(c, each.name) for each in company)
                        ]
                        if any((each.name, c.id) not in done for each in company for _, c in candidates):
                            judge_batch(company, candidates, cache, journal)
                        bar.update(len(company) * len(batch))
    batches = list(journal)
    found = {(j.candidate_id, j.judge): j for batch in batches for j in batch.judgements}
    judgements = [found[c.id, each.name] for c in work.candidates for each in judges if phase.is_judged(c, each.name)]
    write_jsonl(phase.folder / JUDGEMENTS, judgements)
    counts = _counts(work, judges, judgements, batches)
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


def _counts(
    work: Work, judges: Sequence[Judge], judgements: Sequence[Judgement], batches: Sequence[Batch]
) -> dict[str, Any]:
    unscored = Counter(
        (j.judge, work.requests[j.request_id].side, f"{j.judge}: {j.unscored}") for j in judgements if j.unscored
    )
    scored = Counter(j.judge for j in judgements if j.score is not None)
    cut = Counter(j.judge for j in judgements if was_cut(j.raw))
    return {
        "candidates": len(work.candidates),
        "scored": {each.name: scored[each.name] for each in judges},
        # scores that rest on a source cut to fit the judge's model
        **({"cut": dict(cut)} if cut else {}),
        "cached": {each.name: sum(b.cached.get(each.name, 0) for b in batches) for each in judges},
        "signatures": {each.name: each.signature for each in judges},
        "left_out": [
            {"stage": "judge", "judge": name, "side": side, "reason": reason, "count": count}
            for (name, side, reason), count in sorted(unscored.items())
        ],
        **_prefill(judges, batches),
    }


def _prefill(judges: Sequence[Judge], batches: Sequence[Batch]) -> dict[str, Any]:
    """Prompt tokens of each language model and how many of them were run, over all processes that worked at the stage."""
    usage: dict[str, Usage] = {}
    model_of = {each.name: each.model for each in judges if isinstance(each, AskingJudge)}
    for batch in batches:
        for model in {model_of[name] for name in batch.cached if name in model_of}:
            usage.setdefault(model, Usage()).add(batch.prompt_tokens, batch.prefilled_tokens)
    found = {
        model: {
            "prompt_tokens": used.prompt_tokens,
            "prefilled_tokens": used.prefilled_tokens,
            "prefix_cache_hit_rate": round(used.hit_rate, 4),
        }
        for model, used in usage.items()
        if used.hit_rate is not None
    }
    return {"prefill": found} if found else {}


def refuse_unscored(phase: Phase, receipt: Receipt) -> None:
    """Refuse to go on when a judge left too much unscored.

    Raises:
        LeftOutError: the share of a judge exceeds limits.unscored; all such judges are listed with their reasons.
    """
    limit = phase.recipe.limits.unscored
    mistakes = []
    for name, scored in receipt.counts["scored"].items():
        rows = [row for row in receipt.counts["left_out"] if row["judge"] == name]
        unscored = sum(row["count"] for row in rows)
        if unscored <= limit * (scored + unscored):
            continue
        reasons = ", ".join(f"{row['reason']} ({row['side']} {row['count']})" for row in rows)
        mistakes.append(f"{unscored} of {scored + unscored} candidates are unscored: {reasons}")
    if mistakes:
        raise LeftOutError(
            f"{phase.folder / JUDGEMENTS}: more is unscored than limits.unscored {limit} allows\n{listed(mistakes)}\n"
            "the file is written and names each reason; mend the judge, or raise limits.unscored; to ask the same judge again, "
            f"delete {phase.folder / 'receipts' / 'judge.json'}"
        )
