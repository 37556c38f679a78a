"""Judges that need no model and no reference: the length in words, and whether the output contract is kept."""

import math
from collections.abc import Callable, Sequence

from ..config.judges import RuleJudge
from ..text import BORDERLESS_RUN, MANY_WORDS, is_read, n_words, words
from ..text.forms import normal_form
from .judge import Judge, JudgeInput, Kind, ScoringJudge, Verdict, judge_signature
from .shared import SharedModels


def length(candidate: JudgeInput) -> float:
    """Words of the summary between white space, as in the published length baseline; 0 for an empty one.

    In scripts without borders between words they are counted by letters, unless ten others and two fifths of the letters stand
    beside them: the published texts have a few such passages.
    """
    text = normal_form(candidate.text)
    bordered = words(BORDERLESS_RUN.sub(" ", text))
    has_borders = len(bordered) >= MANY_WORDS and is_read(text, bordered)
    return float(len(text.split()) if has_borders else n_words(text, str.split))


def keeps_contract(candidate: JudgeInput) -> float:
    """1 when the summary opens as asked, says something and is as long as asked, else 0."""
    return float(candidate.contract_ok)


class CountJudge(ScoringJudge):
    """A judge that counts; it scores every candidate, empty ones too."""

    def __init__(self, name: str, signature: str, high: float, rule: Callable[[JudgeInput], float]) -> None:
        super().__init__(name, signature, None)
        self.high = high
        self._rule = rule

    def score(self, inputs: Sequence[JudgeInput]) -> list[Verdict]:
        """One verdict for each input, in order."""
        return [Verdict(self._rule(judge_input)) for judge_input in inputs]


def open_length(name: str, options: RuleJudge, models: SharedModels) -> Judge:
    """The judge that counts words; the baseline that no metric should lose against."""
    return CountJudge(name, judge_signature("words", "length", v=3), math.inf, length)


def open_contract(name: str, options: RuleJudge, models: SharedModels) -> Judge:
    """The judge that gives 1 for a kept output contract, else 0."""
    return CountJudge(name, judge_signature("contract", "contract", v=6), 1.0, keeps_contract)


LENGTH, CONTRACT = Kind(open_length, RuleJudge), Kind(open_contract, RuleJudge)
