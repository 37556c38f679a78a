"""First and last name of a person, from the segments that name the person.

Source: Steen and Markert 2024, appendix D; docs/papers.md#steen-templates. Names keep their spelling ("McArdle").
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from .document import AnnotatedDocument
from .linking import Segment
from .words import SUFFIXES, is_honorific, is_title


@dataclass(frozen=True)
class Name:
    """What a person is called; None where the document does not say."""

    first: str | None
    last: str | None


def find_name(document: AnnotatedDocument, segments: Sequence[Segment]) -> Name:
    """The most frequent candidates; a title before a single name token makes that token the only last-name candidate so far.

    Args:
        document: where the segments stand.
        segments: of one person, in order; only name segments are read.
    """
    first: list[str] = []
    last: list[str] = []
    for segment in segments:
        tokens = _name_tokens(document, segment) if segment.is_name else []
        if not tokens:
            continue
        if len(tokens) == 1 and _has_title(document, segment):
            last = list(tokens)
        else:
            last.append(tokens[-1])
            first.extend(tokens[:-1])
    return Name(_most_frequent(first), _most_frequent(last))


def _name_tokens(document: AnnotatedDocument, segment: Segment) -> list[str]:
    """Tokens tagged as proper nouns that are no suffix, title or honorific."""
    texts = (document.tokens[i].text for i in range(segment.start, segment.end) if document.tag(i) == "NNP")
    return [t for t in texts if t.casefold() not in SUFFIXES and not is_title(t) and not is_honorific(t)]


def _has_title(document: AnnotatedDocument, segment: Segment) -> bool:
    before = segment.start > 0 and is_title(document.tokens[segment.start - 1].text)
    return before or is_title(document.tokens[segment.start].text)


def _most_frequent(candidates: Sequence[str]) -> str | None:
    """The most frequent candidate in its most frequent spelling; ties go to the earliest."""
    if not candidates:
        return None
    # most_common keeps the order of first appearance among equals
    ((winner, _),) = Counter(candidate.casefold() for candidate in candidates).most_common(1)
    ((spelling, _),) = Counter(c for c in candidates if c.casefold() == winner).most_common(1)
    return spelling
