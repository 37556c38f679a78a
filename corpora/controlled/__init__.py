"""Controlled test sets: summaries made of known key points, so that their coverage and faithfulness are known.

Source: Ri et al. 2025, section 3.1, eqs. 1 and 2; docs/papers.md#ri-controlled.
"""

from .annotated import SAMPLE, AnnotatedArticle, Excerpt, read_annotated
from .plan import GroundTruth, PlannedSummary, controlled_plan, ground_truth, plan_summaries
from .reader import ControlledSet, ControlledSummary, read_controlled
from .topics import topics_of

__all__ = [
    "SAMPLE",
    "AnnotatedArticle",
    "ControlledSet",
    "ControlledSummary",
    "Excerpt",
    "GroundTruth",
    "PlannedSummary",
    "controlled_plan",
    "ground_truth",
    "plan_summaries",
    "read_annotated",
    "read_controlled",
    "topics_of",
]
