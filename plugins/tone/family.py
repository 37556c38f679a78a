"""Tone: whether a summary speaks of each value as positively as that value's documents do; see `plugins.tone.measure`.

Equal room in hostile words passes every other family.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np

from ...config.section import Section
from ...evaluation.audit.family import CommandOption, FamilyKind, FamilyPage, GroupTable, Opening, Wording
from ...evaluation.audit.figures import Figures, Floats, in_order, most, quantities_of, reasons
from ...evaluation.audit.kinds import (
    NumberKind,
    Side,
    SummaryUnit,
    TakenApart,
)
from ...fairness.groups.masses import EMPTY_SUMMARY, Unscored
from ...fairness.labelled import LabelledSummary
from ...text import sentences as split_sentences
from .measure import N_COLUMNS, SourceTone, Toned, expected_between, tones
from .scorers import ToneScorer, open_tone
from .section import ToneSection

TONE_IN_SOURCES = NumberKind("tone in sources", is_tested=False)
TONE_IN_SUMMARIES = NumberKind("tone in summaries", is_tested=False, only_names=True)
ROWS = (TONE_IN_SOURCES, TONE_IN_SUMMARIES)
SAME_WORDS = "sentences of the documents with the same words"
SILENT = "no toned sentence with a word of one value alone"


@dataclass(frozen=True)
class Spoken:
    """What a summary adds."""

    # of the declared values of the set, (values, columns)
    sums: Floats
    values: tuple[str, ...]


@dataclass(frozen=True)
class Tone:
    """The family of tone."""

    scorer: ToneScorer
    # words of a text that count, and what names them
    tokens: Callable[[str], list[str]]
    tokens_signature: str
    values: tuple[str, ...]

    name = "tone"

    @property
    def by(self) -> str:
        """The scorer's name."""
        return self.scorer.name

    @property
    def signature(self) -> str:
        """Scorer and words."""
        return f"tone|{self.scorer.signature}|own-words:{self.tokens_signature}|v:1"

    def measure(self, items: Sequence[LabelledSummary]) -> list[Spoken | Unscored]:
        """The tone beside each value's words; documents are read once for all summaries that stand side by side."""
        answers: list[Spoken | Unscored] = []
        for _, group in groupby(items, key=lambda item: (item.documents, item.values)):
            source: SourceTone | None = None
            for item in group:
                if not item.summary.strip():
                    answers.append(Unscored(EMPTY_SUMMARY))
                    continue
                source = source or self._source(item)
                sums = source.of(self._toned(split_sentences(item.summary)))
                answers.append(Spoken(sums, item.values) if sums[:, 3].any() else Unscored(SILENT))
        return answers

    def figures(self, answers: Sequence[Spoken | Unscored]) -> Figures:
        """The sums of all sets."""
        columns = np.zeros((len(answers), len(self.values), N_COLUMNS))
        for row, answer in enumerate(answers):
            if isinstance(answer, Spoken):
                columns[row, [self.values.index(value) for value in answer.values]] = answer.sums
        _, share, expected = tones(columns)
        gaps = np.abs(np.nan_to_num(share - expected)).max(axis=1, initial=0.0)
        scored = columns[..., 3].any(axis=1)
        return Figures(
            quantities=quantities_of(self.by, ROWS, self.values),
            columns=columns.reshape(len(answers), -1),
            reduce=lambda sums: in_order(self._tones(sums)[:2]),
            expect=lambda sums: in_order((np.nan, self._tones(sums)[2])),
            nulls=("", SAME_WORDS) * len(self.values),
            between=self._between,
            rests_on=np.repeat(columns[..., 3] > 0, len(ROWS), axis=1),
            weights=columns[..., 3],
            unfairness=np.where(scored, gaps, np.nan),
            left_out=reasons(answers),
            no_part=SILENT,
        )

    def sentence(self, kind: NumberKind, point: str, figures: Figures) -> str:
        """No number is of all values together."""
        raise NotImplementedError(kind)

    def example(self, item: LabelledSummary, answer: Spoken, left_out: tuple[str, ...] | None = None) -> TakenApart:
        """Tone of each value, and of each sentence; the words of each value in it."""
        _, share, expected = tones(answer.sums)
        known = [k for k in range(len(answer.values)) if not np.isnan(share[k])]
        off = left_out or most({answer.values[k]: abs(float(share[k] - expected[k])) for k in known})
        words_by_value = {
            value: {token for d in item.documents if d.value == value for token in self.tokens(d.text)}
            for value in answer.values
        }
        parts = split_sentences(item.summary)
        lines = []
        for text, (tokens, positive, negative) in zip(parts, self._toned(parts), strict=True):
            of = [[value for value, words in words_by_value.items() if token in words] for token in tokens]
            takes = {value: float(of.count([value])) for value in answer.values}
            lines.append(SummaryUnit(text=text, takes=takes, note=f"positive {positive:.2f}, negative {negative:.2f}"))
        return TakenApart(
            measure=f"largest gap of tone to what is expected ({self.by})",
            columns=("nearest positive share expected", "positive share in summary"), takes_what="words of one value alone",
            sides=tuple(
                Side(name=answer.values[k], source=float(expected[k]), summary=float(share[k])) for k in known
            ),
            lines=tuple(lines),
            left_out=off,
            documents=tuple(document.text for document in item.documents if document.value in off),
        )  # fmt: skip

    def _source(self, item: LabelledSummary) -> SourceTone:
        texts = [document.sentences or split_sentences(document.text) for document in item.documents]
        labels = [label for label, sentences in zip(item.labels, texts, strict=True) for _ in sentences]
        return SourceTone(self._toned([text for sentences in texts for text in sentences]), labels, len(item.values))

    def _toned(self, texts: Sequence[str]) -> list[Toned]:
        amounts = self.scorer.amounts(texts)
        return [(self.tokens(text), *amount) for text, amount in zip(texts, amounts, strict=True)]

    def _tones(self, sums: Floats) -> tuple[Floats, Floats, Floats]:
        return tones(self._by_value(sums))

    def _between(self, sums: Floats) -> tuple[Floats, Floats]:
        low, high = expected_between(self._by_value(sums))
        return in_order((np.nan, low)), in_order((np.nan, high))

    def _by_value(self, sums: Floats) -> Floats:
        return sums.reshape(*sums.shape[:-1], len(self.values), N_COLUMNS)


class ToneOptions(Section):
    """Options of the audit's measure."""

    # what tells the tone of a sentence
    tone: ToneSection = ToneSection()


def _opened(opening: Opening) -> Tone:
    options, words = opening.options, opening.tools.words
    assert isinstance(options, ToneOptions) and words is not None, "of its own kind, and it uses the matcher"
    scorer = open_tone(options.tone, opening.tools.models)
    return Tone(scorer, words.tokens, words.signature, opening.audited.values)


# on request: what tells tone is weak
FAMILY = FamilyKind(
    _opened,
    ROWS,
    other_names=("sentiment", "framing"),
    uses=("matcher",),
    options=ToneOptions,
    are_requests=False,
    command_options=(
        CommandOption(
            "tone",
            str | None,
            "What tells tone. vader, the default: a lexicon, needs NLTK's data, English; encoder: the embedded sentence "
            "encoder; a function of your own, FILE.py:FUNCTION; or a YAML file: "
            "kind: lexicon with positive and negative words of your own, or kind: encoder with a model "
            "and sentences of praise and blame.",
            after="model",
            metavar="NAME|FILE.py:FUNCTION|FILE.yaml",
        ),
    ),
    page=FamilyPage(
        Wording(
            "spoken of", "less kindly", "more kindly", "than in the documents' sentences with the same words",
            "Of the tone beside the words of {value}, {here} is positive in the summaries and {there} in its documents; "
            "{expected} would be expected by the documents' sentences with the same words",
        ),
        in_sources=TONE_IN_SOURCES,
        table=GroupTable(
            "Tone",
            "How much of the tone is positive beside the words that documents of one {value} alone have, "
            "in those documents and in the summaries, and the gap to what is expected by the documents' sentences with the same "
            "words. Scorers of tone are often wrong about a single sentence: read some before you conclude.",
            "tone",
            ("{attribute}", "in documents", "in summaries"),
            is_section=True,
        ),
        compares_words=True,
    ),
)  # fmt: skip
