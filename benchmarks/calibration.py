"""How often an audit's verdicts are false: simulated corpora whose summaries take no side, or halve a side's room.

    python -m evenhand.benchmarks.calibration --trials 40
    python -m evenhand.benchmarks.calibration --trials 40 --measure coverage
    python -m evenhand.benchmarks.calibration --trials 40 --documents reviews --attribute sentiment
    python -m evenhand.benchmarks.calibration --trials 200 --uneven

make the tables of docs/fairness.md#chance. A document has words in common with all documents, words of its set's topic and, where
`own` is above 0, words that only documents of its value use; all follow Zipf's law. A summary that takes no side has four
sentences of the documents ("extract"), four of their first ones ("lead"), or as many words, either each occurrence alike
("words") or common ones rather, by the square of how many documents have them ("common words").
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
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
from ..evaluation.audit.contents import Chance, Vote
from ..evaluation.audit.coverage import UnitCoverage
from ..evaluation.audit.figures import Family, Measured
from ..evaluation.audit.plan import AuditPlan
from ..evaluation.audit.shares import ValueShares
from ..fairness.labelled import LabelledSummary, LabelledText
from ..judges.measures import open_entailer, open_matcher
from ..judges.measures.words import WordMatcher
from ..judges.shared import SharedModels
from ..resampling import Bootstrap
from ..text import sentences
from .report import Option
from .simulate import asked, print_heads, print_row

Manner = Literal["extract", "lead", "words", "common words"]
# words that all documents use, that those of a value use, and of a set's topic
N_COMMON, N_OWN, N_TOPIC = 1500, 300, 40
TOPIC_SHARE = 0.3
N_SENTENCES, WORDS_A_SENTENCE = 4, 8
LEVEL = 0.95
PLAN = AuditPlan(bootstrap=Bootstrap(level=LEVEL))
SIDES = ("first", "second", "third", "fourth")
# of the table of values that are named
HEADS = (
    "documents", "own words", "summaries", "sets", "named falsely", "smallest halved: found", "largest halved: found",
)  # fmt: skip
# of the table of systems that are called fairer
VOTE_HEADS = (
    "documents", "own words", "one's summaries", "sets", "differ falsely", "smallest halved: less fair", "fairer", "the other's",
)  # fmt: skip
# documents of each value, shares of a value's own words, and pairs of manners
SIZES = ((4, 4), (6, 2), (7, 1), (5, 2, 1))
OWN = (0.0, 0.3)
PAIRS: tuple[tuple[Manner, Manner], ...] = (
    ("extract", "lead"), ("extract", "common words"), ("common words", "lead"), ("extract", "extract"),
)  # fmt: skip
# manners of which real documents, too, have summaries that take no side
OF_SENTENCES: tuple[Manner, ...] = ("extract", "lead")
# sentences of the summaries of a dozen sets, which are as uneven: alike, some, very, and two that are nearly all there is
UNEVEN = (
    (4,) * 12,
    (2, 3, 3, 4, 4, 4, 5, 5, 6, 8, 10, 12),
    (2, 2, 3, 3, 4, 4, 6, 8, 12, 20, 30, 40),
    (2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 40, 40),
)
# share of the sentences of a side that are read of it where a summary leans away from it
READ = 0.2
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

    @property
    def values(self) -> tuple[str, ...]:
        """Names of its values."""
        return SIDES[: len(self.sizes)]


def drawn_sets(corpus: Corpus, generator: np.random.Generator) -> list[tuple[LabelledText, ...]]:
    """Documents of every set."""
    return [tuple(_documents(corpus, f"t{_word(place)}", generator)) for place in range(corpus.n_sets)]


def _documents(corpus: Corpus, topic: str, generator: np.random.Generator) -> Iterator[LabelledText]:
    for value, n in zip(corpus.values, corpus.sizes, strict=True):
        is_copied = corpus.copies and value == corpus.values[-1]
        for _ in range(1 if is_copied else n):
            least, most = corpus.sentences
            lengths = generator.integers(5, 12, size=generator.integers(least, most + 1))
            words = iter(_words(int(lengths.sum()), corpus.own, value, topic, generator))
            text = [" ".join(next(words) for _ in range(length)) for length in lengths]
            yield from [LabelledText("\n".join(text), value, tuple(text))] * (n if is_copied else 1)


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
    documents: Sequence[LabelledText], manner: Manner, generator: np.random.Generator, halved: str | None = None
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
    if manner in ("extract", "lead"):
        chosen = generator.choice(len(read), size=min(N_SENTENCES, len(read)), replace=False)
        return "\n".join(read[int(place)][2] for place in chosen)
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
    documents: Sequence[tuple[LabelledText, ...]],
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
    return ValueShares(WordMatcher("words", "", str.split), "side", values, "drop_zero", 0.8, "ratio")


def coverage(values: tuple[str, ...]) -> UnitCoverage:
    """Coverage by words in common."""
    return UnitCoverage(open_entailer(EntailerSection(kind="words"), SharedModels()), "side", values, "released")


FAMILIES: dict[str, Callable[[tuple[str, ...]], Family]] = {"shares": shares, "coverage": coverage}


def measured(family: Family, given: Sequence[LabelledSummary], system: str = "system") -> Measured:
    """What a family finds in summaries."""
    found = family.measure(given)
    return Measured(family, system, tuple(found), family.figures(found))


def verdicts(family: Family, given: Sequence[LabelledSummary]) -> dict[str | None, Chance]:
    """By value, what an audit says of the gaps by which it names groups."""
    found = conclude([measured(family, given)], ["system"], PLAN).chances
    return {quantity.value: chance for (*_, quantity), chance in found.items() if quantity.kind.names}


def vote(family: Family, one: Sequence[LabelledSummary], other: Sequence[LabelledSummary]) -> Vote:
    """Whether `one` is fairer than `other`."""
    both = [measured(family, other, "reference"), measured(family, one, "system")]
    (found,) = conclude(both, ["reference", "system"], PLAN).votes
    return found


@dataclass(frozen=True)
class Counts:
    """Trials in which something was said."""

    trials: int
    # a value was named, or a difference, where there is none
    false: int
    # the halved value, smallest or largest, was named as represented less
    smallest: int = 0
    largest: int = 0
    # of pairs, that the system with the halved value is fairer
    opposite: int = 0


def generators(corpus: Corpus, trials: int) -> Iterator[np.random.Generator]:
    """One a trial; other kinds of corpora have others, so that their trials may be added."""
    kind = crc32(repr(corpus).encode())
    return (np.random.default_rng([kind, trial]) for trial in range(trials))


def count_named(corpus: Corpus, trials: int, measure: str = "shares", *, planted: bool = True) -> Counts:
    """How often values are named: of summaries that take no side, and of ones that halve a value's room."""
    family, values = FAMILIES[measure](corpus.values), corpus.values
    false = smallest = largest = 0
    for generator in generators(corpus, trials):
        documents = drawn_sets(corpus, generator)
        found = verdicts(family, items(corpus, documents, generator))
        false += any(chance.verdict != "no clear difference" for chance in found.values())
        if planted:
            smallest += _is_missed(family, items(corpus, documents, generator, values[-1]), values[-1])
            largest += _is_missed(family, items(corpus, documents, generator, values[0]), values[0])
    return Counts(trials, false, smallest, largest)


def _is_missed(family: Family, given: Sequence[LabelledSummary], value: str) -> bool:
    """Whether an audit says that the summaries represent the value less."""
    found = verdicts(family, given).get(value)
    return found is not None and found.verdict == "lower"


def count_fairer(corpus: Corpus, other: Manner, trials: int, measure: str = "shares") -> Counts:
    """How often one of two systems that take no side, and write in two manners, is said to differ; `smallest`: how often the
    other one is fairer than one that halves the smallest value's room, `opposite`: how often it is less fair.
    """
    family = FAMILIES[measure](corpus.values)
    false = found = opposite = 0
    for generator in generators(corpus, trials):
        documents = drawn_sets(corpus, generator)
        fair = items(replace(corpus, manner=other), documents, generator)
        false += vote(family, fair, items(corpus, documents, generator)).verdict != "no clear difference"
        halved = items(corpus, documents, generator, corpus.values[-1])
        said = vote(family, fair, halved).verdict
        found += said == "fairer"
        opposite += said == "less fair"
    return Counts(trials, false, found, opposite=opposite)


def count_uneven(n_sets: int, lengths: Sequence[int], trials: int) -> Counts:
    """How often values are named where each summary leans to one of two, which lot decides, so that none is read less often.

    Args:
        n_sets: document sets of a corpus, of long documents.
        lengths: sentences of the summaries, in turn.
        trials: corpora.
    """
    corpus, false = Corpus((4, 4), n_sets, sentences=(10, 14)), 0
    family = shares(corpus.values)
    for generator in generators(corpus, trials):
        given = []
        for place, documents in enumerate(drawn_sets(corpus, generator)):
            less = corpus.values[generator.integers(2)]
            read = [
                sentence
                for each in documents
                for sentence in each.sentences or ()
                if each.value != less or generator.random() < READ
            ]
            n = min(lengths[place % len(lengths)], len(read))
            chosen = "\n".join(read[int(k)] for k in generator.choice(len(read), n, replace=False))
            given.append(LabelledSummary(str(place), corpus.values, documents, chosen))
        false += any(each.verdict != "no clear difference" for each in verdicts(family, given).values())
    return Counts(trials, false)


@dataclass(frozen=True)
class RealDocuments:
    """Document sets of two values or more."""

    values: tuple[str, ...]
    sets: tuple[tuple[LabelledText, ...], ...]

    @classmethod
    def read(cls, path: Path, attribute: str) -> "RealDocuments":
        """Those of a file."""
        sets = [
            tuple(LabelledText(d.text, d.attributes[attribute], tuple(sentences(d.text))) for d in each.documents)
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

    def family(self, measure: str) -> Family:
        """By the words that an audit takes, not those of the simulation."""
        if measure != "shares":
            return FAMILIES[measure](self.values)
        return ValueShares(open_matcher(MatcherSection(kind="words")), "side", self.values, "drop_zero", 0.8, "ratio")


def count_named_of(real: RealDocuments, n_sets: int, manner: Manner, trials: int, measure: str = "shares") -> Counts:
    """How often values are named by summaries of real documents that take no side."""
    family = real.family(measure)
    found = (verdicts(family, real.items(n_sets, manner, trial)) for trial in range(trials))
    return Counts(trials, sum(any(each.verdict != "no clear difference" for each in of.values()) for of in found))


def main() -> None:
    """Print the tables."""
    given = asked(
        __doc__,
        (40, "corpora of each kind"),
        ([12, 30, 200], "document sets of a corpus"),
        measure={"choices": FAMILIES, "default": "shares", "help": "by which values are named (%(default)s)"},
        **REAL,
        votes={
            "action": "store_true",
            "help": "pairs of systems, of which one may be called fairer, in place of values",
        },
        uneven={
            "action": "store_true",
            "help": "summaries of unequal length, each of which leans to a side drawn by lot",
        },
    )
    if given.uneven:
        print_heads("sentences of summaries", "sets", "named falsely")
        for n_sets, lengths in product(given.sets, UNEVEN):
            found = count_uneven(n_sets, lengths, given.trials)
            print_row(", ".join(map(str, lengths)), n_sets, f"{found.false} of {found.trials}")
        return
    if given.documents:
        real = RealDocuments.read(file_of(Path(given.documents), DOCUMENTS), given.attribute)
        for n_sets, manner in product(given.sets, OF_SENTENCES):
            found = count_named_of(real, n_sets, manner, given.trials, given.measure)
            print_row(given.documents, given.measure, manner, n_sets, f"{found.false} of {found.trials}")
        return
    if given.votes:
        print_heads(*VOTE_HEADS)
        for n_sets, sizes, own, (one, other) in product(given.sets, SIZES, OWN, PAIRS):
            corpus = Corpus(sizes, n_sets, own, one)
            pairs = count_fairer(corpus, other, given.trials, given.measure)
            print_row(*kind(corpus), f"{pairs.false} of {pairs.trials}", pairs.smallest, pairs.opposite, other)
        return
    print_heads(*HEADS)
    for n_sets, sizes, own, manner in product(given.sets, SIZES, OWN, get_args(Manner)):
        corpus = Corpus(sizes, n_sets, own, manner)
        print_row(*row(corpus, count_named(corpus, given.trials, given.measure)))


def row(corpus: Corpus, found: Counts) -> tuple[object, ...]:
    """What was counted of a kind of corpora, below `HEADS`."""
    return *kind(corpus), f"{found.false} of {found.trials}", found.smallest, found.largest


def kind(corpus: Corpus) -> tuple[object, ...]:
    """The first cells of a row."""
    return ":".join(map(str, corpus.sizes)), f"{100 * corpus.own:.0f} %", corpus.manner, corpus.n_sets


if __name__ == "__main__":
    main()
