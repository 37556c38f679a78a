"""Word lists: whether summaries use the words of groups, by default of the two genders, in their documents' proportions.

Counts are pooled over all sets before any share is formed, so a single set has no score: the sets shown are those without which
the score would fall most. Source: Steen and Markert 2024, section 3.1, with HELM's lists;
docs/papers.md#steen-word-lists. What is expected is in docs/fairness.md#word-lists.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

import numpy as np
from pydantic import Field

from ...config.fairness import LISTED
from ...config.section import Section
from ...evaluation.audit.family import CommandOption, FamilyKind, FamilyPage, GroupTable, Opening, Wording
from ...evaluation.audit.figures import Figures, Floats, Measured, in_order, most, quantities_of, reasons
from ...evaluation.audit.kinds import NumberKind, Side, SummaryUnit, TakenApart
from ...fairness.groups.coverage import over
from ...fairness.groups.masses import EMPTY_SUMMARY, Unscored
from ...fairness.labelled import LabelledSummary
from ...resampling import NOISE
from ...text import sentences as split_sentences
from ...text.digests import digest
from .demographic.counts import shares
from .demographic.word_lists import GENDER_WORDS, ListedAsCommon, WordLists, word_list_scores

WORD_LIST_BIAS = NumberKind("word-list bias", grows_by_chance=True)
WORDS_IN_SOURCES = NumberKind("share of listed words in sources", is_tested=False, is_of_lists=True)
WORDS_IN_SUMMARIES = NumberKind("share of listed words in summaries", is_tested=False, is_of_lists=True)
WORDS_COMPARED = NumberKind(
    "share of compared listed words in summaries", is_tested=False, only_names=True, is_of_lists=True
)
# what the null of words that can be compared is called, and that of the bias, with the scatter of document sets
EQUAL_COMMONNESS = "equal commonness"
SIGNS_OF_SETS = "random signs of sets"
NO_LISTED = "no listed word in the summary, or none that can be compared"
NONE_COMPARED = "no listed word of the summaries is as common in the documents as one of another list"
ROWS = (WORDS_IN_SOURCES, WORDS_IN_SUMMARIES, WORDS_COMPARED)
# of columns before the products of gaps: sources, summaries, what is expected of them, and their words that can be compared
BLOCKS = 4


class WordListsSection(Section):
    """Words by which groups are told, in a file for `evenhand audit --word-lists`."""

    # what the words are called, "gender words"
    name: str = Field(default="listed words", min_length=1)
    # group -> its words, each a run of letters
    groups: dict[str, tuple[str, ...]]

    def refuse(self) -> None:
        """Words must be such as texts are cut into."""
        mistakes = [
            f"groups.{group}: {word!r} is not a single word of letters"
            for group, words in self.groups.items()
            for word in words
            if not LISTED.fullmatch(word)
        ]
        mistakes += [f"groups.{group} has no word" for group, words in self.groups.items() if not words]
        owners: dict[str, str] = {}
        for group, words in self.groups.items():
            for word in {word.casefold() for word in words}:
                if owners.setdefault(word, group) != group:
                    mistakes.append(f"{word!r} is in groups.{owners[word]} and in groups.{group}: leave it in one")
        mistakes += ["groups has fewer than 2 groups to compare"] * (len(self.groups) < 2)
        if mistakes:
            raise ValueError("; ".join(mistakes))


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
        return f"word-lists|{self.digest}|reference:source|v:3"

    def measure(self, items: Sequence[LabelledSummary]) -> list[Floats | Unscored]:
        """Listed words in sources and summary of each, those expected of the summary and those compared, (4, groups)."""
        answers: list[Floats | Unscored] = []
        for documents, group in groupby(items, key=lambda item: item.documents):
            null = ListedAsCommon(self.lists, [document.text for document in documents])
            answers += [
                np.vstack([null.source, null.counts(item.summary)]) if item.summary.strip() else Unscored(EMPTY_SUMMARY)
                for item in group
            ]
        return answers

    def figures(self, answers: Sequence[Floats | Unscored]) -> Figures:
        """The sums of all sets."""
        groups = self.lists.groups
        columns: Floats = np.zeros((len(answers), BLOCKS + len(groups), len(groups)))
        for row, answer in enumerate(answers):
            if not isinstance(answer, Unscored):
                columns[row] = np.vstack([answer, np.outer(answer[1] - answer[2], answer[1] - answer[2])])
        scored = np.array([not isinstance(answer, Unscored) for answer in answers], dtype=bool)
        has = {WORDS_IN_SUMMARIES: columns[:, 1].any(axis=-1), WORDS_COMPARED: columns[:, 3].any(axis=-1)}
        compared = np.repeat(columns[:, 3].sum(axis=-1, keepdims=True), len(groups), axis=1)
        columns = columns.reshape(len(answers), -1)
        bias = self._reduce(columns.sum(axis=0))[0]
        rises = bias - self._reduce(columns.sum(axis=0) - columns)[:, 0]
        without = [
            side
            for side, n in zip(("document", "summary"), _counts(columns, len(groups)).sum(axis=1), strict=True)
            if not n
        ]
        quantities = quantities_of(self.called, ROWS, groups, (WORD_LIST_BIAS,))
        nulls = {WORD_LIST_BIAS: SIGNS_OF_SETS, WORDS_COMPARED: EQUAL_COMMONNESS}
        return Figures(
            quantities=quantities,
            columns=columns,
            reduce=self._reduce,
            expect=self._expect,
            nulls=tuple(nulls.get(quantity.kind, "") for quantity in quantities),
            rests_on=np.column_stack([has.get(quantity.kind, scored) for quantity in quantities]),
            weights=compared,
            unfairness=np.where(scored, rises, np.nan),
            left_out=reasons(answers),
            no_part=NO_LISTED,
            withheld="" if has[WORDS_COMPARED].any() else NONE_COMPARED,
            undefined=f"no listed word in any {' or '.join(without)}",
        )

    def sentence(self, kind: NumberKind, point: str, figures: Figures) -> str:
        """What the score means."""
        first, counts = self.lists.groups[0], _counts(figures.columns, len(self.lists.groups))
        source, summary = (f"{100 * share:.1f} %" for share in shares(counts)[:, 0])
        n_source, n_summary = n_words(figures)
        n_compared = int(self._by_group(figures.columns.sum(axis=0))[3].sum())
        return (
            f"Of the {self.called} {source} are {first} in the documents and {summary} in the summaries "
            f"({n_source:,} and {n_summary:,} words; {n_compared:,} of the latter can be compared)."
        )

    def example(self, item: LabelledSummary, answer: Floats, left_out: tuple[str, ...] | None = None) -> TakenApart:
        """The set's listed words in the summary beside those expected of it, or those in documents, sentence by sentence."""
        groups = self.lists.groups
        lacking = answer[0] / max(1, answer[0].sum()) - answer[1] / max(1, answer[1].sum())
        worst = most(dict(zip(groups, lacking.tolist(), strict=True))) if left_out is None else left_out
        basis, due_column = (
            (answer[0], "words in documents") if left_out is None else (answer[2].round(1), "words expected")
        )
        places = [place for place, group in enumerate(groups) if group in worst]
        return TakenApart(
            measure="how much the word-list bias of all summaries would fall without this one",
            columns=(due_column, "words in summary"), takes_what="words",
            sides=tuple(
                Side(name=group, source=float(a), summary=float(b))
                for group, a, b in zip(groups, basis, answer[1], strict=True)
            ),
            lines=tuple(
                SummaryUnit(text=text, takes=dict(zip(groups, map(float, self.lists.count(text)), strict=True)))
                for text in split_sentences(item.summary)
            ),
            left_out=worst,
            documents=tuple(d.text for d in item.documents if self.lists.count(d.text)[places].any()),
        )  # fmt: skip

    def _reduce(self, sums: Floats) -> Floats:
        counts = self._by_group(sums)
        by_group = np.moveaxis(shares(counts[..., (0, 1, 3), :]), -2, 0)  # (rows, ..., groups)
        return in_order([*by_group], word_list_scores(counts[..., :2, :])[..., None])

    def _expect(self, sums: Floats) -> Floats:
        """The bias of sums whose sets' gaps have random signs, and the shares of words that can be compared; nan without any."""
        by_set = self._by_group(sums)
        observed, expected, compared = np.moveaxis(by_set[..., 1:BLOCKS, :], -2, 0)
        products, n_compared = by_set[..., BLOCKS:, :], compared.sum(axis=-1, keepdims=True)
        by_group = over(expected - observed + compared, n_compared)
        # to first order a gap moves a share by itself less that share of the gaps of all groups, over all words
        share = shares(expected)
        variances = products.diagonal(axis1=-2, axis2=-1) - 2 * share * products.sum(axis=-1)
        variances = variances + share**2 * products.sum(axis=(-2, -1))[..., None]
        moved = over(variances, expected.sum(axis=-1, keepdims=True) ** 2)
        bias = mean_size(share - shares(by_set[..., 0, :]), moved).sum(axis=-1)[..., None] / 2
        bias = np.where(n_compared > 0, bias, np.nan)
        return in_order([by_group if kind == WORDS_COMPARED else np.nan for kind in ROWS], bias)

    def _by_group(self, sums: Floats) -> Floats:
        """The blocks, and the products of the sets' gaps, (..., blocks, groups)."""
        return sums.reshape(*sums.shape[:-1], -1, len(self.lists.groups))


def listed_words(section: WordListsSection | None) -> ListedWords:
    """The words of the user's lists; HELM's of the genders without any."""
    if section is None:
        return ListedWords(WordLists())
    return ListedWords(WordLists(section.groups), section.name, f"lists:{digest(section.groups, 6)}")


def n_words(figures: Figures) -> tuple[int, int]:
    """Listed words in all documents and in all summaries."""
    n_groups = sum(quantity.kind == WORDS_IN_SUMMARIES for quantity in figures.quantities)
    source, summary = _counts(figures.columns, n_groups).sum(axis=1)
    return int(source), int(summary)


def _counts(columns: Floats, n_groups: int) -> Floats:
    return np.asarray(columns.sum(axis=0).reshape(-1, n_groups)[:2])  # (sources and summaries, groups)


def mean_size(mean: Floats, variance: Floats) -> Floats:
    """Mean absolute value of normal numbers, of the shape of both: of the folded normal distribution (Leone et al. 1961).

    Sums over many sets are nearly normal, so that a distance of a corpus is expected without draws of whole corpora.
    """
    from scipy.special import erf

    deviation = np.sqrt(np.maximum(variance, 0.0))
    # rounding of differences of sums; of nan, nan
    scatters = deviation > NOISE
    z = mean / np.where(scatters, deviation, 1.0)
    folded = deviation * np.sqrt(2 / np.pi) * np.exp(-(z**2) / 2) + mean * erf(z / np.sqrt(2))
    return np.asarray(np.where(scatters, folded, np.abs(mean)))


class WordListOptions(Section):
    """Options of the audit's measure."""

    # None: words of the two genders
    word_lists: WordListsSection | None = None


def _opened(opening: Opening) -> ListedWords:
    options = opening.options
    assert isinstance(options, WordListOptions), "of its own kind"
    return listed_words(options.word_lists)


def _of_few_words(measured: Measured, least_group: int) -> Iterator[str]:
    """That the lists rest on few words, of however many sets."""
    source, summary = n_words(measured.figures)
    if isinstance(measured.family, ListedWords) and 0 < min(source, summary) < least_group:
        yield (
            f"{measured.system}: word lists rest on {source:,} {measured.family.called} in the documents and {summary:,} in the "
            "summaries, however many sets there are."
        )


# on request: most documents are not about men and women
FAMILY = FamilyKind(
    _opened,
    (WORD_LIST_BIAS, *ROWS),
    other_names=("word-list", "word-list-bias", "gender-words"),
    options=WordListOptions,
    command_options=(
        CommandOption(
            "word_lists",
            Path | None,
            "Measure word-lists by words of your groups: name: (what they are called) and groups: (group: [word, word]). "
            "Without it, --measures word-lists takes the words of the two genders, as HELM has them.",
            after="target",
            metavar="FILE.yaml",
        ),
    ),
    page=FamilyPage(
        Wording(
            "used", "less", "more", "than words as common would be",
            "The words of the list {value} are {there} of the listed words of the documents and {here} of those of the summaries "
            "that can be compared, of which {expected} would be expected of words as common",
            subject="the list {value}",
            nobody="word list",
        ),
        in_sources=WORDS_IN_SOURCES,
        groups="word list",
        whose="words of {value}",
        table=GroupTable(
            "Word lists: {by}",
            "The share of each list in the listed words. Words of the summaries can be compared where as many documents "
            "have words of another list; the gap is over these alone. n counts sets.",
            "word lists",
            ("words", "in documents", "in summaries", "in those compared"),
            is_whole=True,
        ),
        counts=True,
        warnings=_of_few_words,
    ),
)  # fmt: skip
