"""Which values take part in a comparison and when one is under-represented: the modes.

| mode | values that take part | under-represented | for |
| --- | --- | --- | --- |
| drop_zero | those with source mass | p_y <= tau p_g | the default; equals published numbers wherever rounding plays no part |
| released | those that the released cut-off loop keeps | p_y <= tau p_g | published tables, digit for digit |
| paper | all declared ones | p_y < tau p_g | the paper as it is written |

Source: Zhang et al. 2024, eq. 1; docs/papers.md#zhang-modes.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ...errors import DataError
from ...text import did_you_mean

Mode = Literal["drop_zero", "released", "paper"]


@dataclass(frozen=True)
class Rule:
    """A mode taken apart."""

    zero_mass: Literal["drop", "released", "keep"]
    # what a share exactly at the tolerance is: "inclusive" unfair, "strict" fair
    comparison: Literal["inclusive", "strict"]
    # share of the source mass after which the released loop stops, in [0, 1]
    cutoff: float = 1.0


RULES: dict[str, Rule] = {
    "drop_zero": Rule("drop", "inclusive"),
    "released": Rule("released", "inclusive"),
    "paper": Rule("keep", "strict"),
}


def rule_of(mode: Mode | Rule) -> Rule:
    """The rule that the mode stands for.

    Raises:
        DataError: there is no such mode, or the rule's cut-off is outside [0, 1].
    """
    if isinstance(mode, Rule):
        if not 0 <= mode.cutoff <= 1:
            raise DataError(f"a cut-off is a share of the source mass in [0, 1], got {mode.cutoff!r}")
        return mode
    if mode not in RULES:
        raise DataError(f"mode {mode!r} is not known{did_you_mean(mode, RULES)} Modes are {', '.join(RULES)}")
    return RULES[mode]


def kept_values(source: NDArray[np.float64], declared: NDArray[np.bool_], rule: Rule) -> NDArray[np.bool_]:
    """Which values take part, shape (..., values); none where a sample's source has no mass.

    Args:
        source: mass of each value in the source, shape (..., values).
        declared: which places are values of the sample, same shape.
        rule: what happens to values without mass.
    """
    scorable = source.sum(axis=-1, keepdims=True) > 0
    if rule.zero_mass == "drop":
        kept = source > 0
    elif rule.zero_mass == "keep":
        kept = declared
    else:
        kept = _until(source, rule.cutoff)
    return np.asarray(kept & declared & scorable)


def _until(source: NDArray[np.float64], cutoff: float) -> NDArray[np.bool_]:
    """The values that the released loop visits: by mass, descending, until the running share reaches the cut-off.

    The running share is summed in floating point and can end just below 1; then every value without mass is kept too.
    That is a defect of the released code, found in about a tenth of samples with three values, and published tables have it.
    """
    total = source.sum(axis=-1, keepdims=True)
    order = np.argsort(-source, axis=-1, kind="stable")  # (..., places)
    shares = np.take_along_axis(source, order, axis=-1) / np.where(total > 0, total, 1.0)
    before = np.cumsum(shares, axis=-1)[..., :-1]
    visited = np.ones(source.shape, dtype=bool)
    visited[..., 1:] = before < cutoff
    kept = np.empty_like(visited)
    np.put_along_axis(kept, order, visited, axis=-1)
    return kept
