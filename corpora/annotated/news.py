"""Drafts of annotated documents from plain texts, for a person to review."""

from collections.abc import Sequence
from pathlib import Path

from ...errors import DataError
from ...fairness.demographic.inputs.document import AnnotatedDocument
from ...records import Record, Text
from ...storage import listed, read_numbered, read_text
from .draft import draft_document
from .pipeline import SpacyPipeline


class NewsText(Record):
    """A text to annotate: a line of a JSON-lines file."""

    id: Text
    text: Text


def draft_news(paths: Sequence[Path], pipeline: str) -> list[AnnotatedDocument]:
    """A draft for each text, in order; `meta.reviewed` is false, and `meta.unresolved` lists what is left open.

    Args:
        paths: JSON lines of {"id", "text"} (names that end in .jsonl), or plain texts, one document each, named by the file.
        pipeline: name or folder of a spaCy pipeline.

    Raises:
        StorageError: a file cannot be read.
        DataError: texts are wrong or have the same id; all mistakes are listed.
        MissingExtra, ModelError: spaCy or the pipeline is not there.
    """
    texts = _read(paths)
    tagged = SpacyPipeline(pipeline, "evenhand import news").tag([each.text for each in texts])
    return [draft_document(each.id, found) for each, found in zip(texts, tagged, strict=True)]


def _read(paths: Sequence[Path]) -> list[NewsText]:
    found: list[tuple[str, NewsText]] = []
    mistakes = []
    for path in paths:
        if path.suffix == ".jsonl":
            numbered, wrong = read_numbered(path, NewsText)
            found += [(f"{path}:{line}", each) for line, each in numbered]
            mistakes += [f"{path}:{line}: {text}" for line, text in wrong]
        elif text := read_text(path).strip():
            found.append((str(path), NewsText(id=path.stem, text=text)))
        else:
            mistakes.append(f"{path}: is empty; leave it out")
    first: dict[str, str] = {}
    for place, each in found:
        earlier = first.setdefault(each.id, place)
        if earlier != place:
            mistakes.append(f"{place}: id {each.id!r} occurs in {earlier} already; rename one")
    if mistakes:
        raise DataError(listed(mistakes))
    if not found:
        raise DataError(f"no text in {', '.join(map(str, paths))}; name text files, or JSON lines of id and text")
    return [each for _, each in found]
