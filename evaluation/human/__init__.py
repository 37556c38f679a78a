"""People's judgements of summaries: which key points they saw in documents and summaries, and which of them match.

    systems -> page -> sheets ------> HumanUnit -> human_scores -> aggregate, results with intervals
    Label Studio's export ----/  /               -> agreement of two annotators or more, beside that of random highlights
    released files -------------/

Source: Ri et al. 2025, section 4.1; docs/papers.md#ri-human.
"""

from .aggregate import HumanMeans, aggregate
from .agreement import AnnotatorAgreement, annotator_agreement
from .annotation import Annotation, KeyPoint, Span, SummaryMarks, read_annotation
from .group_agreement import GroupAgreement, group_agreement
from .matching import Overlap, span_overlap, string_overlap
from .released import HumanUnit, read_human
from .scores import HumanScores, human_scores

__all__ = [
    "Annotation",
    "AnnotatorAgreement",
    "GroupAgreement",
    "HumanMeans",
    "HumanScores",
    "HumanUnit",
    "KeyPoint",
    "Overlap",
    "Span",
    "SummaryMarks",
    "aggregate",
    "annotator_agreement",
    "group_agreement",
    "human_scores",
    "read_annotation",
    "read_human",
    "span_overlap",
    "string_overlap",
]
