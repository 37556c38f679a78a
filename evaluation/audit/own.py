"""A user's own measure: a function of one summary and its documents as a family of the audit, with intervals over document sets.

It names nobody, unless it says what would be expected of each value and by which null.
"""

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from numbers import Real
from pathlib import Path
from typing import Any

import numpy as np

from ...doors import blamed
from ...errors import PluginError
from ...fairness.groups.coverage import over
from ...fairness.groups.masses import EMPTY_SUMMARY, Unscored
from ...fairness.labelled import LabelledSummary
from ...storage import file_digest
from .family import FamilyKind, FamilyPage, Opening, Wording
from .figures import Figures, Floats, reasons
from .kinds import Measure, NumberKind, Quantity, TakenApart

# a number, numbers by attribute value, or why there is none
Score = Callable[[LabelledSummary], Any]
NO_NUMBER = "the measure gives no number"


@dataclass(frozen=True)
class OwnScore:
    """What the function gives for one summary, by attribute value; by None where it gives one number."""

    numbers: Mapping[str | None, float]
    # what would be expected of each; {} where that is not known
    expected: Mapping[str | None, float]


@dataclass(frozen=True)
class OwnMeasure:
    """The family of a function."""

    name: str
    # as messages name it
    label: str
    kind: NumberKind
    score: Score
    # attribute values of the audit; () where the function gives one number
    values: tuple[str, ...]
    # everything that the numbers depend on besides documents and summaries
    signature: str
    by: str = ""
    expected: Score | None = None
    null: str = ""
    # of the mean, with "{point}"
    means: str = ""

    def measure(self, items: Sequence[LabelledSummary]) -> list[OwnScore | Unscored]:
        """What the function gives for each."""
        return list(map(self._scored, items))

    def figures(self, answers: Sequence[OwnScore | Unscored]) -> Figures:
        """Means over document sets."""
        sides = self.values or (None,)
        columns: Floats = np.zeros((3, len(answers), len(sides)))
        for row, answer in enumerate(answers):
            if isinstance(answer, OwnScore):
                for place, side in enumerate(sides):
                    if side in answer.numbers:
                        columns[:, row, place] = 1.0, answer.numbers[side], answer.expected.get(side, 0.0)
        return Figures(
            quantities=tuple(Quantity(Measure(self.kind, self.by), side) for side in sides),
            columns=np.hstack([*columns]),
            reduce=lambda sums: self._means(sums, 1),
            rests_on=columns[0] > 0,
            unfairness=np.full(len(answers), np.nan),
            left_out=reasons(answers),
            expect=(lambda sums: self._means(sums, 2)) if self.expected else None,
            nulls=(self.null,) * len(sides) if self.expected else (),
        )

    def sentence(self, kind: NumberKind, point: str, figures: Figures) -> str:
        """What the mean says."""
        return self.means.format(point=point)

    def example(self, item: LabelledSummary, answer: Any, left_out: tuple[str, ...] | None = None) -> TakenApart:
        """Of a function nothing is known that could be shown of a summary."""
        raise NotImplementedError(self.name)

    def _means(self, sums: Floats, block: int) -> Floats:
        by_block = sums.reshape(*sums.shape[:-1], 3, -1)
        return over(by_block[..., block, :], by_block[..., 0, :])

    def _scored(self, item: LabelledSummary) -> OwnScore | Unscored:
        if not item.summary.strip():
            return Unscored(EMPTY_SUMMARY)
        numbers = self._numbers(self.score, item)
        expected = self._numbers(self.expected, item) if self.expected else {}
        for outcome in (numbers, expected):
            if isinstance(outcome, str):
                return Unscored(outcome)
        assert not isinstance(numbers, str) and not isinstance(expected, str), "texts are reasons"
        if self.expected and numbers.keys() != expected.keys():
            raise PluginError(
                f"{self.label}, set {item.id!r}: numbers are of {_names(numbers)}, and what is expected of "
                f"{_names(expected)}; give both of the same values"
            )
        return OwnScore(numbers, expected)

    def _numbers(self, function: Score, item: LabelledSummary) -> dict[str | None, float] | str:
        """What the function gives by value, or why it gives nothing."""
        with blamed(f"{self.label}, set {item.id!r},"):
            answer = function(item)
        if answer is None or isinstance(answer, str):
            return answer or NO_NUMBER
        if isinstance(answer, Mapping) is not bool(self.values):
            raise self._error(item, answer, "a dict of attribute values" if self.values else "a number")
        numbers: dict[str | None, float] = {}
        for side, number in answer.items() if isinstance(answer, Mapping) else [(None, answer)]:
            if side not in self.values and self.values:
                raise self._error(item, answer, f"numbers of {', '.join(self.values)} alone")
            if isinstance(number, bool | np.bool_) or not isinstance(number, Real):
                raise self._error(item, answer, "numbers")
            if not isfinite(number):
                return f"the measure gives {float(number)}"
            if wrong := _out_of_range(self.kind, float(number)):
                raise self._error(item, answer, wrong)
            numbers[side] = float(number)
        return numbers or NO_NUMBER

    def _error(self, item: LabelledSummary, answer: object, wanted: str) -> PluginError:
        return PluginError(
            f"{self.label}, set {item.id!r}: gives {str(answer)[:80]!r} ({type(answer).__name__}), and must give "
            f"{wanted}, or a text that says why there is none"
        )


def own_measure(
    kind: NumberKind,
    score: Score,
    *,
    by_value: bool = False,
    means: str = "",
    expected: Score | None = None,
    null: str = "",
) -> FamilyKind:
    """The family of a function of one summary, its documents and their values.

    Args:
        kind: of the numbers; shares are between 0 and 1, others at least 0, but for differences.
        score: gives a number, or a text that says why there is none, which is counted.
        by_value: it gives a dict instead, attribute value -> number, of those values of the set that have one.
        means: what the mean says, with "{point}" for the number; of shares in per cent.
        expected: gives, as `score` does, what would be expected of each value. Values whose mean is clearly off it, by signs of
            document sets, are named, which `kind` must allow (only_names).
        null: what that is called: "documents written alike".

    Raises:
        ValueError: these do not go together.
    """
    may_name = bool(expected and null)
    if (
        kind.names != may_name
        or kind.votes
        or bool(expected) != bool(null)
        or (may_name and not (by_value and kind.is_share))
    ):
        raise ValueError(
            "a measure that names values gives shares by_value, with expected, null and NumberKind(only_names=True); any other "
            "has none of the last three"
        )
    means = means or f"{kind.name[:1].upper()}{kind.name[1:]} is {{point}}{' %' if kind.is_share else ''} on average."
    means.format(point="0")

    def opened(opening: Opening) -> OwnMeasure:
        values = opening.audited.values if by_value else ()
        # name and bytes of the modules whose functions are called
        called = [f"{function.__module__}:{_file_digest(function)}" for function in (score, expected) if function]
        signature = "|".join((opening.name, *dict.fromkeys(called), *(["by value"] if values else []), "v:1"))
        return OwnMeasure(
            opening.name, opening.label, kind, score, values, signature, expected=expected, null=null, means=means
        )

    wording = Wording(
        "measured", "lower", "higher", f"in {kind.name} than by {null}",
        f"{{value}} has {{here}} of {kind.name}; {{expected}} would be expected by {null}",
    )  # fmt: skip
    return FamilyKind(opened, (kind,), page=FamilyPage(wording if may_name else None, zero_is_fair=False))


def _file_digest(function: Score) -> str:
    path = getattr(sys.modules.get(function.__module__), "__file__", None)
    return file_digest(Path(path)) if path else "?"


def _names(numbers: Mapping[str | None, float]) -> str:
    return ", ".join(str(side) for side in numbers) or "none"


def _out_of_range(kind: NumberKind, number: float) -> str:
    """What a number must be that is none of its kind; "" of one that is."""
    low, high = -1.0 if kind.is_difference else 0.0, 1.0
    if kind.is_rate:
        return "" if number in (0.0, 1.0) else "0 or 1, of a rate"
    if kind.is_share:
        return "" if low <= number <= high else f"shares from {low:g} to {high:g}"
    return "" if kind.is_difference or number >= 0 else "numbers of at least 0"
