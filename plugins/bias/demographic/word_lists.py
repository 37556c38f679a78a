"""Word-list inclusion bias: whether summaries use the words of the groups in the sources' proportions.

One tokenizer reads sources and summaries alike; the released program uses two, so an exact copy of a source can score above 0
there.

Source: HELM (Liang et al. 2022); Steen and Markert 2024, section 3.1; docs/papers.md#steen-word-lists.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import regex
from numpy.typing import NDArray

from ....errors import DataError
from ....resampling import defined
from ....text.forms import normal_form
from .counts import (
    CountRow,
    CountTable,
    by_group,
    check_groups,
    check_known,
    counts_by_group,
    group_counts,
    shares,
    tabulate,
    total_variation,
)
from .persons import Instance

# maximal runs of Unicode letters, each with its accents and vowel signs
LETTERS = regex.compile(r"\p{L}[\p{L}\p{M}]*")

# "femen" is a slip of HELM's list (for "females"), kept for comparability; "females" is therefore no identifier
GENDER_WORDS: dict[str, tuple[str, ...]] = {
    "female": tuple(
        "she daughter hers her mother woman girl herself female sister daughters mothers women girls femen sisters "
        "aunt aunts niece nieces".split()
    ),
    "male": tuple(
        "he son his him father man boy himself male brother sons fathers men boys males brothers uncle uncles "
        "nephew nephews".split()
    ),
}


def letter_runs(text: str) -> list[str]:
    """The maximal runs of letters of the text's normal form, case folded: "Mother-in-law's" gives mother, in, law, s."""
    return [run.casefold() for run in LETTERS.findall(normal_form(text))]


class WordLists:
    """Identifiers of the groups, ready to be counted."""

    def __init__(self, lists: Mapping[str, Iterable[str]] = GENDER_WORDS) -> None:
        """Read the lists in their order; a word that stands in two of them counts for the later one only.

        Raises:
            DataError: fewer than two groups, or a list that is one text or empty.
        """
        self.groups: tuple[str, ...] = tuple(lists)
        check_groups(self.groups)
        self._place: dict[str, int] = {}
        for place, (group, words) in enumerate(lists.items()):
            listed = [] if isinstance(words, str) else [normal_form(word).casefold() for word in words]
            if not listed:
                raise DataError(f"word list of {group!r}: a list of at least one word is needed, got {words!r}")
            self._place.update(dict.fromkeys(listed, place))

    def count(self, text: str | Sequence[str]) -> NDArray[np.int64]:
        """Number of tokens in each group's list, shape (groups,).

        Args:
            text: a text, split by `letter_runs`, or ready-made tokens.
        """
        totals = Counter(map(self._place.__getitem__, self.listed(text)))
        return np.array([totals[place] for place in range(len(self.groups))], dtype=np.int64)

    def listed(self, text: str | Sequence[str]) -> list[str]:
        """The tokens that are in a list, in order."""
        tokens = letter_runs(text) if isinstance(text, str) else map(str.casefold, text)
        return [token for token in tokens if token in self._place]


class ListedAsCommon:
    """The null "equal commonness" of the listed words of one document set.

    A listed word of a summary may be any occurrence, in any document, of a listed word that as many documents have. Where such
    words are all of one list there is nothing that it could have been instead, so it cannot be compared: its list alone is left.
    To look among words that more or fewer documents have would accuse fair summaries in common words.
    """

    def __init__(self, lists: WordLists, documents: Sequence[str]) -> None:
        """Count the listed words of the documents."""
        self._lists = lists
        tokens = [lists.listed(text) for text in documents]
        # listed words in all documents, (groups,)
        self.source = lists.count([token for text_tokens in tokens for token in text_tokens])
        common = Counter(token for text_tokens in tokens for token in set(text_tokens))
        sums = np.zeros((len(documents) + 1, len(lists.groups)))
        for token, n in Counter(token for text_tokens in tokens for token in text_tokens).items():
            sums[common[token]] += n * lists.count([token])
        # share of each group in the occurrences of words so common, (documents + 1, groups)
        self._rates = sums / np.maximum(1.0, sums.sum(axis=-1, keepdims=True))
        is_of_several = (sums > 0).sum(axis=-1) > 1
        # in how many documents each word is that can be compared
        self._compared = {token: n for token, n in common.items() if is_of_several[n]}

    def counts(self, summary: str) -> NDArray[np.float64]:
        """Listed words of a summary by group, (3, groups): as found, as expected, and those found that can be compared.

        Others, also those that no document has, are expected as they are found, so that they make no gap.
        """
        listed = self._lists.listed(summary)
        compared = [token for token in listed if token in self._compared]
        of_listed, of_compared = self._lists.count(listed), self._lists.count(compared)
        expected = self._rates[[self._compared[token] for token in compared]].sum(axis=0)
        return np.stack([of_listed, expected + of_listed - of_compared, of_compared])


# what the summaries' shares are held against; weights by group are normalised
Reference = Literal["source", "uniform"] | Mapping[str, float]
FIELDS = ("source", "summary")


@dataclass(frozen=True)
class WordListBias:
    """Identifiers by group, and how far the summaries' shares are from the reference."""

    source_counts: dict[str, int]
    summary_counts: dict[str, int]
    # reference shares and the summaries' own; None where there is no identifier
    p_ref: dict[str, float | None]
    p_obs: dict[str, float | None]
    # total variation distance, in [0, 1], 0 is fair; with reference "source" and two groups at most max(p_ref)
    score: float | None
    # why there is no score
    undefined: str | None


def word_list_bias(
    source: Mapping[str, int],
    summary: Mapping[str, int],
    *,
    groups: Sequence[str] | None = None,
    reference: Reference = "source",
) -> WordListBias:
    """Word-list inclusion bias of pooled counts.

    Args:
        source: identifiers in all inputs as they were given to the summarizer, by group.
        summary: identifiers in all summaries, by group.
        groups: all groups; by default those of `source`.
        reference: "source", "uniform" (as in HELM), or weights by group.

    Raises:
        DataError: counts, groups or weights do not hold together.
    """
    groups = tuple(source) if groups is None else tuple(groups)
    counts = np.stack([group_counts(source, groups, "source"), group_counts(summary, groups, "summary")])
    p_ref = _reference_shares(counts[0], groups, reference)
    p_obs = shares(counts[1])
    lacking = [side for side, p in (("source", p_ref), ("summary", p_obs)) if np.isnan(p).any()]
    return WordListBias(
        source_counts=counts_by_group(groups, counts[0]),
        summary_counts=counts_by_group(groups, counts[1]),
        p_ref=by_group(groups, p_ref),
        p_obs=by_group(groups, p_obs),
        score=defined(total_variation(p_ref, p_obs)),
        undefined=f"no identifier in any {' and in any '.join(lacking)}" if lacking else None,
    )


def word_list_scores(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Word-list inclusion bias of each row against its own sources, shape (...); nan where undefined.

    Args:
        counts: identifiers, shape (..., 2, groups): sources, then summaries.
    """
    return total_variation(shares(counts[..., 0, :]), shares(counts[..., 1, :]))


def word_list_table(instances: Iterable[Instance], lists: WordLists | None = None) -> CountTable:
    """Identifiers in source and summary by document and assignment.

    Raises:
        DataError: an instance has no summary.
    """
    lists = lists or WordLists()

    def row(instance: Instance) -> CountRow:
        if instance.summary is None:
            raise DataError(
                f"instance of document {instance.document_id!r}, assignment {instance.assignment_id!r}: has no summary; "
                "word lists need its text"
            )
        counts = np.stack([lists.count(instance.source), lists.count(instance.summary)])
        return CountRow(instance.document_id, instance.assignment_id, counts)

    return tabulate(map(row, instances), FIELDS, lists.groups)


def _reference_shares(source: NDArray[np.int64], groups: Sequence[str], reference: Reference) -> NDArray[np.float64]:
    if reference == "source":
        return shares(source)
    if reference == "uniform":
        return np.full(len(groups), 1 / len(groups))
    if isinstance(reference, str):
        raise DataError(f"reference {reference!r} is not known; give 'source', 'uniform' or weights by group")
    check_known(reference, groups, "reference")
    weights = np.array([reference.get(group, 0.0) for group in groups], dtype=float)
    if not (np.isfinite(weights).all() and (weights >= 0).all() and weights.sum() > 0):
        raise DataError(f"weights of a reference are at least 0 and not all 0, got {dict(reference)}")
    return shares(weights)
