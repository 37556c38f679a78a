"""Replicas on a Ray cluster against the same number of them on this machine, one after the other in one run.

Engines are scripted and take as long over a batch as they are told, so what differs is the start of processes and the way of
batches and answers. A cluster must be there, of this machine alone: `ray start --head --num-cpus REPLICAS`.
"""

import shutil
import tempfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from ..config import Recipe
from ..generate.stage import generate
from ..loop import work_in
from ..runfolder.phases import BASE, open_phase
from ..runfolder.ray_workers import connect
from ..storage import write_jsonl
from .measure import Contender, Counts, compare
from .report import Report, bench_options, count, run_bench
from .size import document_sets, recipe_in

HERE, RAY = "replicas", "executor: ray"


def main(argv: Sequence[str] | None = None) -> None:
    """Run the benchmark."""
    options = bench_options(
        "replicas",
        __doc__,
        argv,
        {"batches": 4, "seconds": 0.1, "repeats": 1},
        replicas=count(2, "engines"),
        batches=count(240, "batches of two requests, each with nine candidates"),
        seconds={
            "type": float,
            "default": 0.5,
            "metavar": "S",
            "help": "that an engine takes over a batch (%(default)s)",
        },
    )
    connect()
    folder = Path(tempfile.mkdtemp(prefix="evenhand-replicas-"))
    try:
        write_jsonl(folder / "corpus.jsonl", document_sets(options.batches))
        section = {
            "requests_per_batch": 2,
            "replicas": options.replicas,
            "engine": {"seconds_per_batch": options.seconds},
        }
        values = recipe_in(folder, 9).model_dump(mode="json")
        values["generate"] |= section
        contenders = [
            Contender(name, partial(_generate, folder / executor, values | {"executor": executor}))
            for name, executor in ((HERE, "local"), (RAY, "ray"))
        ]
        title = f"{options.batches} batches of {options.seconds:g} s, {options.replicas} engines"
        report = Report("replicas", vars(options))
        report.add(compare(title, contenders, options.repeats, HERE, warm_up=False))
        report.finish(["seconds of the whole stage, with the start of its processes"])
    finally:
        shutil.rmtree(folder)


def _generate(output: Path, values: dict[str, object]) -> Counts:
    recipe = Recipe.model_validate(values | {"output": output})
    with work_in(recipe):
        receipt, _ = generate(open_phase(recipe, BASE))
    shutil.rmtree(output)
    return {"candidates": receipt.counts["candidates"]}


if __name__ == "__main__":
    run_bench(main)
