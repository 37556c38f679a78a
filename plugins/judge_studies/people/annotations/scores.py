"""What one annotator's marks say of a summary: coverage, faithfulness, and key points included, omitted and hallucinated.

Source: Ri et al. 2025, section 3; docs/papers.md#ri-human.
"""

from dataclasses import dataclass, fields

from .....errors import DataError
from .annotation import Annotation


@dataclass(frozen=True)
class HumanScores:
    """What one annotator's marks say of one summary."""

    # share of the document's key points that the summary has, in [0, 1]; None for a document without key points
    coverage: float | None
    # share of the summary's key points that the document has, in [0, 1]; None for a summary without key points
    faithfulness: float | None
    # key points of the document that the summary has, and that it has not
    included: int
    omitted: int
    # key points of the summary that the document has not
    hallucinated: int


SCORES = tuple(field.name for field in fields(HumanScores))
# those that are shares
RATES = ("coverage", "faithfulness")


def human_scores(annotation: Annotation, method: str) -> HumanScores:
    """The scores of one method's summary.

    Source: Ri et al. 2025, eqs. 1 and 2; docs/papers.md#ri-human.

    Raises:
        DataError: the annotator has not marked a summary of that method.
    """
    if method not in annotation.summaries:
        known = ", ".join(annotation.summaries) or "none"
        raise DataError(f"no summary of method {method!r} was marked; methods of this record are {known}")
    marks = annotation.summaries[method]
    omitted, hallucinated = sum(marks.omitted), sum(marks.hallucinated)
    return HumanScores(
        coverage=(len(marks.omitted) - omitted) / len(marks.omitted) if marks.omitted else None,
        faithfulness=(len(marks.points) - hallucinated) / len(marks.points) if marks.points else None,
        included=len(marks.omitted) - omitted,
        omitted=omitted,
        hallucinated=hallucinated,
    )
