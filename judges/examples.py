"""Two summaries that a judge scores as it should not, as pages on judges open them: texts, scores, and what is known."""

from operator import not_

from pydantic import Field

from ..records import Record, is_none


class JudgedText(Record):
    """One of the two."""

    text: str
    # the judge's
    score: float
    # who wrote it, or what was changed
    label: str = Field(default="", exclude_if=not_)
    # what it has of what the judge is to measure, in [0, 1], or the mean of people's scores of it
    known: float | None = Field(default=None, exclude_if=is_none)
    # its words that the article has, too
    words: tuple[str, ...] = Field(default=(), exclude_if=not_)


class JudgedPair(Record):
    """Two summaries of one article in the wrong order, or one summary before and after a change that must not count."""

    judge: str
    # what it is to measure, or the probe that it failed
    measure: str
    article: str
    topic: str = Field(default="", exclude_if=not_)
    side: str = Field(default="", exclude_if=not_)
    # the text that is known to be better, and the one that scores higher all the same; or before and after the change
    first: JudgedText
    second: JudgedText
    # whether what is known is people's scores, on their own scale
    of_people: bool = Field(default=False, exclude_if=not_)
