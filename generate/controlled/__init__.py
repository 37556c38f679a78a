"""Controlled test sets built: annotated articles in, key points, plans, prompts and summaries of known ground truth out.

Source: specification of the seed paper, section 4.
"""

from .build import Built, build_controlled, read_input
from .expected import PromptCount, expected_prompts, without_opposite

__all__ = ["Built", "PromptCount", "build_controlled", "expected_prompts", "read_input", "without_opposite"]
