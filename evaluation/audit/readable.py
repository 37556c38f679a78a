"""What of the documents a tokenizer cannot read: values without a word, scripts without borders between words."""

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np

from ...fairness.opinion.tokens import share_borderless
from .figures import Measured
from .input import AuditInput
from .quantities import SHARE_IN_SOURCES
from .shares import ValueShares

# share of the documents' letters from which a script without borders is spoken of
MUCH = 0.1
SCRIPTS = "scripts without borders between words (Chinese, Japanese, Thai, Lao, Khmer, Burmese)"


def values_without_words(measured: Sequence[Measured], given: AuditInput) -> Iterator[str]:
    """A warning for each value with documents in a scored set that hold no word for the matcher."""
    found = Counter[str]()
    for each in measured:
        if isinstance(each.family, ValueShares):
            found |= _without_words(each, given)
    for value, n in found.items():
        yield (
            f"{value}: in {n:,} sets no document of this {given.attribute} has a word that counts; there it takes no part in "
            "BUR, UER, AUC and SOF."
        )


def _without_words(each: Measured, given: AuditInput) -> Counter[str]:
    """Scored sets in which a value has documents and takes no part."""
    found = Counter[str]()
    for place, quantity in enumerate(each.figures.quantities):
        if quantity.value is not None and quantity.kind == SHARE_IN_SOURCES:
            silent = each.figures.scored & ~each.figures.rests_on[:, place]
            rows = np.flatnonzero(silent).tolist()
            n = sum(quantity.value in given.sets[row].values(given.attribute) for row in rows)
            if n:
                found[quantity.value] = n
    return found


def scripts(measured: Sequence[Measured], given: AuditInput) -> Iterator[str]:
    """A warning where much of the documents is in scripts whose words a tokenizer cannot tell apart."""
    readers = {(each.family.name, each.family.by) for each in measured}
    by_words = sorted(
        {f"{name} by words" if by else name for name, by in readers if by == "words" or name == "opinions"}
    )
    by_ngrams = ("value-shares", "ngram") in readers
    if not (by_words or by_ngrams):
        return
    share = share_borderless(document.text for documents in given.sets for document in documents.documents)
    if share < MUCH:
        return
    where = f"{100 * share:.0f} % of the documents' letters are of {SCRIPTS}"
    if by_ngrams:
        yield (
            f"{where}: matcher ngram takes a whole clause for one word, so value-shares by ngram say nothing of these texts; "
            "take --matcher words."
        )
    if by_words:
        yield (
            f"{where}: there {', '.join(by_words)} compare pairs of neighbouring characters, which tell contents apart less "
            "well than words."
        )
