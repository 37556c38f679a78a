"""The same candidates made in every way that work is spread, one after the other in one run.

| way | what works |
| --- | --- |
| one | one engine, in the command's own process |
| replicas | several engines, each a process of this machine |
| ray | `executor: ray`: as many engines as actors of a Ray cluster, `ray start --head --num-cpus REPLICAS` |
| slurm | an array of as many shards in the cluster that sbatch reaches, and the job that puts them together |

Engines are scripted and take as long over a batch as they are told, so what differs is the start of processes and the way of
batches and answers. Clusters must be there, of this machine alone.
"""

import shutil
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from ..config import Recipe
from ..errors import DataError
from ..generate.stage import GenerateCounts, generate
from ..loop import Step, work_in
from ..plugins.ray.workers import connect
from ..plugins.slurm.queue import still_queued, submit
from ..plugins.slurm.slurm import Nodes, Scripts, SlurmJob
from ..runfolder.phases import BASE, open_phase
from ..runfolder.stages import Receipt
from ..storage import write_jsonl
from .measure import Contender, Counts, compare
from .report import Report, bench_options, count, run_bench
from .size import document_sets, recipe_in

ONE, REPLICAS, RAY, SLURM = "one", "replicas", "ray", "slurm"
WAYS = (ONE, REPLICAS, RAY, SLURM)
# seconds between looks at SLURM's queue
POLL = 0.2


def main(argv: Sequence[str] | None = None) -> None:
    """Run the benchmark."""
    options = bench_options(
        "replicas",
        __doc__,
        argv,
        {"batches": 4, "seconds": 0.1, "repeats": 1},
        ways={"nargs": "+", "choices": WAYS, "default": WAYS, "help": "what is compared (all)"},
        replicas=count(2, "engines"),
        batches=count(240, "batches of two requests, each with nine candidates"),
        seconds={
            "type": float,
            "default": 0.5,
            "metavar": "S",
            "help": "that an engine takes over a batch (%(default)s)",
        },
    )
    if RAY in options.ways:
        connect()
    # a folder that jobs of a cluster see, too
    folder = Path(tempfile.mkdtemp(prefix="evenhand-replicas-"))
    try:
        write_jsonl(folder / "corpus.jsonl", document_sets(options.batches))
        engine = {"seconds_per_batch": options.seconds}
        contenders = []
        for way in options.ways:
            values = recipe_in(folder, 9).model_dump(mode="json")
            n = 1 if way in {ONE, SLURM} else options.replicas
            values["generate"] |= {"requests_per_batch": 2, "replicas": n, "engine": engine}
            values |= {"output": folder / way, "executor": "ray" if way == RAY else "local"}
            work = partial(_submitted, n_shards=options.replicas) if way == SLURM else _generated
            contenders.append(Contender(way, partial(_counted, work, Recipe.model_validate(values))))
        title = f"{options.batches} batches of {options.seconds:g} s, {options.replicas} engines but for '{ONE}'"
        report = Report("replicas", vars(options))
        baselines = [way for way in (ONE, REPLICAS) if way in options.ways] or options.ways[:1]
        report.add(compare(title, contenders, options.repeats, baselines, warm_up=False))
        report.finish(["seconds of the whole stage, with the start of its processes, or of SLURM's jobs"])
    finally:
        shutil.rmtree(folder)


def _counted(work: Callable[[Recipe], Receipt], recipe: Recipe) -> Counts:
    receipt = work(recipe)
    shutil.rmtree(recipe.output)
    return {"candidates": receipt.counted(GenerateCounts).candidates}


def _generated(recipe: Recipe) -> Receipt:
    with work_in(recipe):
        return generate(open_phase(recipe, BASE))[0]


def _submitted(recipe: Recipe, n_shards: int) -> Receipt:
    """By jobs of SLURM, as `evenhand run slurm` writes them for the stage; nothing is left to do here but to read its receipt."""
    step = (Step("generate", open_phase(recipe, BASE)),)
    queued = submit(Scripts(recipe, Nodes(), (SlurmJob(step, n_shards), SlurmJob(step))))
    while still_queued(each.id for each in queued):
        time.sleep(POLL)
    with work_in(recipe):
        receipt, was_done = generate(open_phase(recipe, BASE))
    if not was_done:
        raise DataError(f"{recipe.output}/slurm/logs: SLURM's jobs have not done the stage")
    return receipt


if __name__ == "__main__":
    run_bench(main)
