"""The folder that a command writes its result into: whose it is, what is replaced there, and its files.

A folder is looked at before anything is measured. It is refused where files of the result's names lie in it that no such command
wrote, with the name of the command that did where it is one of ours; an earlier result of something else is named before it is
replaced.
"""

import csv
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from ...errors import DataError, EvenhandError, StorageError
from ...runfolder.processes import LOCK, hold
from ...storage import is_writable, json_lines, read_json
from ...text import cells
from ...text.formats import FORMATS, is_called
from .blocks import Page
from .write import DETAILS, PAGE, TABLES, write_page

Content = Mapping[str, Any]
# the table of `evenhand score`, by which its folder is known
SCORES_TABLE = "scores.csv"
# takes a line
Say = Callable[[str], None]


def has(*keys: str) -> Callable[[Content], bool]:
    """Whether a JSON object has all of these keys."""
    return lambda content: all(key in content for key in keys)


def calls_itself(name: str) -> Callable[[Content], bool]:
    """Whether a JSON object is a file of this name, in whatever version: "evenhand-audit"."""
    return partial(is_called, name=name)


def read_result(path: Path, is_ours: Callable[[Content], bool]) -> Content | None:
    """The content of a result's JSON file; None where there is none of ours."""
    try:
        content = read_json(path)
    except (StorageError, DataError):
        return None
    return content if isinstance(content, dict) and is_ours(content) else None


def is_scores(table: Path) -> bool:
    """Whether `evenhand score` wrote this CSV file."""
    try:
        with table.open(encoding="utf-8", newline="") as file:
            header = next(csv.reader(file), [])
    except (OSError, ValueError, csv.Error):
        return False
    return cells.is_scores(header)


def _writer(out: Path) -> str:
    """The command whose result lies in a folder; "" where it is none of ours."""
    if is_scores(out / SCORES_TABLE):
        return "score"
    verbs = (
        file_format.verb
        for name, file_format in FORMATS.items()
        if read_result(out / file_format.file, calls_itself(name)) is not None
    )
    return next(verbs, "")


def check_folder(out: Path, names: Iterable[str], kind: str, known_by: str, *, is_ours: bool) -> None:
    """Refuse a folder that cannot be written, or that has files of these names which are not ours.

    Args:
        out: the folder; it need not be there.
        names: of the files that would be written.
        kind: what would have written them: "audit".
        known_by: the one of these files by which it is known that it did.
        is_ours: whether it did.

    Raises:
        DataError: it is refused.
    """
    refuse_unwritable(out, f"--out {out}")
    existing = [name for name in names if (out / name).exists()]
    if existing and not is_ours:
        raise DataError(
            f"--out {out}: holds {', '.join(existing)}, {_whose(out, existing, kind, known_by)}; name another folder, nothing is "
            "overwritten"
        )


def refuse_unwritable(folder: Path, place: str) -> None:
    """Refuse a folder, which need not be there, that cannot be written; errors begin with `place`.

    Raises:
        DataError: it cannot.
    """
    nearest = next(path for path in (folder, *folder.absolute().parents) if os.path.lexists(path))
    if not nearest.is_dir():
        raise DataError(f"{place}: {'' if nearest == folder else f'{nearest} '}is not a folder; name a folder")
    if not is_writable(nearest):
        raise DataError(f"{place}: {nearest} cannot be written; name another folder, or mend its rights")


def _whose(out: Path, existing: Sequence[str], kind: str, known_by: str) -> str:
    if writer := _writer(out):
        return f"and the result of `evenhand {writer}` lies there"
    origin = f"which no {kind} wrote"
    return origin if known_by in existing else f"{origin}, as far as can be told without its {known_by}"


@dataclass(frozen=True)
class Result:
    """A kind of result: its files, and how an earlier one is known and named."""

    # "audit", "comparison"
    what: str
    json: str
    markdown: str
    # of what a JSON file holds: whether the command wrote it, what a sentence calls it, and what makes it the same again
    is_ours: Callable[[Content], bool]
    named: Callable[[Content], str]
    key: Callable[[Content], Any]
    # files besides JSON, Markdown, page and tables
    others: tuple[str, ...] = ()

    def check(self, out: Path) -> None:
        """Refuse a folder, see `check_folder`; to be asked before anything is measured."""
        names = (self.json, self.markdown, PAGE, DETAILS, TABLES, *self.others)
        check_folder(out, names, self.what, self.json, is_ours=self.earlier(out) is not None)

    def earlier(self, out: Path) -> Content | None:
        """The content of the earlier result's JSON file; None where there is none of ours."""
        return read_result(out / self.json, self.is_ours)

    def replaced(self, out: Path, key: Any) -> str:
        """A sentence on the earlier result whose files will be replaced; "" without one, and for one of the same key."""
        content = self.earlier(out)
        if content is None:
            return ""
        try:
            named = "" if self.key(content) == key else self.named(content)
        except (AttributeError, KeyError, TypeError):
            # of a version whose files had other keys
            named = f"an earlier {self.what}"
        return f"{out} holds {named}; it will be replaced." if named else ""

    @contextmanager
    def begun(self, out: Path, key: Any, say: Say | None) -> Iterator[None]:
        """Be the only command that writes in the folder until the block ends, and say what it replaces.

        A folder that is made for it is gone again where the block fails before it has written.

        Raises:
            StorageError: another command is at work there.
        """
        is_new = not out.exists()
        with hold(out):
            self.announce(out, key, say)
            try:
                yield
            except EvenhandError:
                if is_new and [path.name for path in out.iterdir()] == [LOCK]:
                    (out / LOCK).unlink()
                    out.rmdir()
                raise

    def announce(self, out: Path, key: Any, say: Say | None) -> None:
        """Say what will be replaced, see `replaced`."""
        if say is not None and (sentence := self.replaced(out, key)):
            say(sentence)

    def write(self, out: Path, result: BaseModel, page: Page, line_files: Mapping[str, Iterable[BaseModel]]) -> None:
        """Write the files; an earlier result's are replaced, files of other names stay.

        Args:
            out: the folder.
            result: the result.
            page: what it says.
            line_files: records of JSON lines by the name of their file.

        Raises:
            DataError: as `check`, and when the files cannot be written after all.
        """
        self.check(out)
        is_ours = self.earlier(out) is not None
        try:
            lines = {out / name: json_lines(records) for name, records in line_files.items()}
            # first, so that what was left half written is known as ours
            extra_files = {out / self.json: [result.model_dump_json(indent=2) + "\n"], **lines}
            write_page(page, out, self.markdown, is_ours=is_ours, extra_files=extra_files)
        except StorageError as error:
            reason = getattr(error.__cause__, "strerror", None) or error
            raise DataError(f"--out {out}: cannot be written: {reason}; make room, or name another folder") from error
