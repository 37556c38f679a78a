"""The folder that a command writes its result into: whose it is, what is replaced there, and its files.

A folder is looked at before anything is measured. It is refused where files of the result's names lie in it that no such command
wrote; an earlier result of something else is named in a line before it is replaced.
"""

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from ...errors import DataError, StorageError
from ...storage import read_json, write_jsonl, write_text
from .blocks import Page
from .write import PAGE, TABLES, write_page

Content = Mapping[str, Any]
# takes a line
Say = Callable[[str], None]


def check_folder(out: Path, names: Iterable[str], what: str, *, is_ours: bool) -> None:
    """Refuse a folder that cannot be written, or that has files of these names which are not ours.

    Args:
        out: the folder; it need not be there.
        names: of the files that would be written.
        what: what would have written them: "audit".
        is_ours: whether it did.

    Raises:
        DataError: it is refused.
    """
    nearest = next(place for place in (out, *out.absolute().parents) if os.path.lexists(place))
    if not nearest.is_dir():
        raise DataError(f"--out {out}: {'' if nearest == out else f'{nearest} '}is not a folder; name a folder")
    if not os.access(nearest, os.W_OK | os.X_OK):
        raise DataError(f"--out {out}: {nearest} cannot be written; name another folder, or mend its rights")
    taken = [name for name in names if (out / name).exists()]
    if taken and not is_ours:
        raise DataError(
            f"--out {out}: holds {', '.join(taken)}, which no {what} wrote; name another folder, nothing is overwritten"
        )


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
        names = (self.json, self.markdown, PAGE, TABLES, *self.others)
        check_folder(out, names, self.what, is_ours=self.earlier(out) is not None)

    def earlier(self, out: Path) -> Content | None:
        """What the earlier result's JSON file holds; None where there is none of ours."""
        try:
            found = read_json(out / self.json)
        except (StorageError, DataError):
            return None
        return found if isinstance(found, dict) and self.is_ours(found) else None

    def replaced(self, out: Path, key: Any) -> str:
        """A sentence on the earlier result whose files will be replaced; "" without one, and for one of the same key."""
        found = self.earlier(out)
        if found is None or self.key(found) == key:
            return ""
        return f"{out} holds {self.named(found)}; it will be replaced."

    def announce(self, out: Path, key: Any, say: Say | None) -> None:
        """Say what will be replaced, see `replaced`."""
        if say is not None and (said := self.replaced(out, key)):
            say(said)

    def write(self, out: Path, found: BaseModel, page: Page, others: Mapping[str, Iterable[BaseModel]]) -> None:
        """Write the files; an earlier result's are replaced, files of other names stay.

        Args:
            out: the folder.
            found: the result.
            page: what it says.
            others: records of JSON lines by the name of their file.

        Raises:
            DataError: as `check`, and when the files cannot be written after all.
        """
        self.check(out)
        is_ours = self.earlier(out) is not None
        try:
            # first, so that what was left half written is known as ours
            write_text(out / self.json, found.model_dump_json(indent=2) + "\n")
            for name, records in others.items():
                write_jsonl(out / name, records)
            write_page(page, out, self.markdown, is_ours=is_ours)
        except StorageError as error:
            reason = getattr(error.__cause__, "strerror", None) or error
            raise DataError(f"--out {out}: cannot be written: {reason}; make room, or name another folder") from error


def has(*keys: str) -> Callable[[Content], bool]:
    """Whether a JSON object has all of these keys."""
    return lambda found: all(key in found for key in keys)
