"""What a run was made with: receipts of its stages, versions, signatures of models and prompts; and manifest.json of it all."""

import platform
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from ....config import Recipe
from ....records import Candidate
from ....runfolder.dates import run_date
from ....runfolder.phases import CANDIDATES, JUDGEMENTS, REQUESTS, phases
from ....runfolder.stages import Receipt, read_receipt
from ....storage import write_json
from ....text.digests import digest
from ..systems.contents import Provenance, StageRow
from ..systems.systems import Signed
from .ledger import phase_records, read_ledger

# stages in the order in which a phase goes through them; others follow by name
ORDER = ("generate", "judge", "rerank", "train")
# folder of the report in a run
REPORT = "report"
MANIFEST = "manifest.json"
FORMAT = "evenhand-manifest/1"

# a stage's receipt with the name of its phase
PhaseReceipt = tuple[str, Receipt]


def read_receipts(recipe: Recipe) -> list[PhaseReceipt]:
    """Phase name and receipt of every finished stage, in the order in which the loop works through them."""
    return [receipt for phase in phases(recipe) for receipt in _receipts(phase.name, phase.folder)]


def _receipts(name: str, folder: Path) -> list[PhaseReceipt]:
    paths = sorted((folder / "receipts").glob("*.json"), key=lambda path: path.stem)
    paths.sort(key=lambda path: ORDER.index(path.stem) if path.stem in ORDER else len(ORDER))
    return [(name, receipt) for path in paths if (receipt := read_receipt(path))]


def stage_rows(receipts: Iterable[PhaseReceipt]) -> tuple[StageRow, ...]:
    """The receipts as the report shows them."""
    return tuple(StageRow(phase=p, stage=r.stage, seconds=r.seconds, counts=r.counts) for p, r in receipts)


def versions(receipts: Iterable[PhaseReceipt]) -> dict[str, str]:
    """Version of each distribution; where stages ran under several versions, all of them."""
    by_name: dict[str, dict[str, None]] = {}
    for _, receipt in receipts:
        for name, version in receipt.versions.items():
            by_name.setdefault(name, {})[version] = None
    return {name: ", ".join(several) for name, several in sorted(by_name.items())}


def model_signatures(recipe: Recipe) -> dict[str, str]:
    """Phase -> signature of the model and adapter that wrote its candidates; phases without candidates are absent."""
    firsts = ((phase.name, next(phase_records(phase, CANDIDATES, Candidate), None)) for phase in phases(recipe))
    return {name: first.model for name, first in firsts if first}


class _Templated(BaseModel):
    """The part of a request that says what it was asked with."""

    template: str


def templates(recipe: Recipe) -> dict[str, str]:
    """Phase -> name and digest of the prompt templates of its requests; phases without requests are absent."""
    by_phase = {}
    for phase in phases(recipe):
        if names := dict.fromkeys(request.template for request in phase_records(phase, REQUESTS, _Templated)):
            by_phase[phase.name] = ", ".join(names)
    return by_phase


def read_provenance(recipe: Recipe) -> Provenance:
    """The provenance of the run as the report has it."""
    receipts = read_receipts(recipe)
    return Provenance(
        recipe=recipe.model_dump(mode="json"),
        versions=versions(receipts),
        models=model_signatures(recipe),
        templates=templates(recipe),
        stages=stage_rows(receipts),
    )


def write_manifest(recipe: Recipe) -> Path:
    """Write <output>/manifest.json from the recipe and all receipts so far; its path.

    What a run was made with, what it made and what it left out, in one file that a program can read.

    Raises:
        DataError: a ledger is not of its form.
        StorageError: the file cannot be written.
    """
    receipts = read_receipts(recipe)
    stages = receipts + _receipts(REPORT, recipe.output / REPORT)
    totals, left_out = read_ledger(recipe, stage_rows(receipts))
    # more than one where a judge changed between phases
    judges: dict[str, set[str]] = {}
    for phase in phases(recipe):
        for judgement in phase_records(phase, JUDGEMENTS, Signed):
            judges.setdefault(judgement.judge, set()).add(judgement.signature)
    content: dict[str, Any] = {
        "format": FORMAT,
        "name": recipe.name,
        "recipe": digest(recipe),
        "seeds": {"run": recipe.seed, "bootstrap": recipe.seed},
        "date": run_date(recipe.output).day.isoformat(),
        "python": platform.python_version(),
        "versions": versions(stages),
        "signatures": {
            "models": model_signatures(recipe),
            "templates": templates(recipe),
            "judges": {judge: sorted(signatures) for judge, signatures in sorted(judges.items())},
        },
        "stages": [
            {"phase": phase, **receipt.model_dump(mode="json", exclude={"versions"})} for phase, receipt in stages
        ],
        "seconds": round(sum(receipt.seconds for _, receipt in stages), 3),
        "totals": [row.model_dump(mode="json") for row in totals],
        "left_out": [row.model_dump(mode="json") for row in left_out],
    }
    path = recipe.output / MANIFEST
    write_json(path, content)
    return path
