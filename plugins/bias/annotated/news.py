"""Annotated news documents: read from a file, or drafted from plain texts for a person to review."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from ....corpora.entries import read_lines
from ....errors import DataError
from ....records import Record, Text
from ....storage import local_path, read_numbered, read_text
from ....text.mistakes import listed
from ..demographic.inputs.document import AnnotatedDocument
from ..demographic.inputs.template import build_template
from .draft import draft_document
from .pipeline import SpacyPipeline

# what stands for the documents that ship with evenhand
SAMPLE = "sample"
BUNDLED = Path(__file__).parent / "sample" / "news.jsonl"


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
    texts: list[tuple[str, NewsText]] = []
    mistakes = []
    for path in paths:
        if path.suffix == ".jsonl":
            numbered, wrong = read_numbered(path, NewsText)
            texts += [(f"{path}:{line}", news) for line, news in numbered]
            mistakes += [f"{path}:{line}: {text}" for line, text in wrong]
        elif text := read_text(path).strip():
            texts.append((str(path), NewsText(id=path.stem, text=text)))
        else:
            mistakes.append(f"{path}: is empty; leave it out")
    first: dict[str, str] = {}
    for place, news in texts:
        earlier = first.setdefault(news.id, place)
        if earlier != place:
            mistakes.append(f"{place}: id {news.id!r} occurs in {earlier} already; rename one")
    if mistakes:
        raise DataError(listed(mistakes))
    if not texts:
        raise DataError(f"no text in {', '.join(map(str, paths))}; name text files, or JSON lines of id and text")
    tagged = SpacyPipeline(pipeline, "evenhand import news").tag([news.text for _, news in texts])
    return [draft_document(news.id, text) for (_, news), text in zip(texts, tagged, strict=True)]


def read_news(path: str, *, allow_unresolved: bool = False) -> list[AnnotatedDocument]:
    """The annotated documents of a file, in order.

    Args:
        path: JSON lines of `AnnotatedDocument`, or "sample".
        allow_unresolved: whether to take drafts with gendered pronouns that no chain covers.

    Raises:
        StorageError: the file cannot be read.
        DataError: documents are wrong, or there is none; all mistakes are listed with their lines.
    """
    file = BUNDLED if path == SAMPLE else local_path(path)

    def wrong(_: int, document: AnnotatedDocument) -> Iterator[str]:
        if not document.doc_id.strip():
            yield "has no doc_id; give each document one of its own"
        try:
            template = build_template(document, allow_unresolved=allow_unresolved)
        except DataError as error:
            yield str(error)
            return
        persons = {entity.id for entity in template}
        for span in document.content_spans:
            if strangers := sorted(set(span.entities) - persons):
                yield (
                    f"document {document.doc_id!r}: the content span from {span.start} to {span.end} names "
                    f"{', '.join(strangers)}, but the persons are {', '.join(sorted(persons)) or 'none'}"
                )

    return read_lines(file, AnnotatedDocument, "doc_id", wrong)
