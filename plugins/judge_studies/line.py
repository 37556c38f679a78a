"""A line fitted to known values by ridge regression, judged on topics that it never saw.

Minimised is the mean squared error plus penalty * sum of the squared coefficients of standardised features; a coefficient may be
held at or above 0, or at or below. What is estimated, means and scales and penalty too, comes from the topics that the line is
fitted to: the penalty is the one that predicts each of those topics best from the others. Both articles of a topic have each
other's points, so whole topics are left out.

Sums of products by topic are all that fitting and choosing need, hence leaving a topic out is a subtraction.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import lsq_linear

from ...resampling import Floats

# tried are these, from next to nothing to where all but the mean is gone
PENALTIES: tuple[float, ...] = tuple(float(penalty) for penalty in 10 ** np.arange(-3, 1.51, 0.5))
# lower and upper bounds of the coefficients, (features,) each
Held = tuple[Floats, Floats]
# a feature whose variance is this share of its mean square does not vary
LEAST_VARIANCE = 1e-12


@dataclass(frozen=True)
class FittedLine:
    """intercept + sum of coefficient * (value - mean) / scale, arrays of shape (features,)."""

    intercept: float
    coefficients: Floats
    means: Floats
    scales: Floats
    penalty: float

    def at(self, rows: Floats) -> Floats:
        """The line at rows of features, (rows, features), cut off at 0 and 1 as a share is, (rows,)."""
        return np.clip(self.intercept + (rows - self.means) / self.scales @ self.coefficients, 0.0, 1.0)

    def squared_errors(self, moments: Floats) -> float:
        """Sum of squared errors over the rows that the moments are of, without cutting off."""
        slopes = self.coefficients / self.scales
        errors = np.concatenate([[self.intercept - slopes @ self.means], slopes, [-1.0]])
        return float(errors @ moments @ errors)


def moments_by_topic(rows: Floats, truths: Floats, topics: Sequence[str]) -> dict[str, Floats]:
    """Topic -> sums of products of 1, features and truth over its rows, (features + 2, features + 2)."""
    names = np.array(topics)
    table = np.column_stack([np.ones(len(rows)), rows, truths])
    return {name: table[names == name].T @ table[names == name] for name in dict.fromkeys(topics)}


def fits(moments: Floats, penalties: Sequence[float], bounds: Held) -> list[FittedLine]:
    """The line of these moments for each penalty.

    Args:
        moments: of all rows that it is fitted to.
        penalties: on the squared coefficients, above 0.
        bounds: bounds of the coefficients.
    """
    means = moments[0] / moments[0, 0]
    covariance = moments / moments[0, 0] - np.outer(means, means)
    variances = np.diag(covariance)[1:-1]
    varies = variances > LEAST_VARIANCE * np.maximum(np.diag(moments)[1:-1] / moments[0, 0], LEAST_VARIANCE)
    scales = np.where(varies, np.sqrt(np.maximum(variances, 0.0)), 1.0)
    gram = np.where(np.outer(varies, varies), covariance[1:-1, 1:-1], 0.0) / np.outer(scales, scales)
    target = np.where(varies, covariance[1:-1, -1] / scales, 0.0)
    # of what does not vary only the penalty is left, so that its coefficient is 0
    grams = gram + np.asarray(penalties)[:, None, None] * np.eye(len(scales))  # (penalties, features, features)
    free = np.linalg.solve(grams, np.broadcast_to(target[:, None], (*grams.shape[:2], 1)))[..., 0]
    are_within = np.atleast_1d(((bounds[0] <= free) & (free <= bounds[1])).all(axis=1))
    return [
        FittedLine(
            float(means[-1]),
            coefficients if is_within else _held_solution(gram, target, bounds),
            means[1:-1],
            scales,
            penalty,
        )
        for penalty, gram, coefficients, is_within in zip(penalties, grams, free, are_within, strict=True)
    ]


def _held_solution(gram: Floats, target: Floats, bounds: Held) -> Floats:
    """The least of x' gram x / 2 - target' x within the bounds."""
    root = np.linalg.cholesky(gram)
    solution: Floats = lsq_linear(root.T, np.linalg.solve(root, target), bounds, method="bvls").x
    return solution


def fit_best(parts: Sequence[Floats], bounds: Held) -> FittedLine:
    """The line of these topics, of the penalty that predicts each of them best from the others.

    Args:
        parts: moments of each topic; at least two.
        bounds: bounds of the coefficients.
    """
    total = np.sum(parts, axis=0)
    errors = np.sum(
        [[line.squared_errors(part) for line in fits(total - part, PENALTIES, bounds)] for part in parts], axis=0
    )
    return fits(total, [PENALTIES[int(np.argmin(errors))]], bounds)[0]


def leave_topic_out(
    rows: Floats, truths: Floats, topics: Sequence[str], bounds: Held
) -> tuple[Floats, dict[str, float]]:
    """Predictions of each row by the line that never saw its topic, (rows,), and the penalty of each topic's line.

    Args:
        rows: features, (rows, features).
        truths: known values, (rows,).
        topics: of each row; at least three.
        bounds: bounds of the coefficients.
    """
    by_topic = moments_by_topic(rows, truths, topics)
    names: NDArray[np.str_] = np.array(topics)
    predictions, penalties = np.empty(len(rows)), {}
    for topic in by_topic:
        line = fit_best([part for name, part in by_topic.items() if name != topic], bounds)
        predictions[names == topic] = line.at(rows[names == topic])
        penalties[topic] = line.penalty
    return predictions, penalties
