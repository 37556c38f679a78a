"""The files of a finished run beside the hashes that its manifest and its receipts have of them."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict

from ...config.plain_yaml import read_yaml
from ...errors import DataError, StorageError
from ...evaluation.report.checkpoint.provenance import MANIFEST, REPORT, versions
from ...runfolder.dates import DATE, run_date
from ...runfolder.phases import CHECKPOINTS
from ...runfolder.processes import LOCK
from ...runfolder.shards import SHARDS
from ...runfolder.spending import COSTS, PROMISED
from ...runfolder.stages import Receipt, read_receipt
from ...storage import file_digest, sha256_of
from ...text.digests import digest
from ...text.mistakes import listed

# folder of the cards in a run
CARDS = "cards"
RECIPE, RECEIPTS = "recipe.yaml", "receipts"
AGAIN = "run `evenhand loop` with its recipe again"
# what lies in a run, anywhere in it, of which there is no hash; and pages that `evenhand run pairs` put beside the report
UNHASHED = ("logs", "superseded", "slurm", CHECKPOINTS, SHARDS, CARDS, COSTS, PROMISED, LOCK)
PAIRS_PAGES = "pairs-*.html"


class Signatures(BaseModel):
    """Of what a run was made with, those that cards speak of."""

    # judge -> signatures of its judgements
    judges: dict[str, list[str]]


class StageFiles(BaseModel):
    """What a stage made: file or folder -> digest; and all else that its receipt says."""

    model_config = ConfigDict(extra="allow")

    phase: str
    stage: str
    outputs: dict[str, str]


class Manifest(BaseModel):
    """The part of a manifest that a run's files are compared with."""

    format: Literal["evenhand-manifest/1"]
    recipe: str
    signatures: Signatures
    stages: list[StageFiles]
    versions: dict[str, str]
    # the day that chat templates were given; "" of runs that had none
    date: str = ""


@dataclass(frozen=True)
class RunFile:
    """A file of the run, by its path in it."""

    path: str
    size: int
    sha256: str


@dataclass(frozen=True)
class RunFiles:
    """Files of a run: those that are as they were made, and those of which nothing is known."""

    # without the renderings of the report, whose numbers are all in report.json
    made: tuple[RunFile, ...]
    # what is there of `UNHASHED` and of pages of pairs, and files that no stage has written
    unhashed: tuple[str, ...]
    unknown: tuple[str, ...]


def checked_files(folder: Path, manifest: Manifest) -> RunFiles:
    """The run's files, each compared with the hash that its stage has left of it, and receipts with the manifest.

    Raises:
        DataError: files were changed or taken away; all of them are listed.
    """
    paths, mistakes = [folder / RECIPE, folder / MANIFEST], list[str]()
    known = {*paths, folder / DATE}
    if digest(read_yaml(folder / RECIPE)) != manifest.recipe:
        mistakes.append(f"{folder / RECIPE}: is not the recipe that the run was made with")
    if (folder / DATE).is_file() and manifest.date not in ("", run_date(folder).day.isoformat()):
        mistakes.append(f"{folder / DATE}: is not the day that {MANIFEST} has")
    rows, receipts = {(stage.phase, stage.stage): stage for stage in manifest.stages}, dict[tuple[str, str], Receipt]()
    for path in _receipt_paths(folder):
        place = path.parents[1].relative_to(folder).as_posix(), path.stem
        try:
            receipt = read_receipt(path)
        except StorageError as error:
            mistakes.append(str(error))
            continue
        assert receipt is not None, "it was there"
        if place not in rows:
            # of a stage that no manifest speaks of
            rows[place] = StageFiles(phase=place[0], stage=place[1], outputs=receipt.outputs)
            continue
        receipts[place] = receipt
        values = receipt.model_dump(mode="json")
        if any(values.get(key) != value for key, value in dict(rows[place]).items() if key != "phase"):
            mistakes.append(f"{path}: is not the receipt that {MANIFEST} has of it")
    in_manifest = {(stage.phase, stage.stage) for stage in manifest.stages}
    mistakes += [
        f"{folder / p / RECEIPTS / s}.json: is not there" for p, s in in_manifest - receipts.keys() if not mistakes
    ]
    if (
        not mistakes
        and versions([(place[0], receipts[place]) for place in rows if place in receipts]) != manifest.versions
    ):
        mistakes.append(f"{folder / MANIFEST}: has other versions than the receipts")
    for row in rows.values():
        for name, content in row.outputs.items():
            path = folder / row.phase / name
            known.add(path)
            if not path.exists() or file_digest(path) != content:
                mistakes.append(f"{path}: is not what {row.phase} {row.stage!r} made")
            elif row.phase != REPORT or path.suffix == ".json":
                paths += sorted(file for file in path.rglob("*") if file.is_file()) if path.is_dir() else [path]
    if mistakes:
        raise DataError(
            f"{folder}: files were changed or taken away since its report was written\n{listed(mistakes)}\n"
            f"{AGAIN}; a card belongs in cards/, not into the adapter's folder"
        )
    return RunFiles(
        tuple(RunFile(path.relative_to(folder).as_posix(), path.stat().st_size, sha256_of(path)) for path in paths),
        *_others(folder, known),
    )


def _receipt_paths(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.rglob(f"{RECEIPTS}/*.json")):
        if not set(UNHASHED).intersection(path.relative_to(folder).parts):
            yield path


def _others(folder: Path, known: set[Path]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Of the other files those that have no hash, by what they are called together, and those that nobody wrote."""
    unhashed: dict[str, None] = {}
    unknown = []
    for path in sorted(folder.rglob("*")):
        parts = path.relative_to(folder).parts
        if path.is_dir() or RECEIPTS in parts or known.intersection((path, *path.parents)):
            continue
        if kind := next((name for name in UNHASHED if name in parts), None):
            if kind != LOCK:
                unhashed[kind] = None
        elif parts[0] == REPORT and path.match(PAIRS_PAGES):
            unhashed["pages of pairs"] = None
        else:
            unknown.append("/".join(parts))
    return tuple(unhashed), tuple(unknown)
