"""The oracle test: summaries whose fairness is known, since they are documents of each set taken over whole.

"balanced" has documents of the values in the proportion in which the set has them, "only VALUE" of one value alone.
Measures that do not tell these apart on a corpus tell nothing there.
Source: Zhang et al. 2024, appendix C; docs/papers.md#zhang-oracle.
"""

from collections.abc import Sequence

import numpy as np

from ...fairness.groups.quotas import group_quotas
from ...records import DocumentSet

BALANCED = "balanced"


def oracle_summaries(
    sets: Sequence[DocumentSet], attribute: str, n_documents: int, seed: int
) -> dict[str, dict[str, str]]:
    """The balanced summaries, then for each value those of its documents alone, by set; none of sets that have none.

    Args:
        sets: all documents have the attribute.
        attribute: by which they are balanced.
        n_documents: of a summary, or as many as there are.
        seed: of which documents are drawn.
    """
    summaries: dict[str, dict[str, str]] = {BALANCED: {}}
    summaries |= {f"only {value}": {} for documents in sets for value in documents.values(attribute)}
    generator = np.random.default_rng(seed)
    for documents in sets:
        by_value = {value: documents.select(attribute, value) for value in documents.values(attribute)}
        sizes = {value: len(documents) for value, documents in by_value.items()}
        quotas = {BALANCED: group_quotas(sizes, min(n_documents, sum(sizes.values())), "proportional")}
        quotas |= {f"only {value}": {value: min(n_documents, size)} for value, size in sizes.items()}
        for label, wanted in quotas.items():
            texts = [
                by_value[value][place].text
                for value, n in wanted.items()
                for place in generator.choice(sizes[value], n, replace=False)
            ]
            summaries[label][documents.id] = " ".join(texts[place] for place in generator.permutation(len(texts)))
    return summaries
