"""Annotated news documents from a file: one a line, checked, all mistakes together."""

from collections.abc import Iterator
from pathlib import Path

from ...errors import DataError
from ...fairness.demographic.inputs.document import AnnotatedDocument
from ...fairness.demographic.inputs.template import build_template
from ...storage import listed_lines, read_numbered

# what stands for the documents that ship with evenhand
SAMPLE = "sample"
BUNDLED = Path(__file__).parent / "sample" / "news.jsonl"


def read_news(path: str, *, allow_unresolved: bool = False) -> list[AnnotatedDocument]:
    """The annotated documents of a file, in order.

    Args:
        path: JSON lines of `AnnotatedDocument`, or "sample".
        allow_unresolved: whether to take drafts with gendered pronouns that no chain covers.

    Raises:
        StorageError: the file cannot be read.
        DataError: documents are wrong, or there is none; all mistakes are listed with their lines.
    """
    file = BUNDLED if path == SAMPLE else Path(path).expanduser()
    numbered, mistakes = read_numbered(file, AnnotatedDocument)
    first_line: dict[str, int] = {}
    for line, document in numbered:
        earlier = first_line.setdefault(document.doc_id, line)
        if earlier != line:
            mistakes.append((line, f"doc_id {document.doc_id!r} occurs in line {earlier} already; rename one"))
        mistakes += [(line, text) for text in _mistakes(document, allow_unresolved)]
    if mistakes:
        raise DataError(listed_lines(file, mistakes))
    if not numbered:
        raise DataError(f"{file}: holds no annotated document; one JSON object a line is expected")
    return [document for _, document in numbered]


def _mistakes(document: AnnotatedDocument, allow_unresolved: bool) -> Iterator[str]:
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
                f"document {document.doc_id!r}: the content span from {span.start} to {span.end} names {', '.join(strangers)}, "
                f"but the persons are {', '.join(sorted(persons)) or 'none'}"
            )
