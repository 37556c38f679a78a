"""The report stage: two judged evaluations in, report.json, report.md, one self-contained page and its tables out."""

import json
from pathlib import Path
from typing import Any

from ...config import Recipe
from ...errors import ModelError
from ...records import LeftOut
from ...runfolder.phases import (
    CANDIDATES,
    FAILURES,
    GROUPS,
    JUDGEMENTS,
    LEDGER,
    PAIRS,
    REQUESTS,
    TRAINING,
    Phase,
    hold_run,
    phases,
)
from ...runfolder.processes import refuse_held
from ...runfolder.stages import Counts, Receipt, Stage
from ...storage import file_digest, parse_line, read_text, write_json, write_text
from ..pages.html import TEMPLATES
from ..pages.write import PAGE, TABLES, write_page
from ..systems.contents import Report
from .build import build_report
from .finished import check_finished
from .manifest import REPORT, write_manifest
from .page import page
from .probe import probe
from .served import inactive_because

JSON, MARKDOWN, PROBE = "report.json", "report.md", "probe.json"
# raised when the same inputs give another report
FORMAT = "evenhand-report/4"
PROBE_FORMAT = "evenhand-probe/2"


class ProbeCounts(Counts):
    """Whether the adapter changes what is generated, and by how many summaries that was seen."""

    active: bool
    probes: int


class ReportCounts(Counts):
    """What the report holds."""

    differences: int
    warnings: int
    left_out: tuple[LeftOut, ...] = ()


def report(recipe: Recipe) -> tuple[Receipt, bool]:
    """Write <output>/report/ and the run's manifest.json; the receipt, and whether the report was there already.

    Raises:
        DataError: a stage is not finished, or ran with another recipe; or two evaluations cannot be compared.
        StorageError: another command works in the run folder, or it cannot be written.
        ModelError: the trained adapter changes nothing, or was not served; the report is written first and says so.
    """
    # what has not finished may be under way
    refuse_held(recipe.output)
    check_finished(recipe)
    with hold_run(recipe):
        trained = _trained_phase(recipe)
        probed = _probe(trained) if trained else None
        stage = report_stage(recipe)
        folder = stage.folder
        receipt, reused = stage.run(lambda: _work(recipe, folder, probed))
        write_manifest(recipe)
    if trained and probed and (why := inactive_because(probed)):
        raise ModelError(
            f"{trained.adapter}: the adapter is INACTIVE: {why}, so {folder / PAGE} compares the model with itself; look at "
            "the learning rate, the training log and generate.adapter"
        )
    return receipt, reused


def report_stage(recipe: Recipe) -> Stage:
    """The stage, with everything the report depends on."""
    folder = recipe.output / REPORT
    return Stage("report", folder, _inputs(recipe, folder), (JSON, MARKDOWN, PAGE, TABLES))


def read_report(recipe: Recipe) -> Report:
    """The report that was written.

    Raises:
        StorageError: there is none.
        DataError: it is no report of this version.
    """
    return parse_line(read_text(recipe.output / REPORT / JSON), Report)


def logged_numbers(recipe: Recipe) -> dict[str, float]:
    """The means of the report's scores and differences with their bounds: "scores/rerank/coverage/left", "…/left/low"."""
    found = read_report(recipe)
    numbers: dict[str, float] = {}
    for kind, estimates in (("scores", found.scores), ("differences", found.differences)):
        for each in estimates:
            name = "/".join([kind, each.subject, each.measure, each.side or "all"])
            bounds = {name: each.mean, f"{name}/low": each.low, f"{name}/high": each.high}
            numbers |= {key: value for key, value in bounds.items() if value is not None}
    return numbers


def _trained_phase(recipe: Recipe) -> Phase | None:
    """The evaluation of the trained policy, when its adapter exists."""
    last = phases(recipe)[-1]
    return last if last.after_round is not None and last.adapter and last.adapter.is_dir() else None


def _probe(phase: Phase) -> dict[str, Any]:
    """The adapter probe's result, from its own stage, so that a new page does not load the model again."""
    adapter = phase.adapter
    inputs = {
        "model": phase.recipe.model.model_dump(mode="json"),
        "adapter": file_digest(adapter) if adapter else None,
        "requests": file_digest(phase.folder / REQUESTS),
        "candidates": file_digest(phase.folder / CANDIDATES),
        "format": PROBE_FORMAT,
    }
    folder = phase.recipe.output / REPORT

    def work() -> ProbeCounts:
        result = probe(phase)
        write_json(folder / PROBE, result)
        return ProbeCounts(active=result["active"], probes=len(result["probes"]))

    Stage("probe", folder, inputs, (PROBE,)).run(work)
    found: dict[str, Any] = json.loads(read_text(folder / PROBE))
    return found


def _inputs(recipe: Recipe, folder: Path) -> dict[str, Any]:
    files = [folder / PROBE, TEMPLATES]
    for phase in phases(recipe):
        names = (REQUESTS, CANDIDATES, FAILURES, JUDGEMENTS, GROUPS, LEDGER, PAIRS, TRAINING)
        files += [phase.folder / name for name in names]
        files += sorted((phase.folder / "receipts").glob("*.json"))
    return {
        "format": FORMAT,
        "recipe": recipe.model_dump(mode="json"),
        "files": {_name(path, recipe): file_digest(path) for path in files if path.exists()},
    }


def _name(path: Path, recipe: Recipe) -> str:
    return str(path.relative_to(recipe.output)) if path.is_relative_to(recipe.output) else path.name


def _work(recipe: Recipe, folder: Path, probed: dict[str, Any] | None) -> ReportCounts:
    built = build_report(recipe, probed)
    write_text(folder / JSON, built.model_dump_json(indent=2) + "\n")
    write_page(page(built), folder, MARKDOWN)
    return ReportCounts(differences=len(built.differences), warnings=len(built.warnings))
