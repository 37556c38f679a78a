"""The ledger: everything a run left out, by phase, stage, reason and side.

A filter nobody sees is a bias nobody sees. Requests without a candidate and judgements without a score are counted from
their files; what later stages left out comes from their ledgers and receipts.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from pydantic import ValidationError

from ..config import Recipe
from ..errors import DataError
from ..records import Candidate, Failure, Judgement, SummaryRequest
from ..run import CANDIDATES, FAILURES, JUDGEMENTS, LEDGER, PAIRS, REQUESTS, Phase, phases
from ..storage import explain, read_jsonl, read_text
from .contents import LedgerRow, PhaseTotals, StageRow
from .systems import duplicate_rate

# stages counted from their files, so that their receipts are not counted again
FROM_FILES = ("generate", "judge")


def read_ledger(recipe: Recipe, stages: Iterable[StageRow]) -> tuple[list[PhaseTotals], list[LedgerRow]]:
    """What every phase holds, and what was left out of it; phases in the loop's order, the largest counts first.

    Raises:
        DataError: a ledger is not of its form.
    """
    totals, rows = [], []
    receipts = list(stages)
    for phase in phases(recipe):
        if not (phase.folder / REQUESTS).is_file():
            continue
        files = _PhaseFiles(phase)
        totals.append(files.totals())
        found = [*files.failed(), *files.unscored(), *_from_ledger(phase, files.ledger)]
        found += [row for stage in receipts if stage.phase == phase.name for row in _from_receipt(stage)]
        # a stage may write the same row to its ledger and to its receipt
        once = {(row.stage, row.reason, row.side): row for row in found if row.count}
        rows += sorted(once.values(), key=lambda row: (row.stage, -row.count, row.reason, row.side))
    return totals, rows


class _PhaseFiles:
    """The files of one phase, read once."""

    def __init__(self, phase: Phase) -> None:
        def read(name: str, model: Any) -> list[Any]:
            path = phase.folder / name
            return read_jsonl(path, model) if path.is_file() else []

        self.phase = phase
        self.requests: list[SummaryRequest] = read(REQUESTS, SummaryRequest)
        self.candidates: list[Candidate] = read(CANDIDATES, Candidate)
        self.failures: list[Failure] = read(FAILURES, Failure)
        self.judgements: list[Judgement] = read(JUDGEMENTS, Judgement)
        path = phase.folder / LEDGER
        self.ledger: dict[str, Any] = json.loads(read_text(path)) if path.is_file() else {}

    def totals(self) -> PhaseTotals:
        texts: dict[str, list[str]] = {}
        for candidate in self.candidates:
            texts.setdefault(candidate.request_id, []).append(candidate.text)
        pairs = self.phase.folder / PAIRS
        return PhaseTotals(
            phase=self.phase.name,
            requests=len(self.requests),
            failed=len({failure.request_id for failure in self.failures}),
            candidates=len(self.candidates),
            duplicate_rate=duplicate_rate(list(texts.values())),
            judgements=len(self.judgements),
            unscored=sum(judgement.score is None for judgement in self.judgements),
            pairs=len(read_text(pairs).splitlines()) if pairs.is_file() else None,
            tie_rate=self.ledger.get("tie_rate"),
        )

    def failed(self) -> list[LedgerRow]:
        counts = Counter((failure.reason, failure.side) for failure in self.failures)
        return [self._row("generate", reason, side, count) for (reason, side), count in counts.items()]

    def unscored(self) -> list[LedgerRow]:
        side_of = {request.id: request.side for request in self.requests}
        counts = Counter(
            (f"{j.judge}: {j.unscored}", side_of.get(j.request_id, "unknown")) for j in self.judgements if j.unscored
        )
        return [self._row("judge", reason, side, count) for (reason, side), count in counts.items()]

    def _row(self, stage: str, reason: str, side: str, count: int) -> LedgerRow:
        return LedgerRow(phase=self.phase.name, stage=stage, reason=reason, side=side, count=count)


def _from_ledger(phase: Phase, ledger: dict[str, Any]) -> Iterator[LedgerRow]:
    for row in ledger.get("rows", []):
        yield _parse({"phase": phase.name, **row}, f"{phase.folder / LEDGER}")


def _from_receipt(stage: StageRow) -> Iterator[LedgerRow]:
    if stage.stage in FROM_FILES:
        return
    for row in stage.counts.get("left_out", []):
        yield _parse({"phase": stage.phase, "stage": stage.stage, **row}, f"receipt of {stage.phase} {stage.stage}")


def _parse(row: Any, place: str) -> LedgerRow:
    try:
        return LedgerRow.model_validate(row)
    except ValidationError as error:
        raise DataError(f"{place}: row {row!r}: {explain(error)}; a row has stage, side, reason and count") from error
