"""Size: peak memory and processor seconds of each stage and of the report, as the number of requests grows.

Each stage is a process of its own, as in a run, on document sets of about 100 words with two sides; candidates come from the
scripted backend and judges ask no model, so what is measured is evenhand's own. A process's peak is the most memory that it ever
held resident, Python and libraries included. Stages read and write request by request: what grows with the requests are a few
numbers for each, and the corpus.
"""

import os
import random
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from ..config import Recipe
from ..config.recipe_file import dump_recipe
from ..errors import DataError
from ..records import Document, DocumentSet
from ..storage import write_jsonl, write_text
from . import Breakdown, Report, bench_options, count, run_bench
from .report import FOLDER

PHASE = "evaluation/base"
STEPS = ("generate", "judge", "rerank", "report")
SIDES = ("left", "right")
# documents of each side of a set, their sentences, and words of each
DOCUMENTS, SENTENCES, WORDS = 2, 2, 12

NOTE = (
    "peak MiB: most memory that the stage's process held resident, Python and libraries included; seconds: of the processor; "
    "growth: seconds in times those of the row above, for as many times the requests as the last column says"
)

# (peak bytes, processor seconds) of each step
Measured = dict[str, tuple[int, float]]


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
        folder={"type": Path, "default": FOLDER / "size", "help": "runs are made here and deleted (%(default)s)"},
    )
    report = Report("size", vars(options))
    started = datetime.now(UTC).strftime("%Y%m%d-%H%M%S")
    found: dict[int, Measured] = {}
    for n in sorted(options.requests):
        found[n] = measure(n, options.candidates, options.folder / f"{started}-{n}")
        report.breakdowns = []
        report.add_breakdown(Breakdown(f"{options.candidates} candidates a request", list(_rows(found))))
    report.finish([NOTE])


def measure(n_requests: int, n_candidates: int, folder: Path) -> Measured:
    """Peak memory and processor seconds of each step of a run of that size, made in `folder` and then deleted."""
    folder.mkdir(parents=True)
    try:
        write_jsonl(folder / "corpus.jsonl", document_sets(n_requests // len(SIDES)))
        write_text(folder / "recipe.yaml", dump_recipe(recipe_in(folder, n_candidates)))
        return {step: _step(step, folder) for step in STEPS}
    finally:
        shutil.rmtree(folder)


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


def _step(step: str, folder: Path) -> tuple[int, float]:
    """Peak bytes and processor seconds of a step's process, which must end well."""
    log = folder / f"{step}.log"
    command = [sys.executable, "-m", "evenhand.cli", step, str(folder / "recipe.yaml")]
    command += [] if step == "report" else ["--phase", PHASE]
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
    for step in STEPS:
        before = None
        for n, measured in found.items():
            peak, seconds = measured[step]
            yield {
                "step": step,
                "requests": n,
                "peak MiB": round(peak / 2**20),
                "seconds": round(seconds, 2),
                "growth": None if before is None else round(seconds / before[1], 2),
                "of requests": None if before is None else round(n / before[0], 2),
            }
            before = (n, seconds)


if __name__ == "__main__":
    run_bench(main)
