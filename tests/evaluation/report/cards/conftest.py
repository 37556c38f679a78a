"""A finished run with pairs, whose report and manifest lie on disk."""

import json
from pathlib import Path
from typing import Any

import pytest

from evenhand.config.recipe_file import dump_recipe
from evenhand.evaluation.report.checkpoint.build import build_report
from evenhand.evaluation.report.checkpoint.provenance import write_manifest
from evenhand.records import Judgement
from evenhand.rerank.pairs import preference_pair
from evenhand.runfolder.files import with_groups
from evenhand.runfolder.phases import JUDGEMENTS, LEDGER, PAIRS, TRAINING, open_phase
from evenhand.runfolder.stages import Counts, Stage
from evenhand.storage import read_jsonl, write_json, write_jsonl, write_text

SCORES = {"t/left": [(0.1,), (0.5,), (0.3,)], "u/right": [(0.9,), (0.25,), (None,)]}
TRAINING_FILE = {
    "policy": "policy = base + A(new, trainable); reference = base", "steps": 4, "learning_rate": 0.0004, "beta": 0.1,
    "counts": {"kept": {"left": 2, "right": 1}, "first_loss": 0.693, "last_loss": 0.512}, "log_history": [],
}  # fmt: skip
LEFT_OUT = [
    {"stage": "pairs", "side": "left", "reason": "margin", "count": 1},
    {"stage": "pairs", "side": "right", "reason": "unscored", "count": 2},
]


@pytest.fixture
def run_folder(small_run: Any) -> Path:
    """Pairs (margins): t/left 1 over 0 (0.4) and 1 over 2 (0.2); u/right 0 over 1 (0.65)."""
    phase = open_phase(small_run.recipe, "round-00")
    small_run.write("round-00", SCORES)
    groups = {request.id: group for request, group in with_groups(phase.folder)}
    order = (("t/left", 1, 0), ("t/left", 1, 2), ("u/right", 0, 1))
    made = [
        preference_pair(groups[i], groups[i].candidates[better], groups[i].candidates[worse])
        for i, better, worse in order
    ]
    write_jsonl(phase.folder / PAIRS, made)
    write_json(phase.folder / LEDGER, {"rows": LEFT_OUT})
    write_json(phase.folder / TRAINING, TRAINING_FILE)
    judgements = read_jsonl(phase.folder / JUDGEMENTS, Judgement)
    write_jsonl(
        phase.folder / JUDGEMENTS,
        [
            each.model_copy(update={"raw": f"I give <b>{each.score}</b>"}) if each.request_id == "t/left" else each
            for each in judgements
        ],
    )
    small_run.finish()
    return write_report(small_run)


def write_report(run: Any) -> Path:
    """The report without its probe, which would open the model; the run's folder."""
    folder: Path = run.recipe.output
    text = json.dumps(build_report(run.recipe, None).model_dump(mode="json"))

    def work() -> Counts:
        write_text(folder / "report" / "report.json", text)
        for name in ("index.html", "report.md", "tables/ledger.csv"):
            write_text(folder / "report" / name, "as report.json has it\n")
        return Counts()

    Stage("report", folder / "report", {}, ("report.json", "index.html", "report.md", "tables")).run(work)
    (run.recipe.output / "date.txt").write_text("2026-11-28\n")
    write_manifest(run.recipe)
    write_text(folder / "recipe.yaml", dump_recipe(run.recipe))
    return folder
