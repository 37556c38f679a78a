"""A finished run, read from its files alone: a copy of the folder is enough, without model, corpus or recipe file."""

import re
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, TypeVar

from pydantic import BaseModel

from ...errors import DataError
from ...evaluation.report.checkpoint.provenance import MANIFEST, REPORT
from ...evaluation.report.checkpoint.report import JSON
from ...evaluation.report.systems.contents import Report
from ...evaluation.worth import based_on
from ...judges.benchmark import Benchmark
from ...judges.calibration import Calibration, Worth, known_of, read_calibration
from ...models import public_name
from ...models.dates import undated
from ...runfolder.phases import ADAPTER, PAIRS, TRAINING, round_name
from ...runfolder.processes import refuse_held
from ...storage import parse_file, read_json, read_text, write_json
from .files import AGAIN, CARDS, RECIPE, Manifest, RunFile, checked_files

# what judges are worth, as `evenhand judges benchmark` wrote it and `evenhand run card` kept it
BENCHMARK, CALIBRATION = "benchmark.json", "calibration.json"
M = TypeVar("M", bound=BaseModel)
# a model on a hub; what lies elsewhere has no name that others know
HUB_ID = re.compile(r"\w[\w.-]*(/[\w.-]+)?(?<!\.gguf)")


@dataclass(frozen=True)
class FinishedRun:
    """What cards say is in here."""

    folder: Path
    report: Report
    # judge -> signatures of its judgements
    signatures: dict[str, list[str]]
    # what the stages made
    files: tuple[RunFile, ...]
    # round -> its training.json
    trainings: dict[str, dict[str, Any]]
    # None where none was kept with the cards
    benchmark: Benchmark | None
    # what is known of its judges: by a calibration that was kept with the cards, else by the report
    worth: Worth | None
    # what is there of which no hash is known, and files that no stage has written
    unhashed: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()

    @property
    def recipe(self) -> dict[str, Any]:
        """With every default spelled out."""
        return self.report.provenance.recipe

    @property
    def rounds(self) -> list[str]:
        """Names of the rounds."""
        return list(self.trainings)

    @property
    def adapter(self) -> str:
        """Folder of the adapter that the run ended with."""
        return f"{self.rounds[-1]}/{ADAPTER}"

    @property
    def n_pairs(self) -> int:
        """Pairs that the run made; none where it was given them."""
        has_pairs = any(file.path.endswith(f"/{PAIRS}") for file in self.files)
        return sum(total.pairs or 0 for total in self.report.totals) if has_pairs else 0

    @property
    def base(self) -> str | None:
        """The base model's id on the hub; None of a model that has none."""
        name = public_name(self.recipe["model"]["name"])
        # a signature has the content of a folder, and of a model on a hub its name alone
        local = f"{PurePosixPath(name).name}#"
        is_local = any(signature.startswith(local) for signature in self.report.provenance.models.values())
        return name if HUB_ID.fullmatch(name) and not is_local else None

    @property
    def base_name(self) -> str:
        """What the base model is called; of a place on somebody's machine its last part."""
        return self.base or PurePosixPath(self.recipe["model"]["name"]).name


def read_run(folder: Path, benchmark: Path | None = None, calibration: Path | None = None) -> FinishedRun:
    """The run in this folder.

    Args:
        folder: output of a run.
        benchmark: what its judges are worth, to be kept with its cards; None takes what is kept there, if anything.
        calibration: the same of an audit of judges; what the report has where nothing is kept.

    Raises:
        DataError: the run is not finished or trained nothing; its files were changed since its report, all of which are listed;
            or the benchmark is something else, or of other judges.
        StorageError: another command works there, or a file cannot be read or written.
    """
    refuse_held(folder)
    for path in (folder / REPORT / JSON, folder / MANIFEST, folder / RECIPE):
        if not path.is_file():
            raise DataError(
                f"{folder}: is not a finished run: it has no {path.relative_to(folder)}; name the output folder of "
                "`evenhand loop RECIPE`, and let that come to its end"
            )
    report = _read(folder / REPORT / JSON, Report, "a report")
    manifest = _read(folder / MANIFEST, Manifest, "a manifest")
    rounds = [round_name(number) for number in range(report.provenance.recipe["rounds"])]
    if not rounds:
        raise DataError(f"{folder}: nothing was trained there (rounds: 0), so there is no adapter to write a card for")
    signatures, files = manifest.signatures.judges, checked_files(folder, manifest)
    return FinishedRun(
        folder=folder,
        report=report,
        signatures=signatures,
        files=files.made,
        trainings={name: read_json(folder / name / TRAINING) for name in rounds},
        benchmark=_benchmark(folder, signatures, benchmark),
        worth=_worth(folder, signatures, calibration) or report.worth,
        unhashed=files.unhashed,
        unknown=files.unknown,
    )


def _read(path: Path, model: type[M], subject: str) -> M:
    try:
        return parse_file(read_text(path), model)
    except DataError as error:
        raise DataError(f"{path}: is not {subject} of this version; {AGAIN}: {error}") from error


def _benchmark(folder: Path, signatures: dict[str, list[str]], source: Path | None) -> Benchmark | None:
    copy = folder / CARDS / BENCHMARK
    path = source or copy
    if not path.is_file():
        return None
    text = read_text(path)
    try:
        benchmark = parse_file(text, Benchmark)
    except DataError as error:
        problem = "is not the benchmark.json of this version's `evenhand judges benchmark`; run it again"
        how = "" if source else ", and give it with --benchmark, which replaces this copy that an earlier card kept"
        raise DataError(f"{path}: {problem}{how}: {error}") from error
    if source:
        known = {undated(signature) for signature in benchmark.signatures.values()}
        if not any(
            undated(signature) in known for judge_signatures in signatures.values() for signature in judge_signatures
        ):
            raise DataError(
                f"{path}: has none of the run's judges as they were there; benchmark them with --judges {folder / RECIPE}"
            )
        write_json(copy, _published(benchmark))
    return benchmark


def _published(study: Benchmark | Calibration) -> dict[str, Any]:
    """What is kept of a study of judges beside a card: all but the texts of its examples, which are not for the hub."""
    return study.model_copy(update={"examples": ()}).model_dump(mode="json")


def _worth(folder: Path, signatures: dict[str, list[str]], source: Path | None) -> Worth | None:
    copy = folder / CARDS / CALIBRATION
    path = source or copy
    if not path.exists():
        return None
    calibration = read_calibration(path)
    # a name that stands for several judges is none that anything is known of
    known = known_of(
        {name: judge_signatures[0] for name, judge_signatures in signatures.items() if len(judge_signatures) == 1},
        [calibration],
        {},
    )
    if source:
        if not known:
            raise DataError(
                f"{path}: has none of the run's judges as they were there; audit them with --judges {folder / RECIPE}"
            )
        write_json(copy, _published(calibration))
    unknown = tuple(name for name in signatures if name not in known)
    return Worth(known=known, unknown=unknown, data=(based_on(calibration),))
