"""A summary cut into the units that it could have been made of: whole units of the source where they stand, sentences elsewhere.

A method that selects whole posts joins them with blanks. Cut into sentences, such a summary has another unit than its source: a
post of three sentences would count three times, and no sentence of it would equal a unit. So the source's units are looked for
first. They count only where they stand whole: between ends of sentences of the summary, or beside another whole unit, since a
post need not end with a full stop. "Cheap." is a unit of "Cheap. Nobody minds.", not of "It is cheap."
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ....text import sentences
from ....text.forms import normal_form
from .exposure import normal

Words = tuple[str, ...]


@dataclass(frozen=True)
class _Cut:
    """The best way to cut the rest of a summary: most words in whole units, then fewest pieces, then the longest first."""

    covered: int
    pieces: int
    # where the first piece ends, counted in words, and whether it is a whole unit
    end: int
    is_unit: bool

    @property
    def order(self) -> tuple[int, int, int]:
        return self.covered, -self.pieces, self.end


def summary_units(summary: str, units: Iterable[str]) -> list[str]:
    """The pieces of a summary, in order: copies of whole units of the source, in their normal form, and sentences.

    As many words as can be are in whole units, and pieces are as few as they can be then; of equal cuts, the earlier unit is the
    longer one. Equal means equal after collapsing white space and case folding, as in `exposure_extractive`. Without a whole unit
    these are the summary's sentences.

    Source: docs/papers.md#shandilya-units and #shandilya-exposure, which take a unit for what a summary could take over whole.

    Args:
        summary: as one text.
        units: texts of the source's units.
    """
    summary = normal_form(summary)
    words = summary.split()
    runs = _sentence_runs(summary, words)
    by_first: dict[str, set[Words]] = {}
    for unit in units:
        if unit_words := tuple(normal(unit).split()):
            by_first.setdefault(unit_words[0], set()).add(unit_words)
    folded = tuple(normal(word) for word in words)
    cuts = _cuts(folded, by_first, {start: end for start, end, _ in runs})
    sentences_at = {start: texts for start, _, texts in runs}
    pieces: list[str] = []
    place = 0
    while place < len(words):
        cut = cuts[place]
        pieces += [" ".join(words[place : cut.end])] if cut.is_unit else sentences_at[place]
        place = cut.end
    return pieces


def _sentence_runs(summary: str, words: Sequence[str]) -> list[tuple[int, int, list[str]]]:
    """First and last word (exclusive) of each sentence with its text; sentences that part a word stay together."""
    ends, n_letters = {}, 0
    for place, word in enumerate(words, start=1):
        n_letters += len(word)
        ends[n_letters] = place
    runs: list[tuple[int, int, list[str]]] = []
    start, n_read, texts = 0, 0, list[str]()
    for sentence in sentences(summary):
        n_read += sum(map(len, sentence.split()))
        texts.append(sentence)
        if n_read in ends:
            runs.append((start, ends[n_read], texts))
            start, texts = ends[n_read], []
    if start < len(words):
        # the splitter lost a character
        runs.append((start, len(words), texts))
    return runs


def _cuts(words: Words, by_first: Mapping[str, set[Words]], sentence_end: Mapping[int, int]) -> dict[int, _Cut]:
    """The best cut from each place on that can be cut up to the end, from the back."""
    best = {len(words): _Cut(0, 0, len(words), False)}
    for place in range(len(words) - 1, -1, -1):
        ends = [
            place + len(unit)
            for unit in by_first.get(words[place], ())
            if words[place : place + len(unit)] == unit and place + len(unit) in best
        ]
        options = [_Cut(best[end].covered + end - place, best[end].pieces + 1, end, True) for end in ends]
        if place in sentence_end:
            end = sentence_end[place]
            options.append(_Cut(best[end].covered, best[end].pieces + 1, end, False))
        if options:
            best[place] = max(options, key=lambda cut: cut.order)
    return best
