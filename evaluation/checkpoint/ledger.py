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

from ...config import Recipe
from ...errors import DataError
from ...records import Candidate, Failure, LeftOut, SummaryRequest
from ...rerank.best import first_of_each_text
from ...runfolder.phases import CANDIDATES, FAILURES, JUDGEMENTS, LEDGER, PAIRS, REQUESTS, Phase, phases
from ...storage import explain, iter_jsonl, iter_lines, read_text
from ..systems.contents import PhaseTotals, StageRow

# stages counted from their files, so that their receipts are not counted again
FROM_FILES = ("generate", "judge")

R = TypeVar("R", bound=BaseModel)


def read_ledger(recipe: Recipe, stages: Iterable[StageRow]) -> tuple[list[PhaseTotals], list[LeftOut]]:
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


class _Said(BaseModel):
    """As much of a judgement as is counted."""

    judge: str
    request_id: str
    score: float | None
    unscored: str | None


class _PhaseFiles:
    """What the files of one phase hold, counted line by line."""

    def __init__(self, phase: Phase) -> None:
        self.phase = phase
        path = phase.folder / LEDGER
        self.ledger: dict[str, Any] = json.loads(read_text(path)) if path.is_file() else {}
        self._sides = {request.id: intern(request.side) for request in self._read(REQUESTS, SummaryRequest)}
        self._failed: Counter[tuple[str, str]] = Counter()
        failed: set[str] = set()
        for failure in self._read(FAILURES, Failure):
            self._failed[failure.reason, failure.side] += 1
            failed.add(failure.request_id)
        self._n_failed = len(failed)
        self._n_judgements = self._n_unscored = 0
        self._unscored: Counter[tuple[str, str]] = Counter()
        for said in self._read(JUDGEMENTS, _Said):
            self._n_judgements += 1
            self._n_unscored += said.score is None
            if said.unscored:
                side = self._sides.get(said.request_id, "unknown")
                self._unscored[f"{said.judge}: {said.unscored}", side] += 1

    def _read(self, name: str, model: type[R]) -> Iterator[R]:
        path = self.phase.folder / name
        return iter_jsonl(path, model) if path.is_file() else iter(())

    def totals(self) -> PhaseTotals:
        candidates = groupby(self._read(CANDIDATES, Candidate), key=lambda candidate: candidate.request_id)
        n_candidates, n_duplicates = duplicates([each.text for each in mine] for _, mine in candidates)
        pairs = self.phase.folder / PAIRS
        return PhaseTotals(
            phase=self.phase.name,
            requests=len(self._sides),
            failed=self._n_failed,
            candidates=n_candidates,
            duplicate_rate=n_duplicates / n_candidates if n_candidates else None,
            judgements=self._n_judgements,
            unscored=self._n_unscored,
            pairs=sum(1 for _ in iter_lines(pairs)) if pairs.is_file() else None,
            tie_rate=self.ledger.get("tie_rate"),
        )

    def failed(self) -> list[LeftOut]:
        return [self._row("generate", reason, side, count) for (reason, side), count in self._failed.items()]

    def unscored(self) -> list[LeftOut]:
        return [self._row("judge", reason, side, count) for (reason, side), count in self._unscored.items()]

    def _row(self, stage: str, reason: str, side: str, count: int) -> LeftOut:
        return LeftOut(phase=self.phase.name, stage=stage, reason=reason, side=side, count=count)


def duplicates(texts_by_request: Iterable[Sequence[str]]) -> tuple[int, int]:
    """Texts, and how many of them an earlier text of their request equals after white space is folded."""
    n_texts = n_distinct = 0
    for texts in texts_by_request:
        n_texts += len(texts)
        n_distinct += len(first_of_each_text(texts))
    return n_texts, n_texts - n_distinct


def _from_ledger(phase: Phase, ledger: dict[str, Any]) -> Iterator[LeftOut]:
    for row in ledger.get("rows", []):
        yield _parse({"phase": phase.name, **row}, f"{phase.folder / LEDGER}")


def _from_receipt(stage: StageRow) -> Iterator[LeftOut]:
    if stage.stage in FROM_FILES:
        return
    for row in stage.counts.get("left_out", []):
        yield _parse({"phase": stage.phase, "stage": stage.stage, **row}, f"receipt of {stage.phase} {stage.stage}")


def _parse(row: Any, place: str) -> LeftOut:
    try:
        return LeftOut.model_validate(row)
    except ValidationError as error:
        raise DataError(f"{place}: row {row!r}: {explain(error)}; a row has stage, side, reason and count") from error
