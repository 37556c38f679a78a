"""People's ratings for pages of a run, a score or a comparison, by the summaries that these have."""

import numpy as np

from ....errors import DataError
from ....evaluation.report.people.ratings import RatedTexts, RatingsFile, Reader, SummaryRatings
from ....text.shown import shortened
from .articles import RatingsRequest
from .rated import read_rated
from .scales import scales_of


def scores_by_summary(file: RatingsFile, rated: RatedTexts) -> SummaryRatings:
    """The scores of one dimension.

    Raises:
        StorageError: the file cannot be read.
        DataError: it is none of ratings, something in it is wrong, or it has several dimensions and none is named.
    """
    summaries = read_rated(
        RatingsRequest(
            file=file.path,
            documents=rated.documents,
            attribute=rated.attribute,
            summaries=rated.texts,
            dimensions=file.dimensions,
            scales=scales_of(file.scales),
        )
    )
    dimensions = [name for name in summaries.signs if name in summaries.scores]
    if len(dimensions) > 1:
        raise DataError(
            f"{file.path}: has scores of {', '.join(map(shortened, dimensions))}; say which: --dimension {dimensions[0]!r}"
        )
    (dimension,) = dimensions
    # as they were given: what is told of them is on the raters' own scale
    cube = summaries.scores[dimension] * summaries.signs[dimension]
    raters = summaries.raters or ("",)
    scores = {
        (article.id, summary.text): {
            rater: float(score) for rater, score in zip(raters, row, strict=True) if not np.isnan(score)
        }
        for article, table in zip(summaries.sets, cube, strict=True)
        for summary, row in zip(article.summaries, table, strict=False)
    }
    return SummaryRatings(dimension, {key: row for key, row in scores.items() if row}, summaries.notes)


READER: Reader = scores_by_summary
