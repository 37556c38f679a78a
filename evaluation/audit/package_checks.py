"""Families of packages: what they give must hold together."""

from collections.abc import Sequence

import numpy as np

from ...errors import PluginError
from ...resampling import NOISE
from .figures import Figures
from .kinds import NumberKind


def refuse_unfit(label: str, kinds: Sequence[NumberKind], figures: object, n_sets: int) -> None:
    """Refuse figures of a package that do not hold together, of which numbers would be made that nobody gave.

    Raises:
        PluginError: something has another shape than it must have, is not finite, or is a share beyond 0 and 1.
    """
    if not isinstance(figures, Figures):
        raise PluginError(f"{label} gives {type(figures).__name__} and no Figures; see docs/plugins.md")
    n = len(figures.quantities)
    columns = np.asarray(figures.columns)
    numbers = figures.all_sets() if columns.ndim == 2 and columns.shape[0] == n_sets else np.zeros(0)
    mistakes = {
        f"columns must be numbers of shape ({n_sets}, columns)": columns.ndim != 2 or len(columns) != n_sets,
        "columns must be finite": not np.isfinite(columns).all(),
        f"rests_on must have shape ({n_sets}, {n})": figures.parts.shape != (n_sets, n)
        or figures.rests_on.shape != (n_sets, n),
        f"unfairness and left_out must be of {n_sets} sets": len(figures.unfairness) != n_sets
        or len(figures.left_out) != n_sets,
        f"reduce must give {n} numbers or nan": numbers.shape != (n,) or bool(np.isinf(numbers).any()),
        f"nulls must be none, or {n} with expect": bool(figures.nulls)
        and (len(figures.nulls) != n or figures.expect is None),
        "quantities must be of the kinds that the family declares": any(
            quantity.kind not in kinds for quantity in figures.quantities
        ),
    }
    wrong = [mistake for mistake, is_so in mistakes.items() if is_so]
    for quantity, number in zip(figures.quantities, numbers if not wrong else (), strict=not wrong):
        low = -1.0 if quantity.kind.is_difference else 0.0
        if quantity.kind.is_share and not np.isnan(number) and not low - NOISE <= number <= 1 + NOISE:
            wrong.append(f"{quantity.kind.name!r} is a share, and {number:g} is none")
    if wrong:
        raise PluginError(f"{label}: {'; '.join(wrong)}")
