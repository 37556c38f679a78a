"""The loop: seconds of each step of a run, and the share that is spent outside of models.

The recipe is run from nothing in a folder of its own, without judgements of earlier runs. A step is a process, and its wall
seconds fall into

    start-up   starting the process, imports, reading the recipe, and ending it
    loading    reading weights, starting engines
    models     waiting for a model to answer or to learn: what the run is for
    own        the rest: prompts, journals, scores, pairs, reports

"outside" is the share of the seconds spent outside models, 1 - models / seconds; most of it is start-up and loading, which a
larger corpus does not make longer. "own share" is own / (own + models): what evenhand adds to the models' work.
"""

import argparse
import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from time import perf_counter

from .. import models
from ..config import Recipe
from ..config.recipe_file import load_recipe
from ..loop import Step, run_loop
from ..preflight import preflight
from ..runfolder.phases import TRAINING
from ..runfolder.stages import Receipt, read_receipt
from ..storage import read_text
from . import Breakdown, Report, bench_parser, run_bench
from .report import FOLDER

PARTS = ("start-up", "loading", "models", "own")

# what --quick changes: no model at all, four document sets, no training
QUICK = (
    "model={name: none}",
    "generate.backend=scripted",
    "generate.engine={}",
    "corpus.train={split: train, limit: 2}",
    "corpus.test={split: test, limit: 2}",
    "judges={recall: {kind: rouge}, precision: {kind: rouge, measure: precision}}",
    "reward={judges: [recall]}",
    "evaluation={judges: [precision], resamples: 100}",
    "rounds=0",
)

NOTE = (
    "outside = 1 - models / seconds; own share = own / (own + models). The start-up of a training is the launcher's and its "
    "processes'; its loading holds everything outside the trainer, the making of the rows and the saving of the adapter too"
)

# step -> part -> seconds
Spent = dict[str, dict[str, float]]


def main(argv: Sequence[str] | None = None) -> None:
    """Run the benchmark."""
    options = _parser().parse_args(argv)
    started = datetime.now(UTC).strftime("%Y%m%d-%H%M%S")
    runs = [_run(options, options.folder / f"{started}-{repeat}") for repeat in range(options.repeats)]
    report = Report("loop", vars(options))
    report.add_breakdown(Breakdown(f"{options.recipe.name} (median of {len(runs)})", _rows(runs)))
    report.finish([NOTE])


def _run(options: argparse.Namespace, folder: Path) -> Spent:
    """Run the recipe in a new folder: the seconds of each step by part."""
    changes = [*(QUICK if options.quick else ()), *options.set, f"output={folder / 'run'}"]
    recipe = load_recipe(options.recipe, changes)
    preflight(recipe)
    _convert_models(recipe)
    began: dict[str, float] = {}
    found: Spent = {}

    @contextmanager
    def running(step: Step) -> Iterator[None]:
        began[step.name] = perf_counter()
        yield

    def on_done(step: Step, receipt: Receipt, reused: bool) -> None:
        assert not reused, f"{step.name} was done before it was timed"
        wall = perf_counter() - began[step.name]
        # the report's step keeps a stage beside its own
        receipts = [receipt] if step.phase else all_receipts(step.folder(recipe))
        found[step.name] = step_seconds(wall, step, receipts)

    with _fresh_judgements(folder / "cache"):
        run_loop(recipe, running=running, on_done=on_done)
    return found


def all_receipts(folder: Path) -> list[Receipt]:
    """The receipts of all stages that a folder keeps."""
    found = (read_receipt(path) for path in sorted((folder / "receipts").glob("*.json")))
    return [receipt for receipt in found if receipt]


def step_seconds(wall: float, step: Step, receipts: Sequence[Receipt]) -> dict[str, float]:
    """The wall seconds of a step's process by part; they sum to `wall`."""
    worked = sum(receipt.seconds for receipt in receipts)
    loading, inside = (sum(receipt.spent.get(part, 0.0) for receipt in receipts) for part in ("loading", "models"))
    if step.verb == "train" and not inside:
        # another process did the work and has left its own account
        assert step.phase is not None, "a training belongs to a round"
        record = json.loads(read_text(step.phase.folder / TRAINING))
        worked = record["seconds"]
        inside = next(entry["train_runtime"] for entry in record["log_history"] if "train_runtime" in entry)
        loading = worked - inside
    return {"start-up": wall - worked, "loading": loading, "models": inside, "own": worked - loading - inside}


def _rows(runs: Sequence[Spent]) -> list[dict[str, str | float | None]]:
    """A row for each step and one for all of them, each value the median over the runs."""
    totals = [{part: sum(parts[part] for parts in run.values()) for part in PARTS} for run in runs]
    each = {name: [run[name] for run in runs] for name in runs[0]} | {"all steps": totals}
    return [_row(name, parts) for name, parts in each.items()]


def _row(name: str, runs: Sequence[dict[str, float]]) -> dict[str, str | float | None]:
    seconds = {part: median(run[part] for run in runs) for part in PARTS}
    working = seconds["own"] + seconds["models"]
    whole = median(sum(run.values()) for run in runs)
    # a training does not tell its own seconds from those of loading
    own_share = seconds["own"] / working if working and not name.endswith(" train") else None
    return {
        "step": name,
        "seconds": round(whole, 3),
        **{part: round(value, 3) for part, value in seconds.items()},
        "outside": round(1 - seconds["models"] / whole, 4),
        "own share": None if own_share is None else round(own_share, 4),
    }


def _convert_models(recipe: Recipe) -> None:
    """Do what is done once on a machine: turn GGUF files into folders."""
    asked = [each.model for options in recipe.judges.values() for each in options.language_models.values()]
    for section in [recipe.model, *asked]:
        models.locate(section.name, section.revision)


@contextmanager
def _fresh_judgements(folder: Path) -> Iterator[None]:
    """A cache without judgements for the steps' processes; converted models are shared with the usual one."""
    usual = models.cache_folder()
    (usual / "models").mkdir(parents=True, exist_ok=True)
    folder.mkdir(parents=True)
    (folder / "models").symlink_to((usual / "models").resolve(), target_is_directory=True)
    before = os.environ.get("EVENHAND_CACHE")
    os.environ["EVENHAND_CACHE"] = str(folder.resolve())
    try:
        yield
    finally:
        if before is None:
            del os.environ["EVENHAND_CACHE"]
        else:
            os.environ["EVENHAND_CACHE"] = before


def _parser() -> argparse.ArgumentParser:
    parser = bench_parser("loop", __doc__ or "", repeats=1)
    shipped = Path(__file__).parents[1] / "recipes" / "quickstart.yaml"
    parser.add_argument("--recipe", type=Path, default=shipped, metavar="FILE", help="(the quickstart's)")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="change a key of the recipe")
    parser.add_argument(
        "--folder", type=Path, default=FOLDER / "loop", help="a folder for each run is made here (%(default)s)"
    )
    return parser


if __name__ == "__main__":
    run_bench(main)
