"""What makes the arrays that `fairness/` reduces: one protocol for each family of measures.

All take labelled summaries and answer each in order; what cannot be measured is `Unscored` with a reason, and never stops
the others. Opening one is cheap; a model is loaded by the first call and given back by `close`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from ...fairness.groups.evidence import SetEvidence
from ...fairness.groups.masses import Masses, Unscored
from ...fairness.labelled import LabelledSummary


class Matcher(Protocol):
    """Tells how much of each value's text a summary takes up.

    Masses of the sources always count tokens; those of the summary are the matcher's. The names of the masses are the declared
    values. Source: Zhang et al. 2024, section 3.2.
    """

    # "ngram", "words", "bertscore", "bartscore"
    name: str
    # names everything that the masses depend on, and nothing else
    signature: str
    # those of equal, not empty `loads` hold one model together
    loads: str

    def masses(self, items: Sequence[LabelledSummary]) -> list[Masses | Unscored]:
        """Masses of each item's declared values."""
        ...

    def matched_words(self, item: LabelledSummary) -> dict[str, tuple[str, ...]]:
        """By value the words of the summary that its text has; {} where no words are matched."""
        ...

    def close(self) -> None:
        """Give a model's memory back; closing twice does no harm."""
        ...


@dataclass(frozen=True)
class UnitEvidence:
    """What the windows of a set's documents say about the units of its summary."""

    # single facts of the summary, in its order
    units: tuple[str, ...]
    # texts of the windows; `evidence.windows` has the place of each one's document
    windows: tuple[str, ...]
    evidence: SetEvidence
    # comparisons in which a text was cut to the model's length
    n_cut: int = 0


class Entailer(Protocol):
    """Tells which units of a summary its documents entail.

    An entailer without the three classes of natural language inference gives (0, 1 - s, s) for a score s in [0, 1], so that the
    released gate keeps what scores above one half. Source: Li et al. 2025, eq. 2; docs/papers.md#li-entailment.
    """

    # "nli", "encoder", "words"
    name: str
    signature: str
    # those of equal, not empty `loads` hold one model together
    loads: str
    # whether a model reads each unit with each window, so that questions of many units are dear
    reads_pairs: bool

    def evidence(self, items: Sequence[LabelledSummary], *, between: bool = True) -> list[UnitEvidence | Unscored]:
        """Evidence on each item's units.

        Args:
            items: summaries with their documents.
            between: ask also what units have to do with each other, which whoever merges units needs.
        """
        ...

    def close(self) -> None:
        """Give a model's memory back; closing twice does no harm."""
        ...
