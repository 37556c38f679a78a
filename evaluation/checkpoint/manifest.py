"""manifest.json: what a run was made with, what it made and what it left out, in one file a program can read."""

import platform
from pathlib import Path
from typing import Any

from ...config import Recipe
from ...runfolder.phases import JUDGEMENTS, phases
from ...runfolder.stages import read_receipt
from ...storage import digest, iter_jsonl, write_json
from ..systems.systems import Signed
from .ledger import read_ledger
from .provenance import model_signatures, read_receipts, stage_rows, templates, versions

# folder of the report in a run
REPORT = "report"
NAME = "manifest.json"
FORMAT = "evenhand-manifest/1"


def write_manifest(recipe: Recipe) -> Path:
    """Write <output>/manifest.json from the recipe and all receipts so far; its path.

    Raises:
        DataError: a ledger is not of its form.
        StorageError: the file cannot be written.
    """
    path = recipe.output / NAME
    write_json(path, manifest(recipe))
    return path


def manifest(recipe: Recipe) -> dict[str, Any]:
    """What manifest.json holds."""
    receipts = read_receipts(recipe)
    found = sorted((recipe.output / REPORT / "receipts").glob("*.json"))
    reports = [(REPORT, receipt) for path in found if (receipt := read_receipt(path))]
    totals, left_out = read_ledger(recipe, stage_rows(receipts))
    stages = receipts + reports
    return {
        "format": FORMAT,
        "name": recipe.name,
        "recipe": digest(recipe),
        "seeds": {"run": recipe.seed, "bootstrap": recipe.seed},
        "python": platform.python_version(),
        "versions": versions(stages),
        "signatures": {
            "models": model_signatures(recipe),
            "templates": templates(recipe),
            "judges": _judge_signatures(recipe),
        },
        "stages": [
            {"phase": phase, **receipt.model_dump(mode="json", exclude={"versions"})} for phase, receipt in stages
        ],
        "seconds": round(sum(receipt.seconds for _, receipt in stages), 3),
        "totals": [row.model_dump(mode="json") for row in totals],
        "left_out": [row.model_dump(mode="json") for row in left_out],
    }


def _judge_signatures(recipe: Recipe) -> dict[str, list[str]]:
    """Judge -> signatures of its judgements; more than one when it changed between phases."""
    found: dict[str, set[str]] = {}
    for phase in phases(recipe):
        path = phase.folder / JUDGEMENTS
        if path.is_file():
            for judgement in iter_jsonl(path, Signed):
                found.setdefault(judgement.judge, set()).add(judgement.signature)
    return {judge: sorted(signatures) for judge, signatures in sorted(found.items())}
