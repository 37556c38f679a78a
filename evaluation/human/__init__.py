"""People's judgements of summaries: which key points they saw in documents and summaries, and which of them match.

    systems -> page -> sheets ------> HumanUnit -> human_scores -> human_results, with intervals
    Label Studio's export ----/  /               -> agreement of two annotators or more, beside that of random highlights
    released files -------------/

Source: Ri et al. 2025, section 4.1; docs/papers.md#ri-human.
"""

from .agreement import AnnotatorAgreement, GroupAgreement, annotator_agreement, group_agreement
from .annotation import Annotation, HumanUnit, KeyPoint, Span, SummaryMarks, read_annotation, read_human
from .results import HumanResults, HumanScores, human_results, human_scores

__all__ = [
    "Annotation",
    "AnnotatorAgreement",
    "GroupAgreement",
    "HumanResults",
    "HumanScores",
    "HumanUnit",
    "KeyPoint",
    "Span",
    "SummaryMarks",
    "annotator_agreement",
    "group_agreement",
    "human_results",
    "human_scores",
    "read_annotation",
    "read_human",
]
