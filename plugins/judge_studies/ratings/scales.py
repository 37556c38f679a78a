"""Which way scores go and on which scale: what is stated holds, what can be told from the scores is said."""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ....errors import DataError, RecipeError
from ....resampling import Floats
from ....text import did_you_mean, some_of
from ....text.mistakes import listed
from ..agreement import correlation
from .columns import Rating
from .raters import others_mean

# raters from which on what they say together says something of people
FEW_RATERS = 5
# scores of a rater from which on it is told that all are the same, or that they go against those of others
LEAST_SCORES = 5
# rank correlation with the mean of the others, below which scores seem to be the wrong way round
REVERSED = -0.3
FORM = re.compile(r"\s*(-?[\d.]+)\s*\.\.\s*(-?[\d.]+)\s*")


class RatingScale(NamedTuple):
    """A stated scale, whose worst score may be its highest number."""

    worst: float
    best: float

    def has(self, score: float) -> bool:
        """Whether a score lies on it."""
        return min(self) <= score <= max(self)


def scales_of(entries: Sequence[str]) -> dict[str, RatingScale]:
    """Dimension, "" for all -> its scale, from "1..5" and "faithfulness=5..1", where 1 is best.

    Raises:
        RecipeError: an entry has another form; all are listed.
    """
    scales, mistakes = dict[str, RatingScale](), []
    for entry in entries:
        dimension, _, text = entry.rpartition("=")
        match = FORM.fullmatch(text)
        try:
            scale = RatingScale(float(match[1]), float(match[2])) if match else None
        except ValueError:
            scale = None
        if scale is None or scale.worst == scale.best:
            mistakes.append(
                f"--scale {entry!r}: write WORST..BEST or DIMENSION=WORST..BEST, such as 1..5, or 5..1 where 1 is best"
            )
        else:
            scales[dimension.strip()] = scale
    if mistakes:
        raise RecipeError(listed(mistakes))
    return scales


def oriented(path: Path, ratings: Sequence[Rating], scales: Mapping[str, RatingScale]) -> dict[str, float]:
    """Dimension -> 1 where higher is better, -1 where lower is.

    Raises:
        DataError: a scale is of no dimension, scores lie off their scale, or raters seem to use different ones; all are listed.
    """
    dimensions = list(dict.fromkeys(rating.dimension for rating in ratings))
    mistakes = [
        f"--scale {name}=: no such dimension{did_you_mean(name, dimensions)} They are {', '.join(dimensions)}"
        for name in scales
        if name and name not in dimensions
    ]
    signs = {}
    for dimension in dimensions:
        scale = scales.get(dimension, scales.get(""))
        scored = [rating for rating in ratings if rating.dimension == dimension and rating.score is not None]
        signs[dimension] = -1.0 if scale and scale.worst > scale.best else 1.0
        if scale:
            mistakes += [
                f"{rating.place}: the score of {dimension!r} is {rating.score:g}, off its scale {scale.worst:g}..{scale.best:g}"
                for rating in scored
                if not scale.has(rating.score or 0.0)
            ]
        else:
            mistakes += _other_scales(path, dimension, scored)
    if mistakes:
        raise DataError(listed(mistakes))
    return signs


def _other_scales(path: Path, dimension: str, scored: Sequence[Rating]) -> list[str]:
    """What is said of a rater whose scores are further out than all others' are apart; of two raters each is off the other's."""
    numbers: dict[str, list[float]] = defaultdict(list)
    for rating in scored:
        if rating.rater and rating.score is not None:
            numbers[rating.rater].append(rating.score)
    enough = {name: values for name, values in numbers.items() if len(values) >= LEAST_SCORES}
    spans = {name: (min(values), max(values)) for name, values in enough.items()}
    for name, values in enough.items():
        others = [span for other, span in spans.items() if other != name]
        if not others:
            continue
        low, high = min(span[0] for span in others), max(span[1] for span in others)
        # the median, so that a single slip is no scale
        if low < high and not 2 * low - high < float(np.median(values)) < 2 * high - low:
            return [
                f"{path}: {name!r} scores {dimension!r} from {min(values):g} to {max(values):g}, all others from {low:g} to "
                f"{high:g}; bring them to one scale, or, if they are on one, state it: --scale '{dimension}=WORST..BEST'"
            ]
    return []


def remarks(
    cubes: Mapping[str, Floats], signs: Mapping[str, float], raters: Sequence[str], scales: Mapping[str, RatingScale]
) -> list[str]:
    """What readers should know of the ratings, a sentence each: scale, number of raters, raters who say nothing or the contrary.

    Args:
        cubes: dimension -> (articles, summaries, raters), higher is better, nan where nobody scored.
        signs: dimension -> -1 where lower scores were better.
        raters: their names, in the cubes' order; () where nobody is named.
        scales: as they were stated.
    """
    sentences = [_scale_sentence(cubes, signs, scales)]
    if not raters:
        sentences.append("Nobody is named as rater, so how far people agree among themselves is not known.")
    elif len(raters) < FEW_RATERS:
        sentences.append(
            f"Only {len(raters)} {'person' if len(raters) == 1 else 'people'} scored; others may see it otherwise."
        )
    constant, contrary = [], []
    for dimension, cube in ((name, cubes[name]) for name in signs if name in cubes and raters):
        others = others_mean(cube)
        for place, name in enumerate(raters):
            values = cube[:, :, place]
            scored = values[~np.isnan(values)] * signs[dimension]
            if len(scored) >= LEAST_SCORES and np.ptp(scored) == 0:
                constant.append(f"{name} ({dimension}: {scored[0]:g}, {len(scored):,} times)")
            elif (~np.isnan(values) & ~np.isnan(others[:, :, place])).sum() >= LEAST_SCORES:
                rho = correlation(others[:, :, place], values, chooses=False)
                if rho < REVERSED:
                    contrary.append(f"{name} ({dimension}: rank correlation {rho:.2f} with the others)")
    if constant:
        sentences.append(f"One score for all summaries, which says nothing of their order: {some_of(constant)}.")
    if contrary:
        sentences.append(
            f"Against the others, as if the scale were the other way round: {some_of(contrary)}; nothing was changed."
        )
    return sentences


def _scale_sentence(cubes: Mapping[str, Floats], signs: Mapping[str, float], scales: Mapping[str, RatingScale]) -> str:
    """ "Scores: from 1 to 5, higher taken to be better (faithfulness, coverage)."."""
    parts: dict[str, list[str]] = defaultdict(list)
    for dimension, sign in signs.items():
        if scale := scales.get(dimension, scales.get("")):
            text = f"{scale.worst:g} is worst and {scale.best:g} best, as stated"
        elif dimension in cubes:
            ends = np.nanmin(cubes[dimension]) * sign, np.nanmax(cubes[dimension]) * sign
            text = f"from {min(ends):g} to {max(ends):g}, higher taken to be better"
        else:
            text = "none given"
        parts[text].append(dimension)
    return f"Scores: {'; '.join(f'{text} ({some_of(names)})' for text, names in parts.items())}."
