"""The loop: seconds of each step of a run, and the share that is spent outside of models.

The recipe is run from nothing in a folder of its own, without judgements of earlier runs. A step is a process, and its wall
seconds fall into

    start-up   starting the process, imports, reading the recipe, and ending it
    loading    reading weights, starting engines
    models     waiting for a model to answer or to learn: what the run is for
    own        the rest: prompts, journals, scores, pairs, reports

"outside" is the share of the seconds spent outside models, 1 - models / seconds; most of it is start-up and loading, which a
larger corpus does not make longer. "own share" is own / (own + models): what evenhand adds to the models' work.

With --keep-engines each run is followed by one whose engines live as long as it (the recipe's key keep_engines), and what the
two did not write with equal bytes is named; trainings with several threads may round differently by themselves.
"""

import argparse
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from filecmp import cmp
from pathlib import Path
from statistics import median
from time import perf_counter

from .. import models
from ..config.recipe_file import load_recipe
from ..loop import Step, run_loop
from ..preflight import preflight
from ..runfolder.phases import TRAINING
from ..runfolder.processes import environment
from ..runfolder.stages import Receipt, read_receipt
from ..storage import read_text
from .report import FOLDER, Breakdown, Report, bench_options, count, run_bench

QUICKSTART = Path(__file__).parents[1] / "recipes" / "quickstart.yaml"
PARTS = ("start-up", "loading", "models", "own")
# what two equal runs leave with equal bytes
MADE = ("*/*.jsonl", "*/*/*.jsonl", "*/adapter/*.safetensors")

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
    "processes'; its loading is everything outside the trainer, the making of the rows and the saving of the adapter too"
)

# step -> part -> seconds
Spent = dict[str, dict[str, float]]


def main(argv: Sequence[str] | None = None) -> None:
    """Run the benchmark."""
    options = bench_options(
        "loop",
        __doc__,
        argv,
        {},
        repeats=count(1, "runs"),
        recipe={"type": Path, "default": QUICKSTART, "metavar": "FILE", "help": "(the quickstart's)"},
        set={"action": "append", "default": [], "metavar": "KEY=VALUE", "help": "change a key of the recipe"},
        keep_engines={
            "action": "store_true",
            "help": "a run with keep_engines after each run, and their files compared",
        },
        folder={"type": Path, "default": FOLDER / "loop", "help": "a folder for each run is made here (%(default)s)"},
    )
    started = datetime.now(UTC).strftime("%Y%m%d-%H%M%S")
    ways = {"": False} | ({", keep_engines": True} if options.keep_engines else {})
    runs: dict[str, list[Spent]] = {way: [] for way in ways}
    different: list[str] = []
    for repeat in range(options.repeats):
        folders = {way: options.folder / f"{started}-{repeat}{'-kept' if kept else ''}" for way, kept in ways.items()}
        for way, kept in ways.items():
            runs[way].append(_run(options, folders[way], keep_engines=kept))
        if options.keep_engines:
            different += different_files(*(folder / "run" for folder in folders.values()))
    report = Report("loop", vars(options))
    for way, spent in runs.items():
        report.add_breakdown(Breakdown(f"{options.recipe.name}{way} (median of {len(spent)})", _rows(spent)))
    compared = f"with keep_engines other bytes in: {', '.join(different) or 'no file'}"
    report.finish([NOTE, compared] if options.keep_engines else [NOTE])


def different_files(first: Path, second: Path) -> list[str]:
    """Candidates, judgements, pairs and adapters of a run's folder that another does not have, byte for byte."""
    files = sorted(path.relative_to(first) for kind in MADE for path in first.glob(kind))
    return [str(path) for path in files if not (second / path).is_file() or not cmp(first / path, second / path, False)]


def _run(options: argparse.Namespace, folder: Path, *, keep_engines: bool) -> Spent:
    """Run the recipe in a new folder: the seconds of each step by part."""
    changes = [*(QUICK if options.quick else ()), *options.set, f"output={folder / 'run'}"]
    changes += ["keep_engines=true"] if keep_engines else []
    recipe = load_recipe(options.recipe, changes)
    preflight(recipe)
    # done once on a machine, so before the clock runs: GGUF files are turned into folders
    asked = [each.model for judge in recipe.judges.values() for each in judge.language_models.values()]
    for section in [recipe.model, *asked]:
        models.locate(section.name)
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

    with fresh_cache(folder / "cache"):
        run_loop(recipe, running=running, on_done=on_done)
    return found


@contextmanager
def fresh_cache(folder: Path) -> Iterator[None]:
    """Within it, a cache of this folder's for the processes that are started; converted models are shared with the usual one."""
    usual = models.cache_folder() / "models"
    usual.mkdir(parents=True, exist_ok=True)
    folder.mkdir(parents=True, exist_ok=True)
    if not (folder / "models").exists():
        (folder / "models").symlink_to(usual.resolve(), target_is_directory=True)
    with environment(EVENHAND_CACHE=str(folder.resolve())):
        yield


def all_receipts(folder: Path) -> list[Receipt]:
    """The receipts of all stages that a folder keeps."""
    found = map(read_receipt, sorted((folder / "receipts").glob("*.json")))
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
    rows = []
    for name, found in ({name: [run[name] for run in runs] for name in runs[0]} | {"all steps": totals}).items():
        seconds = {part: median(run[part] for run in found) for part in PARTS}
        working = seconds["own"] + seconds["models"]
        whole = median(sum(run.values()) for run in found)
        row: dict[str, str | float | None] = {
            "step": name,
            "seconds": round(whole, 3),
            **{part: round(value, 3) for part, value in seconds.items()},
            "outside": round(1 - seconds["models"] / whole, 4),
            # what a training spends on its own cannot be separated from loading
            "own share": None if name.endswith(" train") or not working else round(seconds["own"] / working, 4),
        }
        rows.append(row)
    return rows


if __name__ == "__main__":
    run_bench(main)
