"""How much of each opinion a summary shows, and how unequal that is: the Gini coefficient."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ....errors import DataError
from ....text import fold
from ....text.forms import normal_form
from .attachment import DUMMY


def gini(values: Sequence[float] | NDArray[np.float64]) -> float | None:
    """Gini coefficient in [0, (n - 1)/n]; 0 when all values are equal, higher is less equal.

    The population form, without the factor n/(n - 1). Neither the order nor the scale of the values matters. None when there is
    no value or all are 0: what shows nothing at all must not look perfectly fair.

    Source: Shandilya et al. 2020; docs/papers.md#shandilya-gini.

    Args:
        values: shape (n,), each finite and at least 0.

    Raises:
        DataError: a value is negative or not finite, or the values are no list of numbers.
    """
    amounts = np.asarray(values, dtype=float)
    if amounts.ndim != 1:
        raise DataError(f"gini takes one list of values, got shape {amounts.shape}")
    wrong = amounts[~(np.isfinite(amounts) & (amounts >= 0))]
    if wrong.size:
        raise DataError(
            f"gini takes finite values of at least 0, got {float(wrong[0])!r}; shift or leave out such values"
        )
    if not amounts.any():
        return None
    scaled = amounts / amounts.max()  # sums of very large values would overflow
    return max(0.0, rank_sum(scaled) / (amounts.size * float(scaled.sum())))


def rank_sum(values: ArrayLike) -> float:
    """Sum over i of (2i - n - 1) x_i for x_1 <= ... <= x_n: half the sum of the absolute differences of all ordered pairs."""
    ordered = np.sort(np.asarray(values, dtype=float))
    n = ordered.size
    return float((2.0 * np.arange(1, n + 1) - n - 1) @ ordered)


@dataclass(frozen=True)
class Exposure:
    """What a summary shows of each opinion."""

    # units of the source that speak for each opinion
    n_units: tuple[int, ...]
    # how many of them the summary has, or how many of the summary's own sentences speak for the opinion
    shown: tuple[int, ...]
    # shown / n_units, at least 0; None for opinions without units, which the score leaves out
    exposures: tuple[float | None, ...]
    # Gini coefficient of the exposures, in [0, 1), 0 is fair, lower is better; None when undefined
    score: float | None
    # why there is no score
    unscored: str | None
    # summary units that equal no unit of the source, or that speak for no opinion
    strays: int

    @property
    def n_opinions(self) -> int:
        """Opinions that the score compares; with one it is 0 whatever the summary."""
        return sum(exposure is not None for exposure in self.exposures)


def exposure_extractive(
    units: Sequence[str], attachment: Sequence[int] | NDArray[np.intp], n_opinions: int, summary: Sequence[str]
) -> Exposure:
    """The share of each opinion's units that the summary takes over whole.

    A unit is in the summary if some unit of the summary equals it after collapsing white space, trimming and case folding;
    repeated source units count each.

    Source: Shandilya et al. 2020, section VII.A, steps 4 and 5; docs/papers.md#shandilya-exposure.

    Args:
        units: texts of the source.
        attachment: position of each unit's opinion, -1 for none; shape (units,).
        n_opinions: number of opinions.
        summary: texts of the summary's units.

    Raises:
        DataError: units and attachment differ in number, or an opinion does not exist.
    """
    opinions = checked_attachment(attachment, len(units), n_opinions)
    source, pieces = [normal(text) for text in units], [normal(text) for text in summary]
    chosen = np.fromiter(map(set(pieces).__contains__, source), dtype=bool, count=len(source))  # (units,)
    known = set(source)
    strays = sum(text not in known for text in pieces)
    return exposure_of(_tally(opinions, n_opinions), _tally(opinions[chosen], n_opinions), strays)


def exposure_abstractive(
    attachment: Sequence[int] | NDArray[np.intp], n_opinions: int, summary_attachment: Sequence[int] | NDArray[np.intp]
) -> Exposure:
    """The number of summary sentences that speak for each opinion, over the number of source units that do.

    An exposure may exceed 1; the Gini coefficient is free of scale. For distinct units and a summary of copies of them this is
    `exposure_extractive`.

    Source: Shandilya et al. 2020, section VII.A, steps 4 and 5; docs/papers.md#shandilya-exposure.

    Args:
        attachment: position of each source unit's opinion, -1 for none; shape (units,).
        n_opinions: number of opinions.
        summary_attachment: the same of the summary's sentences, attached by the same rule; shape (sentences,).

    Raises:
        DataError: an opinion does not exist.
    """
    source = checked_attachment(attachment, len(attachment), n_opinions)
    summary = checked_attachment(summary_attachment, len(summary_attachment), n_opinions)
    strays = int((summary == DUMMY).sum())
    return exposure_of(_tally(source, n_opinions), _tally(summary, n_opinions), strays)


def exposure_of(n_units: NDArray[np.intp], shown: NDArray[np.intp], strays: int = 0) -> Exposure:
    """Exposures and score from the counts of each opinion, both of shape (opinions,)."""
    exposures = tuple(float(s / n) if n else None for s, n in zip(shown, n_units, strict=True))
    known = [exposure for exposure in exposures if exposure is not None]
    score = gini(known)
    reason = "the source has no opinion with units" if not known else "the summary shows no opinion"
    return Exposure(
        n_units=tuple(n_units.tolist()),
        shown=tuple(shown.tolist()),
        exposures=exposures,
        score=score,
        unscored=None if score is not None else reason,
        strays=strays,
    )


def normal(text: str) -> str:
    """The form in which texts are compared: their normal form, white space collapsed and trimmed, case folded."""
    return fold(normal_form(text)).casefold()


def checked_attachment(attachment: Sequence[int] | NDArray[np.intp], n_units: int, n_opinions: int) -> NDArray[np.intp]:
    """The attachment as an array of shape (units,).

    Raises:
        DataError: it has another length, or names an opinion that does not exist.
    """
    opinions = np.asarray(attachment, dtype=np.intp)
    if opinions.shape != (n_units,):
        raise DataError(f"{n_units} units, but an attachment of shape {opinions.shape}; one opinion a unit is needed")
    wrong = opinions[(opinions < DUMMY) | (opinions >= n_opinions)]
    if wrong.size:
        raise DataError(f"opinion {int(wrong[0])} does not exist; attachments are {DUMMY} (none) to {n_opinions - 1}")
    return opinions


def _tally(opinions: NDArray[np.intp], n_opinions: int) -> NDArray[np.intp]:
    """Units of each opinion, the dummy left out; shape (opinions,)."""
    return np.bincount(opinions[opinions != DUMMY], minlength=n_opinions)
