"""Numbers that a summary has and its documents have not: the plainest invention there is, and one that needs no model.

A number is a run of digits, whatever stands between its thousands, or a word of English from "one" to "twelve", which style
guides ask to be spelled out. A summary that counts or adds up by itself is found, too. The measure is our own.
"""

from collections.abc import Sequence
from typing import ClassVar, Literal

import regex

from ...config.needs import JudgeSection
from ...judges.judge import Judge, JudgeInput, Kind, ScoringJudge, Verdict, judge_signature
from ...judges.shared import SharedModels
from ...text.digests import canonical_json
from ...text.forms import normal_form

WORDS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
VALUES = {word: str(value) for value, word in enumerate(WORDS, 1)}
NUMBER = regex.compile(rf"\d+(?:[.,\u202f\u00a0 ]\d{{3}})+(?!\d)|\d+(?:[.,]\d+)?|\b(?i:{'|'.join(WORDS)})\b")
BETWEEN_THOUSANDS = regex.compile(r"[.,\u202f\u00a0 ](?=\d{3}(?!\d))")


class NumbersJudge(JudgeSection):
    """Whether the summary has a number that its own text has not."""

    kind: Literal["numbers"]
    meaning: ClassVar[str] = (
        "1 when the summary has a number that its text has not, else 0; says nothing of what a number is said of."
    )
    # the text that has to have the numbers; nothing else can be written here
    against: Literal["source"] = "source"

    @property
    def is_rate(self) -> bool:
        """A summary has such a number or not."""
        return True

    @property
    def better(self) -> Literal["higher", "lower"] | None:
        """Lower: 1 is an invention."""
        return "lower"

    @property
    def plain(self) -> str:
        """Wording of the count for a reader."""
        return "numbers that are not in {whose}"

    @property
    def bases(self) -> list[str]:
        """No model."""
        return ["numbers in common"]


def numbers(text: str) -> list[str]:
    """The numbers of a text in their order, each in one spelling.

    >>> numbers("Twelve towns, 1,200 people, 3.50 euros")
    ['12', '1200', '3.5']
    """
    return [_spelled(match[0]) for match in NUMBER.finditer(normal_form(text))]


def _spelled(number: str) -> str:
    if number.lower() in VALUES:
        return VALUES[number.lower()]
    integer, _, part = BETWEEN_THOUSANDS.sub("", number).replace(",", ".").partition(".")
    digits = f"{int(integer)}.{part}" if part else str(int(integer))
    return digits.rstrip("0").rstrip(".") if part else digits


class InventedNumbers(ScoringJudge):
    """The judge: 1 for a summary with a number that its text has not, else 0; a summary without a number has none."""

    def __init__(self, name: str) -> None:
        super().__init__(name, judge_signature("invented-numbers", "numbers", against="source", v=1), "source")

    def score(self, inputs: Sequence[JudgeInput]) -> list[Verdict]:
        """One verdict for each input, in order; its `raw` has the numbers that are nowhere in the text."""
        verdicts = []
        for judge_input in inputs:
            # "one" is more often no number at all
            known = {"1", *numbers(judge_input.reference)}
            invented = [number for number in dict.fromkeys(numbers(judge_input.text)) if number not in known]
            verdicts.append(Verdict(float(bool(invented)), raw=canonical_json({"invented": invented})))
        return verdicts


def open_numbers(name: str, options: NumbersJudge, models: SharedModels) -> Judge:
    """The judge that looks for invented numbers."""
    return InventedNumbers(name)


NUMBERS = Kind(open_numbers, NumbersJudge)
