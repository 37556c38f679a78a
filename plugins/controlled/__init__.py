"""Controlled test sets built: annotated articles in, key points, plans, prompts and summaries of known ground truth out.

Source: Ri et al. 2025, section 3.1; docs/papers.md#ri-controlled.
"""
