"""Controlled test sets: summaries made of known key points, so that their coverage and faithfulness are known.

Source: specification of the seed paper, sections 3 and 4; Ri, Deas and McKeown 2025 (arXiv:2506.15925).
"""

from .annotated import SAMPLE, AnnotatedArticle, Excerpt, read_annotated
from .ground_truth import GroundTruth, ground_truth
from .plan import PlannedSummary, controlled_plan, plan_summaries
from .reader import ControlledSet, ControlledSummary, read_controlled

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
]
