"""The ledger: everything a run left out, by phase, stage, reason and side.

A filter nobody sees is a bias nobody sees. Requests without a candidate and judgements without a score are counted from
their files; what later stages left out comes from their ledgers and receipts.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from sys import intern
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from ....config import Recipe
from ....errors import DataError
from ....records import Candidate, Failure, LeftOut, SummaryRequest
from ....rerank.pairs import first_of_each_text
from ....runfolder.phases import CANDIDATES, FAILURES, JUDGEMENTS, LEDGER, PAIRS, REQUESTS, Phase, phases
from ....storage import iter_jsonl, iter_lines, read_text
from ....text.mistakes import explain
from ..systems.contents import PhaseTotals, StageRow

# stages that are counted from their files, so that their receipts are not counted again, and what they leave out
FROM_FILES = {"generate": "request", "judge": "judgement"}

R = TypeVar("R", bound=BaseModel)


def read_ledger(recipe: Recipe, stages: Iterable[StageRow]) -> tuple[list[PhaseTotals], list[LeftOut]]:
    """The totals of every phase, and the counts left out of it; phases in the loop's order, the largest counts first.

    Raises:
        DataError: a ledger is not of its form.
    """
    totals, rows = [], []
    receipts = [stage for stage in stages if stage.stage not in FROM_FILES]
    for phase in phases(recipe):
        if not (phase.folder / REQUESTS).is_file():
            continue
        path = phase.folder / LEDGER
        ledger: dict[str, Any] = json.loads(read_text(path)) if path.is_file() else {}
        phase_totals, left_out = _counted(phase, ledger.get("tie_rate"))
        totals.append(phase_totals)
        left_out += [_parse({"phase": phase.name, **row}, f"{path}") for row in ledger.get("rows", [])]
        for stage in receipts:
            if stage.phase == phase.name:
                origin, place = {"phase": phase.name, "stage": stage.stage}, f"receipt of {phase.name} {stage.stage}"
                left_out += [_parse({**origin, **row}, place) for row in stage.counts.get("left_out", [])]
        # a stage may write the same row to its ledger and to its receipt
        once = {(row.stage, row.reason, row.side): row for row in left_out if row.count}
        rows += sorted(once.values(), key=lambda row: (row.stage, -row.count, row.reason, row.side))
    return totals, rows


def phase_records(phase: Phase, name: str, model: type[R]) -> Iterator[R]:
    """The records of a phase's file; none where it has no such file."""
    path = phase.folder / name
    return iter_jsonl(path, model) if path.is_file() else iter(())


class _JudgementPart(BaseModel):
    """The part of a judgement that is counted."""

    judge: str
    request_id: str
    score: float | None
    unscored: str | None


def _counted(phase: Phase, tie_rate: float | None) -> tuple[PhaseTotals, list[LeftOut]]:
    """The counts of one phase's files, line by line; requests without a candidate and judgements without a score by reason."""
    sides = {request.id: intern(request.side) for request in phase_records(phase, REQUESTS, SummaryRequest)}
    left_out: Counter[tuple[str, str, str, str]] = Counter()
    failed: set[str] = set()
    for failure in phase_records(phase, FAILURES, Failure):
        is_answer = failure.index is not None
        left_out["generate", failure.reason, failure.side, "answer" if is_answer else FROM_FILES["generate"]] += 1
        if not is_answer:
            failed.add(failure.request_id)
    n_judgements = n_unscored = 0
    for judgement in phase_records(phase, JUDGEMENTS, _JudgementPart):
        n_judgements += 1
        n_unscored += judgement.score is None
        if judgement.unscored:
            left_out[
                "judge",
                f"{judgement.judge}: {judgement.unscored}",
                sides.get(judgement.request_id, "unknown"),
                FROM_FILES["judge"],
            ] += 1
    candidates = groupby(phase_records(phase, CANDIDATES, Candidate), key=lambda candidate: candidate.request_id)
    n_candidates, n_duplicates = duplicates([candidate.text for candidate in group] for _, group in candidates)
    pairs = phase.folder / PAIRS
    totals = PhaseTotals(
        phase=phase.name,
        requests=len(sides),
        failed=len(failed),
        candidates=n_candidates,
        duplicate_rate=n_duplicates / n_candidates if n_candidates else None,
        judgements=n_judgements,
        unscored=n_unscored,
        pairs=sum(1 for _ in iter_lines(pairs)) if pairs.is_file() else None,
        tie_rate=tie_rate,
    )
    return totals, [
        LeftOut(phase=phase.name, stage=stage, what=unit, reason=reason, side=side, count=count)
        for (stage, reason, side, unit), count in left_out.items()
    ]


def duplicates(texts_by_request: Iterable[Sequence[str]]) -> tuple[int, int]:
    """Texts, and how many of them an earlier text of their request equals after white space is folded."""
    n_texts = n_distinct = 0
    for texts in texts_by_request:
        n_texts += len(texts)
        n_distinct += len(first_of_each_text(texts))
    return n_texts, n_texts - n_distinct


def _parse(row: Any, place: str) -> LeftOut:
    try:
        return LeftOut.model_validate(row)
    except ValidationError as error:
        raise DataError(f"{place}: row {row!r}: {explain(error)}; a row has stage, side, reason and count") from error
