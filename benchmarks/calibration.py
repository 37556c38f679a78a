"""How often an audit names somebody: invented corpora whose summaries know no side, or halve a side's room, and real ones.

    python -m evenhand.benchmarks.calibration --trials 40
    python -m evenhand.benchmarks.calibration --trials 40 --documents reviews --attribute sentiment

make the tables of docs/fairness-evidence.md#taste. A document has words in common with all documents, words of its set's topic
and, where `own` is above 0, words that only documents of its value use; all follow Zipf's law. A summary that knows no side has
four sentences of the documents ("extract"), four of the first, the longest or the shortest ones, a single one, all of one
document, or as many words, either each occurrence alike ("words") or common ones rather, by the square of how many documents
have them.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Literal, get_args
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from ..config.fairness import EntailerSection, MatcherSection
from ..corpora.bundled import DOCUMENTS, file_of
from ..corpora.reader import read_document_sets
from ..evaluation.audit.conclusions import conclude
from ..evaluation.audit.contents import ChanceGap
from ..evaluation.audit.coverage import UnitCoverage
from ..evaluation.audit.figures import Family, Measured
from ..evaluation.audit.plan import AuditPlan
from ..evaluation.audit.shares import ValueShares
from ..fairness.labelled import LabelledSource, LabelledSummary
from ..judges.measures import open_entailer
from ..judges.measures.words import WordMatcher, open_word_matcher
from ..judges.shared import SharedModels
from ..resampling import Bootstrap
from ..text import sentences
from .report import Option
from .simulate import asked, print_heads, print_row

Manner = Literal["extract", "lead", "longest", "shortest", "one sentence", "a document", "words", "common words"]
# words that all documents use, that those of a value use, and of a set's topic
N_COMMON, N_OWN, N_TOPIC = 1500, 300, 40
TOPIC_SHARE = 0.3
N_SENTENCES, WORDS_A_SENTENCE = 4, 8
LEVEL = 0.95
PLAN = AuditPlan(bootstrap=Bootstrap(level=LEVEL))
SIDES = ("first", "second", "third", "fourth", *(f"side {n}" for n in range(5, 13)))
# of the table of values that are named
HEADS = (
    "documents", "own words", "summaries", "sets", "named falsely", "smallest halved: found", "largest halved: found",
)  # fmt: skip
# documents of each value, shares of a value's own words, and pairs of manners
SIZES = ((4, 4), (6, 2), (7, 1), (5, 2, 1), (2,) * 12)
OWN = (0.0, 0.3, 0.7)
# manners of which real documents, too, have summaries that know no side
OF_SENTENCES: tuple[Manner, ...] = ("extract", "lead", "longest", "shortest", "one sentence", "a document")
# options for real documents
REAL: dict[str, Option] = {
    "documents": {"help": "document sets of one's own, or a bundled name, in place of simulated ones"},
    "attribute": {"help": "of those documents"},
}
SYLLABLES = [a + b for a in "bdfgklmnprstvz" for b in "aeiou"]


@dataclass(frozen=True)
class Corpus:
    """A kind of corpus and of summaries."""

    # documents of each value in a set
    sizes: tuple[int, ...]
    n_sets: int
    # share of a document's words that only its value uses
    own: float = 0.0
    manner: Manner = "extract"
    # sentences of a document, least and most
    sentences: tuple[int, int] = (3, 6)
    # whether all documents of the last value are copies of one
    copies: bool = field(default=False, repr=False)
    # how many times as long documents of the first value are
    longer: int = field(default=1, repr=False)

    @property
    def values(self) -> tuple[str, ...]:
        """Names of its values."""
        return SIDES[: len(self.sizes)]


def drawn_sets(corpus: Corpus, generator: np.random.Generator) -> list[tuple[LabelledSource, ...]]:
    """Documents of every set."""
    return [tuple(_documents(corpus, f"t{_word(place)}", generator)) for place in range(corpus.n_sets)]


def _documents(corpus: Corpus, topic: str, generator: np.random.Generator) -> Iterator[LabelledSource]:
    for value, n in zip(corpus.values, corpus.sizes, strict=True):
        is_copied = corpus.copies and value == corpus.values[-1]
        for _ in range(1 if is_copied else n):
            least, most = (n * (corpus.longer if value == SIDES[0] else 1) for n in corpus.sentences)
            lengths = generator.integers(5, 12, size=generator.integers(least, most + 1))
            words = iter(_words(int(lengths.sum()), corpus.own, value, topic, generator))
            text = [" ".join(next(words) for _ in range(length)) for length in lengths]
            yield from [LabelledSource("\n".join(text), value, tuple(text))] * (n if is_copied else 1)


def _words(n: int, own: float, value: str, topic: str, generator: np.random.Generator) -> list[str]:
    kinds = generator.choice(3, size=n, p=(own, TOPIC_SHARE, 1 - own - TOPIC_SHARE))
    drawn = [generator.choice(len(p), size=n, p=p) for p in ZIPF]
    return [f"{(value, topic, 'c')[kind]}{_word(drawn[kind][k])}" for k, kind in enumerate(kinds)]


def _zipf(n: int) -> NDArray[np.float64]:
    weights = 1 / (np.arange(n) + 5.0)
    return np.asarray(weights / weights.sum())


# of the words of a value, of a topic, and of all
ZIPF = tuple(map(_zipf, (N_OWN, N_TOPIC, N_COMMON)))


def _word(number: int) -> str:
    """A word of syllables, its own for every number."""
    number, last = divmod(int(number), len(SYLLABLES))
    return (_word(number) if number else "") + SYLLABLES[last]


def summary(
    documents: Sequence[LabelledSource], manner: Manner, generator: np.random.Generator, halved: str | None = None
) -> str:
    """A summary in that manner; `halved` names a value of whose sentences only half are read."""
    read = [
        (place, k, sentence)
        for place, document in enumerate(documents)
        for k, sentence in enumerate(document.sentences or ())
        if document.value != halved or generator.random() < 0.5
    ]
    if manner == "lead":
        read = [each for each in read if each[1] == 0] or read
    if manner == "a document" and read:
        place = read[generator.integers(len(read))][0]
        return "\n".join(sentence for of, _, sentence in read if of == place)
    if manner not in ("words", "common words"):
        lengths = np.array([len(sentence.split()) for *_, sentence in read]) * {"longest": -1, "shortest": 1}.get(
            manner, 0
        )
        order = np.lexsort((generator.random(len(read)), lengths))
        return "\n".join(read[int(k)][2] for k in order[: 1 if manner == "one sentence" else N_SENTENCES])
    words = [(word, place) for place, _, sentence in read for word in sentence.split()]
    if manner == "common words":
        common = Counter(word for word, _ in dict.fromkeys(words))
        weights = np.array([common[word] ** 2 for word, _ in words], dtype=float)
    else:
        weights = np.ones(len(words))
    chosen = generator.choice(len(words), size=N_SENTENCES * WORDS_A_SENTENCE, p=weights / weights.sum())
    lines = np.array([words[int(place)][0] for place in chosen]).reshape(N_SENTENCES, -1)
    return "\n".join(map(" ".join, lines.tolist()))


def items(
    corpus: Corpus,
    documents: Sequence[tuple[LabelledSource, ...]],
    generator: np.random.Generator,
    halved: str | None = None,
) -> list[LabelledSummary]:
    """A summary of every set."""
    return [
        LabelledSummary(str(place), corpus.values, its, summary(its, corpus.manner, generator, halved))
        for place, its in enumerate(documents)
    ]


def shares(values: tuple[str, ...]) -> ValueShares:
    """Shares by the words of texts as they are."""
    words = WordMatcher("words", "", str.split)
    return ValueShares(words, words, "side", values, "drop_zero", 0.8, "ratio")


def coverage(values: tuple[str, ...]) -> UnitCoverage:
    """Coverage by words in common."""
    return UnitCoverage(open_entailer(EntailerSection(kind="words"), SharedModels()), "side", values, "released")


def measured(family: Family, given: Sequence[LabelledSummary], system: str = "system") -> Measured:
    """What a family finds in summaries."""
    found = family.measure(given)
    return Measured(family, system, tuple(found), family.figures(found))


def verdicts(family: Family, given: Sequence[LabelledSummary]) -> dict[str | None, ChanceGap]:
    """By value, what an audit says of the gaps by which it names groups."""
    found = conclude([measured(family, given)], ["system"], PLAN).gaps
    return {quantity.side: gap for (*_, quantity), gap in found.items() if quantity.kind.names}


@dataclass(frozen=True)
class Counts:
    """Trials in which something was said."""

    trials: int
    # a value was named, or a difference, where there is none
    false: int
    # the halved value, smallest or largest, was named as represented less
    smallest: int = 0
    largest: int = 0


def generators(corpus: Corpus, trials: int) -> Iterator[np.random.Generator]:
    """One a trial; other kinds of corpora have others, so that their trials may be added."""
    kind = crc32(repr(corpus).encode())
    return (np.random.default_rng([kind, trial]) for trial in range(trials))


def count_named(corpus: Corpus, trials: int, *, planted: bool = True) -> Counts:
    """How often values are named: of summaries that know no side, and of ones that halve a value's room."""
    family, values = shares(corpus.values), corpus.values
    false = smallest = largest = 0
    for generator in generators(corpus, trials):
        documents = drawn_sets(corpus, generator)
        found = verdicts(family, items(corpus, documents, generator))
        false += any(gap.is_clear for gap in found.values())
        if planted:
            smallest += is_missed(family, items(corpus, documents, generator, values[-1]), values[-1])
            largest += is_missed(family, items(corpus, documents, generator, values[0]), values[0])
    return Counts(trials, false, smallest, largest)


def is_missed(family: Family, given: Sequence[LabelledSummary], value: str) -> bool:
    """Whether an audit says that the summaries represent the value less."""
    found = verdicts(family, given).get(value)
    return found is not None and found.verdict == "lower"


@dataclass(frozen=True)
class RealDocuments:
    """Document sets of two values or more."""

    values: tuple[str, ...]
    sets: tuple[tuple[LabelledSource, ...], ...]

    @classmethod
    def read(cls, path: Path, attribute: str) -> "RealDocuments":
        """Those of a file."""
        sets = [
            tuple(LabelledSource(d.text, d.attributes[attribute], tuple(sentences(d.text))) for d in each.documents)
            for each in read_document_sets(path, attribute)
        ]
        several = tuple(documents for documents in sets if len({document.value for document in documents}) > 1)
        return cls(tuple(sorted({document.value for documents in several for document in documents})), several)

    def items(self, n_sets: int, manner: Manner, trial: int) -> list[LabelledSummary]:
        """Summaries of as many sets that are sentences of theirs, whosever they are."""
        generator = np.random.default_rng(trial)
        drawn = generator.choice(len(self.sets), size=min(n_sets, len(self.sets)), replace=False)
        of_sets = enumerate(self.sets[int(k)] for k in drawn)
        return [
            LabelledSummary(str(place), self.values, its, summary(its, manner, generator)) for place, its in of_sets
        ]

    @property
    def family(self) -> ValueShares:
        """By the words that an audit takes, not those of the simulation."""
        words = open_word_matcher(MatcherSection(kind="words"), SharedModels())
        return ValueShares(words, words, "side", self.values, "drop_zero", 0.8, "ratio")


def count_named_of(real: RealDocuments, n_sets: int, manner: Manner, trials: int) -> Counts:
    """How often values are named by summaries of real documents that know no side."""
    family = real.family
    found = (verdicts(family, real.items(n_sets, manner, trial)) for trial in range(trials))
    return Counts(trials, sum(any(each.verdict != "no clear difference" for each in of.values()) for of in found))


def main() -> None:
    """Print the tables."""
    given = asked(__doc__, (40, "corpora of each kind"), ([12, 30, 100], "document sets of a corpus"), **REAL)
    if given.documents:
        real = RealDocuments.read(file_of(Path(given.documents), DOCUMENTS), given.attribute)
        for n_sets, manner in product(given.sets, OF_SENTENCES):
            found = count_named_of(real, n_sets, manner, given.trials)
            print_row(given.documents, manner, n_sets, f"{found.false} of {found.trials}")
        return
    print_heads(*HEADS)
    for n_sets, sizes, own, manner in product(given.sets, SIZES, OWN, get_args(Manner)):
        corpus = Corpus(sizes, n_sets, own, manner)
        print_row(*row(corpus, count_named(corpus, given.trials)))


def row(corpus: Corpus, found: Counts) -> tuple[object, ...]:
    """What was counted of a kind of corpora, below `HEADS`."""
    return *kind(corpus), f"{found.false} of {found.trials}", found.smallest, found.largest


def kind(corpus: Corpus) -> tuple[object, ...]:
    """The first cells of a row."""
    return ":".join(map(str, corpus.sizes)), f"{100 * corpus.own:.0f} %", corpus.manner, corpus.n_sets


if __name__ == "__main__":
    main()
