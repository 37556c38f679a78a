"""Annotated news: documents in which every mention of a person is known, read from a file or drafted with spaCy.

Source: Steen and Markert 2024, appendix D; docs/papers.md#steen-drafts.
"""

from .draft import TaggedText, draft_document
from .news import draft_news, read_news
from .pipeline import SpacyPipeline, refuse_absent_pipeline

__all__ = [
    "SpacyPipeline",
    "TaggedText",
    "draft_document",
    "draft_news",
    "read_news",
    "refuse_absent_pipeline",
]
