"""Word lists: whether summaries use the words of groups, by default of the two genders, in their documents' proportions.

Counts are pooled over all sets before any share is formed, so a single set has no score: the sets shown are those without which
the score would fall most. Source: Steen and Markert 2024, section 3.1, with HELM's lists;
docs/papers.md#steen-word-lists.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...config.fairness import WordListsSection
from ...fairness.demographic.counts import shares
from ...fairness.demographic.word_lists import GENDER_WORDS, WordLists, word_list_scores
from ...fairness.groups.masses import EMPTY_SUMMARY, Unscored
from ...fairness.labelled import LabelledSummary
from ...storage import digest
from ...text import sentences as split_sentences
from .contents import WORD_LIST_BIAS, WORDS_IN_SOURCES, WORDS_IN_SUMMARIES, Example, Kind, Line, Measure, Quantity, Side
from .figures import Figures, Floats, most, reasons

Counts = NDArray[np.int64]


@dataclass(frozen=True)
class ListedWords:
    """The family of word-list inclusion bias."""

    lists: WordLists
    # what the words are called, and the digest of the lists
    called: str = "gender words"
    digest: str = f"helm-gender:{digest(GENDER_WORDS, 6)}"

    name = "word-lists"
    by = ""

    @property
    def signature(self) -> str:
        """The lists."""
        return f"word-lists|{self.digest}|reference:source|v:1"

    def measure(self, items: Sequence[LabelledSummary]) -> list[Counts | Unscored]:
        """Listed words in sources and summary of each, (2, groups)."""
        return [
            np.stack(
                [sum(self.lists.count(document.text) for document in item.documents), self.lists.count(item.summary)]
            )
            if item.summary.strip()
            else Unscored(EMPTY_SUMMARY)
            for item in items
        ]

    def figures(self, found: Sequence[Counts | Unscored]) -> Figures:
        """The sums of all sets."""
        groups = self.lists.groups
        columns = np.zeros((len(found), 2 * len(groups)))
        for row, each in enumerate(found):
            if not isinstance(each, Unscored):
                columns[row] = each.ravel()
        scored = np.array([not isinstance(each, Unscored) for each in found], dtype=bool)
        whole = self._reduce(columns.sum(axis=0))[0]
        rises = whole - self._reduce(columns.sum(axis=0) - columns)[:, 0]
        without = [what for what, n in zip(("document", "summary"), _counts(columns).sum(axis=1), strict=True) if not n]
        quantities = (
            Quantity(Measure(WORD_LIST_BIAS, self.called)),
            *(
                Quantity(Measure(kind, self.called), group)
                for group in groups
                for kind in (WORDS_IN_SOURCES, WORDS_IN_SUMMARIES)
            ),
        )
        return Figures(
            quantities=quantities,
            columns=columns,
            reduce=self._reduce,
            rests_on=np.repeat(scored[:, None], len(quantities), axis=1),
            unfairness=np.where(scored, rises, np.nan),
            left_out=reasons(found),
            undefined=f"no listed word in any {' or '.join(without)}",
        )

    def sentence(self, kind: Kind, point: str, figures: Figures) -> str:
        """What the score means."""
        first, counts = self.lists.groups[0], _counts(figures.columns)
        source, summary = (f"{100 * share:.1f} %" for share in shares(counts)[:, 0])
        n_source, n_summary = n_words(figures)
        return (
            f"Of the {self.called} {source} are {first} in the documents and {summary} in the summaries "
            f"({n_source:,} and {n_summary:,} words)."
        )

    def example(self, item: LabelledSummary, found: Counts, unfairness: float) -> Example:
        """The set's listed words in documents and summary, sentence by sentence."""
        groups = self.lists.groups
        lacking = found[0] / max(1, found[0].sum()) - found[1] / max(1, found[1].sum())
        worst = most(dict(zip(groups, lacking.tolist(), strict=True)))
        its = [place for place, group in enumerate(groups) if group in worst]
        return Example(
            family=self.name, system="", set_id=item.id, topic="", unfairness=unfairness,
            measure="how much the word-list bias of all summaries would fall without this one", is_share=True,
            columns=("words in documents", "words in summary"), takes_what="words",
            sides=tuple(
                Side(name=group, source=float(a), summary=float(b)) for group, a, b in zip(groups, *found, strict=True)
            ),
            lines=tuple(
                Line(text=text, takes=dict(zip(groups, map(float, self.lists.count(text)), strict=True)))
                for text in split_sentences(item.summary)
            ),
            left_out=worst,
            documents=tuple(d.text for d in item.documents if self.lists.count(d.text)[its].any()),
        )  # fmt: skip

    def _reduce(self, sums: Floats) -> Floats:
        counts = sums.reshape(*sums.shape[:-1], 2, -1)
        by_group = np.moveaxis(shares(counts), -2, -1)  # (..., groups, source and summary)
        whole = word_list_scores(counts)[..., None]
        return np.concatenate([whole, by_group.reshape(*sums.shape[:-1], -1)], axis=-1)


def listed_words(section: WordListsSection | None) -> ListedWords:
    """The words of the user's lists; HELM's of the genders without any."""
    if section is None:
        return ListedWords(WordLists())
    return ListedWords(WordLists(section.groups), section.name, f"lists:{digest(section.groups, 6)}")


def n_words(figures: Figures) -> tuple[int, int]:
    """Listed words in all documents and in all summaries."""
    source, summary = _counts(figures.columns).sum(axis=1)
    return int(source), int(summary)


def _counts(columns: Floats) -> Floats:
    return np.asarray(columns.sum(axis=0).reshape(2, -1))  # (sources and summaries, groups)
