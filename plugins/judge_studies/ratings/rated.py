"""Rated summaries in the form in which judges are studied: sets of summaries, and as their truth the mean of people's scores.

A rating that cannot be used is counted by its reason or refused; none is invented. What is unusual in the scores, as a rater who
gives one score to all or goes against all others, is said and changes nothing.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ....config.needs import Purpose
from ....corpora.controlled import ControlledSet
from ....errors import DataError
from ....fairness.groups.coverage import over
from ....judges.benchmark import ATTRIBUTES
from ....resampling import Floats
from ....storage import file_digest
from .articles import RatedArticle, RatingsRequest, read_articles
from .scales import RatingScale, oriented, remarks


@dataclass(frozen=True)
class RatedSummaries:
    """Summaries that people scored, articles down and summaries across."""

    # name of the file and digest of its content
    file: str
    digest: str
    # how many points their summaries have is not known, and not looked at
    sets: list[ControlledSet]
    # dimension, and dimension of a group of raters -> (articles, summaries, raters), higher is better, nan where nobody scored
    scores: Mapping[str, Floats]
    # names of the raters; () where nobody is named
    raters: tuple[str, ...]
    # dimension -> -1 where the file's lower scores are better
    signs: Mapping[str, float]
    # dimension, "" for all -> its scale, where one was stated
    scales: Mapping[str, RatingScale]
    # what is to be known of them, a sentence each
    notes: tuple[str, ...]

    @property
    def truths(self) -> dict[str, Floats]:
        """Dimension -> mean score of each summary, (articles, summaries); nan where nobody scored it."""
        return {
            name: np.asarray(over(np.nansum(cube, axis=2), (~np.isnan(cube)).sum(axis=2)))
            for name, cube in self.scores.items()
        }

    def first(self, limit: int | None) -> "RatedSummaries":
        """Those of the first articles alone; all for None."""
        scores = {name: cube[:limit] for name, cube in self.scores.items()}
        return replace(self, sets=self.sets[:limit], scores=scores)

    def for_purposes(self, dimensions: Mapping[Purpose, str]) -> "RatedSummaries":
        """Those of the dimensions that judges are to measure, under the names of these, as shares of the scale in [0, 1].

        Args:
            dimensions: purpose -> dimension; a purpose that is absent is the dimension of that name, if there is one.

        Raises:
            DataError: there is none for either purpose.
        """
        names = {purpose: dimensions.get(purpose) or self._named(purpose) for purpose in ATTRIBUTES}
        scores = {purpose: self._share(name) for purpose, name in names.items() if name}
        if not scores:
            raise DataError(
                f"{self.file}: no dimension is called coverage or faithfulness, which are what judges are to measure; say which "
                f"is: --dimension coverage=NAME. Its dimensions are {', '.join(self.scores)}"
            )
        told = "; ".join(f"{purpose} is {name!r}" for purpose, name in names.items() if name and name != purpose)
        notes = (*self.notes, f"People's scores count as shares of their scale{f'; {told}' if told else ''}.")
        absent = next(iter(scores.values()))
        all_scores: dict[str, Floats] = {
            purpose: scores.get(purpose, np.full_like(absent, np.nan)) for purpose in ATTRIBUTES
        }
        return replace(self, scores=all_scores, signs=dict.fromkeys(ATTRIBUTES, 1.0), notes=notes)

    def absence(self, purpose: Purpose) -> str | None:
        """Why nothing is known of what a judge is to measure, of those `for_purposes`; None where people scored it."""
        if not np.isnan(self.scores[purpose]).all():
            return None
        return f"nobody scored {purpose}; if a dimension of {self.file} is that, say so: --dimension {purpose}=NAME"

    def _named(self, purpose: str) -> str | None:
        return next((name for name in self.scores if name.casefold() == purpose), None)

    def _share(self, dimension: str) -> Floats:
        """Scores of a dimension as shares of the way from the worst to the best, stated or given, in [0, 1]."""
        cube = self.scores[dimension]
        scale = self.scales.get(dimension, self.scales.get(""))
        low, high = (
            sorted(self.signs[dimension] * end for end in scale) if scale else (np.nanmin(cube), np.nanmax(cube))
        )
        return np.asarray((cube - low) / (high - low if high > low else 1.0))


def read_rated(request: RatingsRequest) -> RatedSummaries:
    """The summaries that people scored.

    Raises:
        StorageError: the file cannot be read.
        DataError: the file is none of ratings, or ids, texts or scores in it are wrong; all mistakes of a kind are listed.
    """
    left_out: Counter[str] = Counter()
    articles = read_articles(request, left_out)
    ratings = [rating for article in articles for rating in article.ratings]
    signs = oriented(request.file, ratings, request.scales)
    left_out["ratings without a score"] = sum(rating.score is None for rating in ratings)
    raters = list(dict.fromkeys(rating.rater for rating in ratings if rating.score is not None))
    names = tuple(filter(None, raters))
    scores = _scores(articles, raters, signs)
    if not scores:
        raise DataError(f"{request.file}: every score is empty, so nobody rated anything")
    notes = [f"Left out: {n:,} {reason}." for reason, n in left_out.items() if n]
    return RatedSummaries(
        file=request.file.name,
        digest=file_digest(request.file),
        sets=[article.as_set for article in articles],
        scores=scores,
        raters=names,
        signs=signs,
        scales=request.scales,
        notes=(*remarks(scores, signs, names, request.scales), *notes),
    )


def _scores(articles: Sequence[RatedArticle], raters: Sequence[str], signs: Mapping[str, float]) -> dict[str, Floats]:
    """Dimension, and after them each of a group of raters -> (articles, summaries, raters), nan where nobody scored."""
    shape = len(articles), max(len(article.texts) for article in articles), len(raters)
    cubes: dict[str, Floats] = defaultdict(lambda: np.full(shape, np.nan))
    of_groups: dict[str, Floats] = defaultdict(lambda: np.full(shape, np.nan))
    columns = {name: place for place, name in enumerate(raters)}
    has_groups = len({rating.group for article in articles for rating in article.ratings if rating.group}) > 1
    for row, article in enumerate(articles):
        for place, candidate in enumerate(article.texts):
            for rating in article.by_candidate[candidate]:
                if rating.score is None:
                    continue
                cell, score = (row, place, columns[rating.rater]), signs[rating.dimension] * rating.score
                cubes[rating.dimension][cell] = score
                if has_groups and rating.group:
                    of_groups[f"{rating.dimension}, {rating.group}"][cell] = score
    return {**{name: cubes[name] for name in signs if name in cubes}, **of_groups}
