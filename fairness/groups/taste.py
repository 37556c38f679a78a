"""Taste: which sentences of their documents summaries take up, learned without any label, and what taste leaves unexplained.

Sides differ in how they write, so that a summarizer with a taste in sentences, for long or short ones, for what many say, for
what stands first, gives sides unlike room without looking at a side. What can be said of sides is what is left over: the words of
a summary that a document has, less those that a document of sentences like its own would have.

Each word of a summary is shared by all sentences of its documents that have it, so that a word that many say counts a little for
each of them. How these shares follow length, commonness, place and marks of a sentence is learned from all sets of a system by a
conditional logit (McFadden 1974) of the sentences of each set, whatever the labels. Labels are then dealt anew within each set
(see `evaluation.significance`). How often this names somebody in fair summaries was tried on real documents:
docs/fairness-evidence.md#taste. The measure is our own.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
import regex
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

# as a page names it
TASTE = "documents of the same manner of writing"
# what of a sentence may please or displease, beside its words: numbers, who speaks, how it ends, names
MARKS = tuple(
    map(
        regex.compile,
        (r"\d", r"(?i)\b(?:i|my|me|we|our|us)\b", r"[!\uff01]", r"[?\uff1f]", r"(?<=.)\p{Lu}"),
    )
)
# pieces of each curve
PIECES = 4
# penalty on squared coefficients of standardised columns
RIDGE = 1.0
# a step of Newton's that gains less is the last one; there are never so many
LEAST_GAIN, MOST_STEPS = 1e-6, 60


@dataclass(frozen=True, eq=False)
class Source:
    """The sentences of a set's documents that have a word that counts."""

    tokens: tuple[tuple[str, ...], ...]
    # document of each, and where it stands in it, 0 first and 1 last, (sentences,)
    document: Ints
    place: Floats
    # whether it has each of `MARKS`, and is first and last of several, (sentences, marks)
    marks: Floats
    n_documents: int

    @cached_property
    def length(self) -> Floats:
        """Words of each sentence, (sentences,)."""
        return np.array(list(map(len, self.tokens)), dtype=float)

    @cached_property
    def words(self) -> Floats:
        """Words of each document, (documents,)."""
        return self.by_document(self.length)

    @cached_property
    def having(self) -> dict[str, list[int]]:
        """The sentences that have each word."""
        by_word = defaultdict[str, list[int]](list)
        for place, tokens in enumerate(self.tokens):
            for token in set(tokens):
                by_word[token].append(place)
        return dict(by_word)

    def credit(self, summary: Sequence[str]) -> Floats:
        """Words of a summary that are in the documents, shared out among the sentences that have them, (sentences,)."""
        amounts = np.zeros(len(self.tokens))
        for token, n in Counter(summary).items():
            if places := self.having.get(token):
                amounts[places] += n / len(places)
        return amounts

    def by_document(self, amounts: Floats) -> Floats:
        """Sums over the sentences of each document, (documents,)."""
        return np.bincount(self.document, amounts, minlength=self.n_documents).astype(float)


def read_source(documents: Sequence[Sequence[str]], tokenize: Callable[[str], Sequence[str]]) -> Source:
    """The documents of a set as sentences.

    Args:
        documents: the sentences of each.
        tokenize: words of a text that count.
    """
    tokens, document, place, marks = [], [], [], []
    for number, sentences in enumerate(documents):
        read = [(part, words) for part in sentences if (words := tuple(tokenize(part)))]
        last = len(read) - 1
        for k, (part, words) in enumerate(read):
            tokens.append(words)
            document.append(number)
            place.append(k / last if last else 0.0)
            marks.append([*(bool(mark.search(part)) for mark in MARKS), k == 0, k == last > 0])
    return Source(
        tuple(tokens), np.array(document, dtype=np.intp), np.array(place, dtype=float),
        np.array(marks, dtype=float).reshape(len(tokens), len(MARKS) + 2), len(documents),
    )  # fmt: skip


@dataclass(frozen=True, eq=False)
class Credit:
    """A summary's words, shared out among the sentences of its documents that have them."""

    source: Source
    # (sentences,)
    amounts: Floats
    # of the summary
    n_sentences: int


@dataclass(frozen=True, eq=False)
class Sources:
    """All sets of a corpus, side by side."""

    sets: tuple[Source, ...]

    @cached_property
    def _starts(self) -> Ints:
        return np.cumsum([0, *(len(source.tokens) for source in self.sets)])[:-1]

    @cached_property
    def _set_of(self) -> Ints:
        return np.repeat(np.arange(len(self.sets)), [len(source.tokens) for source in self.sets])

    @cached_property
    def _room(self) -> Floats:
        """Logarithm of each sentence's words: of a summarizer without taste a word is as likely to come from any other."""
        return np.asarray(np.log(np.concatenate([source.length for source in self.sets])))

    @cached_property
    def _columns(self) -> Floats:
        """What taste may go by, standardised, (sentences, columns): curves in pieces, marks, and all by length."""
        in_sets = Counter[str](token for source in self.sets for token in source.having)
        curves = np.vstack([_curves(source, in_sets, len(self.sets)) for source in self.sets])
        knots = np.quantile(curves, np.linspace(0, 1, PIECES + 1)[1:-1], axis=0)
        pieces = [np.maximum(0.0, curves - knot) for knot in knots]
        centred = curves - curves.mean(axis=0)
        marks = np.vstack([source.marks for source in self.sets])
        columns = np.hstack([curves, *pieces, marks, centred[:, :1] * centred])
        spread = columns.std(axis=0)
        return np.asarray((columns - columns.mean(axis=0)) / np.where(spread > 0, spread, 1.0))

    def expected(self, credits: Sequence[Floats]) -> list[Floats]:
        """The share of each sentence in its set by the taste of these summaries, (sentences,) of each set, summing to 1.

        Args:
            credits: of one system's summary of each set, (sentences,); sets have a sentence each.
        """
        if not self.sets:
            return []
        credit, total = np.concatenate(credits), np.array([amounts.sum() for amounts in credits])
        columns, beta = self._columns, np.zeros(self._columns.shape[1])
        gain, log_share = self._likelihood(beta, credit)
        for _ in range(MOST_STEPS):
            share = np.exp(log_share)
            weight = total[self._set_of] * share
            mean = np.add.reduceat(columns * share[:, None], self._starts)
            slope = columns.T @ (credit - weight) - RIDGE * beta
            curvature = (columns * weight[:, None]).T @ columns - (mean * total[:, None]).T @ mean
            step, size = np.linalg.solve(curvature + RIDGE * np.eye(len(beta)), slope), 1.0
            before = gain
            while True:
                gain, log_share = self._likelihood(beta + size * step, credit)
                if gain >= before or size < LEAST_GAIN:
                    break
                size /= 2
            beta = beta + size * step
            if gain - before < LEAST_GAIN:
                break
        return np.split(np.exp(log_share), self._starts[1:])

    def _likelihood(self, beta: Floats, credit: Floats) -> tuple[float, Floats]:
        """Penalised logarithm of the likelihood, and that of each sentence's share."""
        level = self._room + self._columns @ beta
        level -= np.maximum.reduceat(level, self._starts)[self._set_of]
        log_share = level - np.log(np.add.reduceat(np.exp(level), self._starts))[self._set_of]
        return float(credit @ log_share - RIDGE / 2 * beta @ beta), log_share


@lru_cache(maxsize=4)
def sources_of(sets: tuple[Source, ...]) -> Sources:
    """The sets side by side; the same ones are read once for all systems and families."""
    return Sources(sets)


def _curves(source: Source, in_sets: Counter[str], n_sets: int) -> Floats:
    """Length of a sentence, how common its words are in other documents and other sets, its place, its document's length."""
    n_others = max(1, source.n_documents - 1)
    also = {token: len({int(source.document[k]) for k in places}) - 1 for token, places in source.having.items()}
    rare = {token: np.log((1 + in_sets[token]) / (n_sets + 1)) for token in source.having}
    by_token = [[also[token] for token in tokens] for tokens in source.tokens]
    return np.column_stack(
        [
            np.log(source.length),
            [sum(counts) / len(counts) / n_others for counts in by_token],
            [sum(map(rare.__getitem__, tokens)) / len(tokens) for tokens in source.tokens],
            [max(counts) / n_others for counts in by_token],
            [np.log1p(sum(counts)) for counts in by_token],
            source.place,
            np.log1p(source.words)[source.document],
        ]
    )
