"""Size: peak memory and processor seconds of each stage and of the report, as the number of requests grows.

Each stage is a process of its own, as in a run, on document sets of about 100 words with two sides; candidates come from the
scripted backend and judges ask no model, so what is measured is evenhand's own. A process's peak is the most memory that it ever
held resident, Python and libraries included. Stages read and write request by request: what grows with the requests are a few
numbers for each, and the corpus.

With --shards, candidates and judgements are made by that many processes, one after another, and then put together: what many
machines leave on a disk that they share.
"""

import os
import random
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from ..config import Recipe
from ..config.recipe_file import dump_recipe
from ..errors import DataError
from ..records import Document, DocumentSet
from ..storage import write_jsonl, write_text
from .report import FOLDER, Breakdown, Report, bench_options, count, run_bench

PHASE = "evaluation/base"
# the stages that shards share
SHARED = ("generate", "judge")
SIDES = ("left", "right")
# documents of each side of a set, their sentences, and words of each
DOCUMENTS, SENTENCES, WORDS = 2, 2, 12

NOTE = (
    "peak MiB: most memory that the step's process held resident, Python and libraries included; of shards, the largest; "
    "seconds: of the processor, of shards together; disk MB: size of the run folder after the step; "
    "growth: seconds in times those of the row above, for as many times the requests as the last column says"
)


@dataclass(frozen=True)
class Used:
    """What the processes of a step used.

    Attributes:
        peak: bytes that the one held resident that held most.
        seconds: of the processor, together.
        disk: bytes of the run folder after them.
    """

    peak: int
    seconds: float
    disk: int


# of each step
Measured = dict[str, Used]


def main(argv: Sequence[str] | None = None) -> None:
    """Run the benchmark."""
    options = bench_options(
        "size",
        __doc__,
        argv,
        {"requests": [20, 40]},
        repeats=count(1, "not used here, everything is run once"),
        requests=count([1_000, 10_000, 100_000]),
        candidates=count(9, "of each request"),
        shards=count(1, "that make candidates and judgements, and are merged"),
        folder={"type": Path, "default": FOLDER / "size", "help": "runs are made here and deleted (%(default)s)"},
    )
    report = Report("size", vars(options))
    started = datetime.now(UTC).strftime("%Y%m%d-%H%M%S")
    found: dict[int, Measured] = {}
    for n in sorted(options.requests):
        found[n] = measure(n, options.candidates, options.shards, options.folder / f"{started}-{n}")
        report.breakdowns = []
        report.add_breakdown(Breakdown(f"{options.candidates} candidates a request", list(_rows(found))))
    report.finish([NOTE])


def measure(n_requests: int, n_candidates: int, n_shards: int, folder: Path) -> Measured:
    """What each step of a run of that size used; it is made in `folder` and then deleted."""
    folder.mkdir(parents=True)
    try:
        write_jsonl(folder / "corpus.jsonl", document_sets(n_requests // len(SIDES)))
        write_text(folder / "recipe.yaml", dump_recipe(recipe_in(folder, n_candidates)))
        return {name: _step(commands, folder) for name, commands in steps(n_shards).items()}
    finally:
        shutil.rmtree(folder)


def steps(n_shards: int) -> dict[str, list[list[str]]]:
    """Commands of each step, without the recipe: one, or one of each shard."""
    phase = ["--phase", PHASE]
    found = {}
    for stage in SHARED:
        if n_shards == 1:
            found[stage] = [[stage, *phase]]
        else:
            found[f"{stage}, shards"] = [[stage, *phase, "--shard", f"{i}/{n_shards}"] for i in range(n_shards)]
            found[f"{stage}, merge"] = [["run merge", *phase]]
    return found | {"rerank": [["rerank", *phase]], "report": [["report"]]}


def document_sets(count: int) -> Iterator[DocumentSet]:
    """Sets of two sides and about 100 words, no two alike."""
    for number in range(count):
        generator = random.Random(number)  # noqa: S311
        documents = (
            Document(id=f"{side}-{place}", text=_text(generator), attributes={"stance": side})
            for side in SIDES
            for place in range(DOCUMENTS)
        )
        yield DocumentSet(id=f"set-{number:06}", topic=f"Topic {number}", documents=tuple(documents))


def _text(drawn: random.Random) -> str:
    def word() -> str:
        return "".join(drawn.choice("bdfglmnprst") + drawn.choice("aeiou") for _ in range(drawn.randint(1, 3)))

    words = [[word() for _ in range(WORDS)] for _ in range(SENTENCES)]
    return " ".join(f"{' '.join(each).capitalize()}." for each in words)


def recipe_in(folder: Path, n_candidates: int) -> Recipe:
    """A run without a model, on `folder`'s corpus.jsonl."""
    return Recipe.model_validate(
        {
            "name": "size",
            "output": folder.resolve() / "run",
            "model": {"name": "none"},
            "corpus": {
                "train": {"split": None},
                "path": str(folder.resolve() / "corpus.jsonl"),
                "attribute": "stance",
                "sides": SIDES,
                "test": {"split": None},
            },
            "generate": {"backend": "scripted", "plans": {"nucleus": {"candidates": n_candidates, "top_p": 0.9}}},
            "judges": {
                "recall": {"kind": "rouge"},
                "precision": {"kind": "rouge", "measure": "precision"},
                "contract": {"kind": "contract"},
                "length": {"kind": "length"},
            },
            "reward": {"judges": ["recall", "contract"]},
            "evaluation": {"judges": ["precision", "length"]},
            "rounds": 0,
        }
    )


def _step(commands: Sequence[Sequence[str]], folder: Path) -> Used:
    used = [_process(command, folder) for command in commands]
    disk = sum(path.stat().st_size for path in (folder / "run").rglob("*") if path.is_file())
    return Used(max(peak for peak, _ in used), sum(seconds for _, seconds in used), disk)


def _process(words: Sequence[str], folder: Path) -> tuple[int, float]:
    """Peak bytes and processor seconds of a command, which must end well."""
    verb, *options = words
    log = folder / f"{verb}.log"
    command = [sys.executable, "-m", "evenhand.cli", *verb.split(), str(folder / "recipe.yaml"), *options]
    with log.open("wb") as file:
        process = subprocess.Popen(
            command, stdout=file, stderr=file, env=os.environ | {"EVENHAND_CACHE": str(folder.resolve() / "cache")}
        )
        _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise DataError(
            f"{' '.join(command)}: ended with {process.returncode}:\n{log.read_text(encoding='utf-8')[-2000:]}"
        )
    # Linux counts in KiB, macOS in bytes
    peak = used.ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    return peak, used.ru_utime + used.ru_stime


def _rows(found: Mapping[int, Measured]) -> Iterator[dict[str, str | float | None]]:
    for step in next(iter(found.values())):
        before = None
        for n, measured in found.items():
            used = measured[step]
            yield {
                "step": step,
                "requests": n,
                "peak MiB": round(used.peak / 2**20),
                "seconds": round(used.seconds, 2),
                "disk MB": round(used.disk / 1e6, 1),
                "growth": None if before is None else round(used.seconds / before[1], 2),
                "of requests": None if before is None else round(n / before[0], 2),
            }
            before = (n, used.seconds)


if __name__ == "__main__":
    run_bench(main)
