"""Cells that a spreadsheet, a data frame or a platform left in place of a text: counted in one warning, by kind."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from ..records import DocumentSet
from ..text import some_of

# what an empty cell becomes as text; a value may well be called "none" or "NA"
EMPTY = ("nan", "NaN", "NAN", "None", "null", "NULL", "N/A", "n/a", "<NA>", "NaT")
EMPTY_TEXTS = (*EMPTY, "none", "NONE", "NA", "undefined")
# errors of formulas
ERRORS = re.compile(r"#(?:N/A|NAME\?|REF!|VALUE!|DIV/0!|NUM!|NULL!|SPILL!|CALC!|ERROR!|GETTING_DATA)")
# what platforms show of a text that is gone
GONE = re.compile(r"[\[(<]\s*(?:deleted|removed)(?: by (?:user|moderator|reddit|author))?\s*[\])>]", re.IGNORECASE)
# a spreadsheet cuts its cells there
CELL = 32_767
CUT = f"{CELL:,} characters, where a spreadsheet cuts a cell"


def leftover_in_sets(sets: Iterable[DocumentSet], attributes: Iterable[str]) -> str:
    """The warning of what is left over among the texts of documents and the values of these attributes; "" without any."""
    counts: Counter[str] = Counter()
    names = list(attributes)
    for document in (document for documents in sets for document in documents.documents):
        counts.update(filter(None, [_kind(document.text, EMPTY_TEXTS)]))
        counts.update(_kind(document.attributes.get(name, ""), EMPTY) for name in names)
    return _said(counts, "document or value", "documents or values")


def leftover_in_summaries(summaries: Mapping[str, str]) -> str:
    """The warning of what is left over among summaries; "" without any."""
    return _said(Counter(_kind(text, EMPTY_TEXTS) for text in summaries.values()), "summary", "summaries")


def _kind(text: str, empty: Sequence[str]) -> str:
    """What a cell was left as; "" for a text like any other."""
    if len(text) == CELL:
        return CUT
    bare = text.strip()
    return repr(bare) if bare in empty or ERRORS.fullmatch(bare) or GONE.fullmatch(bare) else ""


def _said(counts: Counter[str], singular: str, plural: str) -> str:
    counts.pop("", None)
    n = counts.total()
    if not n:
        return ""
    kinds = some_of([f"{kind} {count:,}" for kind, count in counts.most_common()])
    return (
        f"{n:,} {singular if n == 1 else plural} may be what a spreadsheet or a platform left in place of a text: {kinds}. They "
        "count like any other; fill them, or take them out."
    )
