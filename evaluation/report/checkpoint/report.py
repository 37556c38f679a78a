"""The report stage: two judged evaluations in, report.json, report.md, one self-contained page and its tables out.

A report prints the recipe beside the numbers. When the recipe was changed after the run, or only for the report, the two
would not belong together, and nobody could see it: the run is held to its recipe first.
"""

import json
from collections.abc import Iterator
from typing import Any

from ....config import Recipe
from ....errors import DataError, ModelError
from ....phase_stages import phase_stages
from ....records import LeftOut
from ....runfolder.phases import (
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
from ....runfolder.processes import refuse_held
from ....runfolder.stages import Counts, Receipt, Stage, read_receipt
from ....storage import file_digest, parse_file, read_text, write_json, write_text
from ....text.mistakes import listed
from ...gate.baseline import Baseline
from ...gate.decide import gated
from ...gate.limits import GateRequest
from ...pages.html import TEMPLATES
from ...pages.write import DETAILS, PAGE, TABLES, write_page
from ..named import REPORT_PAGE
from ..people.ratings import RatingsFile
from ..systems.contents import SCHEMA, Report
from .build import build_report
from .page import page
from .probe import inactive_because, probe
from .provenance import REPORT, write_manifest

JSON, MARKDOWN, PROBE = "report.json", "report.md", "probe.json"
PROBE_FORMAT = "evenhand-probe/2"
READ = (REQUESTS, CANDIDATES, FAILURES, JUDGEMENTS, GROUPS, LEDGER, PAIRS, TRAINING)


class ProbeCounts(Counts):
    """Whether the adapter changes what is generated, and by how many summaries that was seen."""

    active: bool
    probes: int


class ReportCounts(Counts):
    """Counts of the report's content."""

    differences: int
    warnings: int
    left_out: tuple[LeftOut, ...] = ()


def report(
    recipe: Recipe,
    request: GateRequest | None = None,
    baseline: Baseline | None = None,
    ratings: RatingsFile | None = None,
) -> tuple[Receipt, bool]:
    """Write <output>/report/ and the run's manifest.json; the receipt, and whether the report was there already.

    Args:
        recipe: the run's.
        request: limits of a gate, whose verdicts stand on the report.
        baseline: an earlier report; limits are then about the change since.
        ratings: people's, of some of the summaries.

    Raises:
        DataError: a stage is not finished, or ran with another recipe; two evaluations cannot be compared, or
            the ratings are wrong.
        StorageError: another command works in the run folder, or it cannot be written.
        ModelError: the trained adapter changes nothing, or was not served; the report is written first and says so.
    """
    # what has not finished may be under way
    refuse_held(recipe.output)
    check_finished(recipe)
    with hold_run(recipe):
        last = phases(recipe)[-1]
        is_trained = last.after_round is not None and last.adapter is not None and last.adapter.is_dir()
        probed = _probe(last) if is_trained else None
        stage = report_stage(recipe, request, ratings)

        def work() -> ReportCounts:
            built = gated(build_report(recipe, probed, ratings), REPORT_PAGE, request, baseline)
            write_text(stage.folder / JSON, built.model_dump_json(indent=2) + "\n")
            write_page(page(built), stage.folder, MARKDOWN)
            return ReportCounts(differences=len(built.differences), warnings=len(built.warnings))

        receipt, reused = stage.run(work)
        write_manifest(recipe)
    if probed and (why := inactive_because(probed)):
        raise ModelError(
            f"{last.adapter}: the adapter is INACTIVE: {why}, so {stage.folder / PAGE} compares the model with itself; look at "
            "the learning rate, the training log and generate.adapter"
        )
    return receipt, reused


def check_finished(recipe: Recipe) -> None:
    """Refuse to report on anything but a finished run of this very recipe.

    Raises:
        DataError: a stage has not finished, ran with another recipe or seed, or its files were changed since. The first such
            stage of every phase is named.
    """
    if not any((phase.folder / "receipts").is_dir() for phase in phases(recipe)):
        raise DataError(
            f"{recipe.output}: nothing has been run there yet; run: evenhand loop RECIPE, with the same --set"
        )
    first_mistakes = (next(_mistakes(phase), None) for phase in phases(recipe))
    mistakes = [mistake for mistake in first_mistakes if mistake]
    if mistakes:
        raise DataError(
            f"{recipe.output}: the report would state a recipe that did not make its numbers\n{listed(mistakes)}\n"
            "run: evenhand loop RECIPE, with the same --set; or report on the recipe and the --set that the run was made with"
        )


def _mistakes(phase: Phase) -> Iterator[str]:
    """The mistakes of a phase's stages, in their order; later ones are looked at only when asked for."""
    for name, make in phase_stages(phase).items():
        if name != "train" and not phase.has_candidates:
            continue
        receipt = read_receipt(phase.folder / "receipts" / f"{name}.json")
        if receipt is None:
            yield f"{phase.name}: stage {name!r} has not finished"
            continue
        stage = make()
        if receipt.inputs != stage.key:
            yield f"{phase.name}: stage {name!r} ran with another recipe, another seed or other files"
        elif stage.receipt() is None:
            yield f"{phase.name}: files of stage {name!r} were changed or taken away since it finished"


def report_stage(recipe: Recipe, request: GateRequest | None = None, ratings: RatingsFile | None = None) -> Stage:
    """The stage, with everything the report depends on; a report without a gate does not depend on one."""
    folder = recipe.output / REPORT
    files = {path.name: path for path in (folder / PROBE, TEMPLATES)}
    for phase in phases(recipe):
        paths = [*(phase.folder / name for name in READ), *sorted((phase.folder / "receipts").glob("*.json"))]
        files |= {str(path.relative_to(recipe.output)): path for path in paths}
    files |= {str(path): path / "calibration.json" if path.is_dir() else path for path in recipe.calibration}
    inputs: dict[str, object] = {
        "format": SCHEMA,
        "recipe": recipe.model_dump(mode="json"),
        "files": {name: file_digest(path) for name, path in files.items() if path.exists()},
    }
    if request is not None:
        inputs["gate"] = [*(repr(limit) for limit in request.limits), request.is_strict]
        inputs["baseline"] = file_digest(request.baseline) if request.baseline else None
    if ratings is not None:
        inputs["ratings"] = [file_digest(ratings.path), *ratings.dimensions, *ratings.scales]
    return Stage("report", folder, inputs, (JSON, MARKDOWN, PAGE, DETAILS, TABLES))


def read_report(recipe: Recipe) -> Report:
    """The report that was written.

    Raises:
        StorageError: there is none.
        DataError: it is not a report of this version.
    """
    path = recipe.output / REPORT / JSON
    try:
        return parse_file(read_text(path), Report)
    except DataError as error:
        raise DataError(
            f"{path}: is not a report of this version; run evenhand report RECIPE again: {error}"
        ) from error


def logged_numbers(recipe: Recipe) -> dict[str, float]:
    """The means of the report's scores and differences with their bounds: "scores/rerank/coverage/left", "…/left/low"."""
    contents = read_report(recipe)
    numbers: dict[str, float] = {}
    for kind, scores in (("scores", contents.scores), ("differences", contents.differences)):
        for estimate in scores:
            name = "/".join([kind, estimate.pair, estimate.measure, estimate.side or "all"])
            bounds = {name: estimate.value, f"{name}/low": estimate.low, f"{name}/high": estimate.high}
            numbers |= {key: value for key, value in bounds.items() if value is not None}
    return numbers


def _probe(phase: Phase) -> dict[str, Any]:
    """The adapter probe's result, from its own stage, so that a new page does not load the model again."""
    inputs = {
        "model": phase.recipe.model.model_dump(mode="json"),
        "adapter": file_digest(phase.adapter) if phase.adapter else None,
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
    probed: dict[str, Any] = json.loads(read_text(folder / PROBE))
    return probed
