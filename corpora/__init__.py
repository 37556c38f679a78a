"""Document sets: reading, importing, splitting, and the bundled sample corpus."""

from .polisum import import_polisum
from .reader import load_corpus, read_document_sets
from .splits import split_sets

__all__ = ["import_polisum", "load_corpus", "read_document_sets", "split_sets"]
