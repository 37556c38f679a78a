"""The public functions: lists and dicts in, records out.

results     what they give back: records with `rows()`, `to_frame()` and a table for notebooks
documents   load_documents
steps       generate, judge, rerank, pairs: what the stages of a run do, in memory
studies     audit, compare, run
runs        open_run
"""

from .documents import load_documents
from .runs import open_run
from .steps import generate, judge, pairs, rerank
from .studies import audit, compare, load_recipe, run

__all__ = [
    "audit",
    "compare",
    "generate",
    "judge",
    "load_documents",
    "load_recipe",
    "open_run",
    "pairs",
    "rerank",
    "run",
]
