"""Document sets: reading, importing, splitting, and the bundled corpora; summaries and people's labels of them.

read_any                    document sets from a file of any format that needs no more than reading
read_summaries              the summary of each set, from anybody's file
polisum, perspectivesumm,   importers, one for each source
coverage
opinions                    how people find a source's opinions represented
"""

from ..plugins.polisum.importer import import_polisum
from .reader import load_corpus, read_any, read_document_sets
from .splits import split_sets
from .summaries import read_summaries

__all__ = ["import_polisum", "load_corpus", "read_any", "read_document_sets", "read_summaries", "split_sets"]
