"""ROUGE of a summary against a text, by the rouge-score package without stemming.

Type "average" is the mean over ROUGE-1, ROUGE-2 and ROUGE-L, measure "mean" the mean of precision and recall; both together are
the ROUGE proxy of Ri et al. 2025, section 6.2. Source: Lin 2004; docs/papers.md#ri-rouge-proxy.

ROUGE reads a to z and 0 to 9. Accents are taken off first, lest they part words; of a text that is mostly in other letters there
is no ROUGE, since the few words that it would read (a year, a name) are not what the text says.
"""

from collections.abc import Sequence
from functools import cache, lru_cache
from statistics import fmean
from typing import Any

from ..config.judges import RougeJudge
from ..extras import need
from ..text import is_read, letters_read
from ..text.forms import base_letters
from .judge import Judge, JudgeInput, Kind, ScoringJudge, Verdict, judge_signature
from .shared import SharedModels

TYPES = ("rouge1", "rouge2", "rougeL")
MEASURES = ("precision", "recall", "fmeasure")
# texts whose tokens are kept: the sources and candidates of a batch, of which every judge reads the same
KNOWN_TEXTS = 1024
UNREAD = "no words that ROUGE reads (a-z, 0-9)"


def rouge(document: str, summary: str, types: Sequence[str] = TYPES) -> dict[str, dict[str, float]]:
    """Precision, recall and F1 of each ROUGE type, in [0, 1]; all 0 for an empty summary.

    Precision is the share of the summary's n-grams found in the document, recall the share of the document's found in
    the summary.
    """
    scores = _scorer(tuple(types)).score(document, summary)
    return {kind: {measure: float(getattr(scores[kind], measure)) for measure in MEASURES} for kind in types}


@lru_cache(maxsize=KNOWN_TEXTS)
def tokens(text: str) -> tuple[str, ...]:
    """The words of a text as ROUGE reads them; a text that many candidates or judges are compared with is read once."""
    return read_tokens(text)


def read_tokens(text: str) -> tuple[str, ...]:
    """The same, for texts that are read once anyhow."""
    return tuple(need("rouge_score.tokenize", "judge 'rouge'").tokenize(base_letters(text), None))


@lru_cache(maxsize=KNOWN_TEXTS)
def unread(text: str) -> str:
    """Why ROUGE says nothing of a text; "" of one that it reads."""
    read = tokens(text)
    if not is_read(text, read) and read:
        return "ROUGE reads {} of the {} letters and digits".format(*letters_read(text, read))
    # of numbers alone nothing can be said
    return "" if any(map(str.isalpha, "".join(read))) else UNREAD


class _Tokenizer:
    """What the scorer asks for tokens."""

    tokenize = staticmethod(tokens)


@cache
def _scorer(types: tuple[str, ...]) -> Any:
    return need("rouge_score.rouge_scorer", "judge 'rouge'").RougeScorer(list(types), tokenizer=_Tokenizer())


class Rouge(ScoringJudge):
    """One measure of one ROUGE type as a judge, on a scale from 0 to 1."""

    def __init__(self, name: str, options: RougeJudge) -> None:
        named = judge_signature(
            f"{options.type}-{options.measure}", "rouge", against=options.against, stemmer="no", package="0.1.2", v=3
        )
        super().__init__(name, named, options.against)
        self._types = TYPES if options.type == "average" else (options.type,)
        self._measures = ("precision", "recall") if options.measure == "mean" else (options.measure,)

    def score(self, inputs: Sequence[JudgeInput]) -> list[Verdict]:
        """One verdict for each input; a text of which ROUGE reads less than half, or nothing, is unscored."""
        return [self._verdict(judge_input) for judge_input in inputs]

    def _verdict(self, judge_input: JudgeInput) -> Verdict:
        for noun, why in (("summary", unread(judge_input.text)), (self.against, unread(judge_input.reference))):
            if why:
                return Verdict(None, why if why == UNREAD else f"{why} of the {noun} (a-z, 0-9)")
        scores = rouge(judge_input.reference, judge_input.text, self._types)
        return Verdict(fmean(scores[kind][measure] for kind in self._types for measure in self._measures))


def open_rouge(name: str, options: RougeJudge, models: SharedModels) -> Judge:
    """The ROUGE judge that the options describe."""
    return Rouge(name, options)


ROUGE = Kind(open_rouge, RougeJudge)
