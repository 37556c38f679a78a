"""Document sets: reading, importing, splitting, and the bundled corpora; summaries and people's labels of them.

read_any                    document sets from a file of any format that needs no more than reading
read_summaries              the summary of each set, from anybody's file
importers                   the door of formats that are not evenhand's own
coverage                    the format of coverage-based fairness
"""

from .reader import load_corpus, read_any, read_document_sets
from .splits import split_sets
from .summaries import read_summaries

__all__ = ["load_corpus", "read_any", "read_document_sets", "read_summaries", "split_sets"]
