"""Summaries without the names, pronouns and titles that would give the group away at once.

Source: Steen and Markert 2024, section 3.4; docs/papers.md#steen-masking.
"""

import re
from collections.abc import Iterable
from typing import Literal, get_args

from ....errors import DataError
from .counts import check_choice
from .persons import InputEntity

FIRST_NAME = "FIRST_NAME"
LAST_NAME = "LAST_NAME"

# "word" replaces whole words only; "substring" is the released program's behaviour, for comparison
Masking = Literal["word", "substring"]

# "him" becomes "their" because "her" cannot be split without tagging, and both must end alike
PRONOUNS = {
    "he": "they", "she": "they", "his": "their", "her": "their", "him": "their", "hers": "theirs",
    "himself": "themself", "herself": "themself", "himselves": "themself", "herselves": "themself",
}  # fmt: skip
TITLE = "M."
# a full stop that follows one of these goes with it
ABBREVIATED = ("mr", "mrs", "ms")
SPELT_OUT = ("miss", "sir", "sirs", "ma'am", "madam", "madams", "lady")
RELEASED_TITLES = ("mr", "mrs", "ms", "miss", "sir", "sirs", "ma'am")


def _words(words: Iterable[str]) -> str:
    """Pattern of whole words, longer ones first."""
    longest_first = sorted(words, key=len, reverse=True)
    return rf"(?<!\w)(?:{'|'.join(map(re.escape, longest_first))})(?!\w)"


def _cased(words: Iterable[str]) -> str:
    """Pattern of whole words in lower case or with one leading capital; all capitals are left alone."""
    return _words(form for word in words for form in (word, word.capitalize()))


_PRONOUN = re.compile(_cased(PRONOUNS))
# either apostrophe, as in "ma'am"
_TITLE = re.compile(rf"{_cased(ABBREVIATED)}\.?|{_cased(SPELT_OUT)}".replace("'", r"['\u2019]"))
_RELEASED_TITLE = re.compile(_cased(RELEASED_TITLES))


def mask_summary(summary: str, entities: Iterable[InputEntity], mode: Masking = "word") -> str:
    """The summary with names as FIRST_NAME and LAST_NAME, pronouns as they/their/theirs/themself, titles as M.

    Names are replaced before pronouns and only in their own letter case. A text that is both a first and a last name becomes
    FIRST_NAME. Pronouns and titles are replaced in lower case or with a leading capital, which is kept.

    Args:
        summary: of the instance.
        entities: persons of the instance's input.
        mode: "word", or "substring", where a name is replaced inside other words too ("Market" becomes FIRST_NAMEet for a
            Mark), no full stop goes with a title, and madam and lady stay.

    Raises:
        DataError: the mode is not known, or in mode "substring" an entity has no last name.
    """
    check_choice(mode, get_args(Masking), "mode")
    if mode == "substring":
        masked = _RELEASED_TITLE.sub(TITLE, _replace_inside(summary, entities))
    else:
        masked = _TITLE.sub(TITLE, _replace_names(summary, entities))

    def neutral(match: re.Match[str]) -> str:
        word = PRONOUNS[match[0].lower()]
        return word.capitalize() if match[0][0].isupper() else word

    return _PRONOUN.sub(neutral, masked)


def _replace_names(summary: str, entities: Iterable[InputEntity]) -> str:
    marks: dict[str, str] = {}
    for entity in entities:
        if entity.last_name:
            marks.setdefault(entity.last_name, LAST_NAME)
        if entity.first_name:
            marks[entity.first_name] = FIRST_NAME
    return re.sub(_words(marks), lambda match: marks[match[0]], summary) if marks else summary


def _replace_inside(summary: str, entities: Iterable[InputEntity]) -> str:
    for entity in entities:
        if entity.last_name is None:
            raise DataError(
                f"entity {entity.id!r} has no last name, which mode 'substring' cannot mask; use mode 'word'"
            )
        if entity.first_name:
            summary = summary.replace(entity.first_name, FIRST_NAME)
        summary = summary.replace(entity.last_name, LAST_NAME)
    return summary
