"""How far aggregates of summaries that take no side lie from what is expected of them, and how often their gap excludes 0.

    python -m evenhand.benchmarks.calibration_expected --trials 40
    python -m evenhand.benchmarks.calibration_expected --trials 40 --measure coverage
    python -m evenhand.benchmarks.calibration_expected --trials 40 --documents reviews --attribute sentiment

make the tables of docs/fairness.md#expected, with the corpora and manners of writing of `calibration`.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import get_args

from ..corpora.bundled import DOCUMENTS, file_of
from ..evaluation.audit.conclusions import conclude
from ..evaluation.audit.contents import Chance
from ..evaluation.audit.figures import Family
from ..evaluation.audit.opinions import Opinions
from ..fairness.labelled import LabelledSummary
from .calibration import (
    OF_SENTENCES,
    PLAN,
    REAL,
    Corpus,
    Manner,
    RealDocuments,
    coverage,
    drawn_sets,
    generators,
    items,
    measured,
    shares,
)
from .report import count
from .simulate import asked, print_heads, print_row


def opinions(values: tuple[str, ...]) -> Opinions:
    """The opinion graph of sentences, which knows no values."""
    return Opinions()


FAMILIES: dict[str, Callable[[tuple[str, ...]], Family]] = {
    "shares": shares,
    "coverage": coverage,
    "opinions": opinions,
}
# documents of each value; corpora that a row of the table adds up
SIZES = (((4, 4),), ((7, 1), (5, 2, 1)))


@dataclass(frozen=True)
class Beyond:
    """Trials in which the interval of an aggregate's gap lay beyond 0."""

    trials: int
    above: int
    below: int
    # mean of the number and of what is expected
    found: float
    expected: float

    def __add__(self, other: "Beyond") -> "Beyond":
        trials = self.trials + other.trials
        mine, theirs = self.trials / trials, other.trials / trials
        return Beyond(
            trials,
            self.above + other.above,
            self.below + other.below,
            self.found * mine + other.found * theirs,
            self.expected * mine + other.expected * theirs,
        )


def count_beyond(corpus: Corpus, trials: int, measure: str, halved: str | None = None) -> dict[str, Beyond]:
    """By aggregate, how often the gap of summaries lies above and below 0.

    Args:
        corpus: kind of corpus and of summaries.
        trials: corpora.
        measure: of `FAMILIES`.
        halved: value of whose sentences only half are read; None for summaries that take no side.
    """
    corpora = (items(corpus, drawn_sets(corpus, each), each, halved) for each in generators(corpus, trials))
    return beyond_of(FAMILIES[measure](corpus.values), corpora)


def beyond_of(family: Family, corpora: Iterable[list[LabelledSummary]]) -> dict[str, Beyond]:
    """By aggregate, of summaries of every corpus."""
    counted = dict[str, Beyond]()
    for given in corpora:
        found = conclude([measured(family, given)], ["system"], PLAN).chances
        add(counted, {of.kind.name: _one(chance) for (*_, of), chance in found.items() if of.value is None})
    return counted


def add(counted: dict[str, Beyond], more: dict[str, Beyond]) -> None:
    """Add up by name."""
    for name, one in more.items():
        counted[name] = counted[name] + one if name in counted else one


def _one(chance: Chance) -> Beyond:
    """A trial's."""
    above = chance.low is not None and chance.low > 0
    below = chance.high is not None and chance.high < 0
    return Beyond(1, int(above), int(below), chance.expected + chance.gap, chance.expected)


def main() -> None:
    """Print the table."""
    given = asked(
        __doc__,
        (40, "corpora of each kind"),
        ([30, 200], "document sets of a corpus"),
        halved=count(20, "of these, with a halved value"),
        measure={"choices": FAMILIES, "default": "shares", "help": "whose aggregates (%(default)s)"},
        **REAL,
    )
    print_heads(
        "measure", "summaries", "documents", "sets",
        "found", "expected", "fair: gap above 0", "below 0", "halved: above 0",
    )  # fmt: skip
    if given.documents:
        real = RealDocuments.read(file_of(Path(given.documents), DOCUMENTS), given.attribute)
        for n_sets, manner in product(given.sets, OF_SENTENCES):
            corpora = (real.items(n_sets, manner, trial) for trial in range(given.trials))
            for name, found in beyond_of(real.family(given.measure), corpora).items():
                _print(name, manner, given.documents, n_sets, found)
        return
    manners: tuple[Manner, ...] = get_args(Manner)
    for n_sets, manner, together in product(given.sets, manners, SIZES):
        fair, halved = dict[str, Beyond](), dict[str, Beyond]()
        for sizes, own in product(together, (0.0, 0.3)):
            corpus = Corpus(sizes, n_sets, own, manner)
            add(fair, count_beyond(corpus, given.trials, given.measure))
            add(halved, count_beyond(corpus, given.halved, given.measure, corpus.values[0]))
        called = ", ".join(":".join(map(str, sizes)) for sizes in together)
        for name, found in fair.items():
            _print(name, manner, called, n_sets, found, halved[name])


def _print(name: str, manner: Manner, called: str, n_sets: int, found: Beyond, halved: Beyond | None = None) -> None:
    """A row."""
    means = (f"{100 * found.found:.1f}", f"{100 * found.expected:.1f}")
    power = f"{100 * halved.above / halved.trials:.0f} %" if halved else ""
    print_row(name, manner, called, n_sets, *means, f"{found.above} of {found.trials}", found.below, power)


if __name__ == "__main__":
    main()
