"""What an attribute value is called in sentences, headings and pictures: a bare number says nothing without its attribute.

    value_name("1", "stars")                       "stars 1"
    value_name("left", "stance")                   "left"
    value_name("1", "stars", {"1": "one star"})    "one star"

Files and limits keep the values themselves.
"""

from collections.abc import Mapping, Sequence

import regex

from ...errors import DataError
from ...text import did_you_mean, fold, some_of
from ...text.mistakes import listed
from ...text.shown import shortened

LETTER = regex.compile(r"\p{L}")
# numbers with letters in them: "1e3", "5th" and "3x" say as little as "1000", "5" and "3"
LETTERED_NUMBER = regex.compile(r"[+\-\u2212]?\p{Nd}[\p{Nd}.,]*(?:e[+\-]?\p{Nd}+|st|nd|rd|th|x|k|m)?", regex.IGNORECASE)

# what reads as a noun in the singular after "each": "stance", "political lean", and no "stars" or "has_children"
NOUN = regex.compile(r"[\p{L}\- ]+(?<!(?<![siu])s)", regex.IGNORECASE)


def noun(attribute: str) -> str:
    """The noun for one of its values in a sentence, after "each", "no" or "this": "sentiment", but `value of "stars"`."""
    return attribute if NOUN.fullmatch(attribute) else f'value of "{attribute}"'


def value_name(value: str, attribute: str, labels: Mapping[str, str] | None = None) -> str:
    """The name of a value: the user's label, the attribute before what has no letters or is a number, else the value."""
    if labels and value in labels:
        return labels[value]
    is_bare = LETTER.search(value) is None or LETTERED_NUMBER.fullmatch(value.strip()) is not None
    return f"{attribute} {value}" if is_bare else value


def read_labels(
    entries: Sequence[str], attribute: str, values: Sequence[str], option: str = "--label"
) -> dict[str, str]:
    """The labels of values, of entries such as "1=one star".

    Args:
        entries: as they were given.
        attribute: whose values they are.
        values: all of them.
        option: how an error calls it.

    Raises:
        DataError: an entry is of no value or has no label, a value has two labels, or two values one; all are listed.
    """
    labels: dict[str, str] = {}
    mistakes = []
    for entry in entries:
        # a value may have "=" in it, and so may a label
        known = max((value for value in values if entry.startswith(f"{value}=")), key=len, default=None)
        value = entry.partition("=")[0] if known is None else known
        label, shown = fold(entry[len(value) + 1 :]), f"{option} {shortened(entry)}"
        if value not in values:
            near = did_you_mean(value, values)
            mistakes.append(
                f"{shown}: {shortened(value)} is no value of {attribute}{near} Values are {some_of(list(values))}"
            )
        elif not label:
            mistakes.append(f"{shown}: has no label; write {value}=LABEL")
        elif value in labels:
            mistakes.append(
                f"{shown}: {shortened(value)} is {shortened(labels[value])} already; give each value one label"
            )
        else:
            labels[value] = label
    mistakes += _same_names(attribute, values, labels, option) if labels else []
    if mistakes:
        raise DataError(listed(mistakes))
    return labels


def _same_names(attribute: str, values: Sequence[str], labels: Mapping[str, str], option: str) -> list[str]:
    names: dict[str, list[str]] = {}
    for value in values:
        names.setdefault(value_name(value, attribute, labels).casefold(), []).append(value)
    return [
        f"{option}: {some_of(namesakes)} would be called {shortened(name)} alike; give each a label of its own"
        for name, namesakes in names.items()
        if len(namesakes) > 1
    ]
