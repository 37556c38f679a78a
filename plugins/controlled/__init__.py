"""Controlled test sets built: annotated articles in, key points, plans, prompts and summaries of known ground truth out.

Source: Ri et al. 2025, section 3.1; docs/papers.md#ri-controlled.
"""

from .build import Built, build_controlled, read_input
from .expected import expected_asks, expected_tasks
from .points import without_opposite

__all__ = ["Built", "build_controlled", "expected_asks", "expected_tasks", "read_input", "without_opposite"]
