"""Phrases that several families of results use."""

from collections.abc import Sequence

from .blocks import Legend
from .cells import NumberCell

ALL = "all"
NOTHING_LEFT_OUT = "Nothing was left out."
UNSURE = "no clear difference"
# names of a sentence, of which more are counted
MOST_NAMED = 3
# said aloud in place of a mark
MARK_NAMES = {"better": "better", "worse": "worse", "neutral": "differs", "unsure": UNSURE}


def legend(remark: str = "") -> Legend:
    """The meaning of the marks of differences; `remark` stands after them."""
    return Legend((("better", "better"), ("worse", "worse"), ("unsure", f"{UNSURE}{remark}")))


def with_interval(cell: NumberCell) -> str:
    """A number and its interval, as text."""
    return f"{cell.shown} ({cell.interval})"


# p after correction, at most -> how sure that is, in three words
CERTAINTY = ((0.001, "Very strong evidence"), (0.01, "Fairly strong evidence"), (1.0, "Clear, not strongly"))
# words of a headline
MOST_WORDS = 15


def certainty(adjusted_p: float | None) -> str:
    """How sure a verdict is, in three words; one that rests on an interval alone is clear."""
    return next(words for most_p, words in CERTAINTY if (1.0 if adjusted_p is None else adjusted_p) <= most_p)


def headline(*forms: str) -> str:
    """The first of these forms that has few enough words for a headline, with a capital; else the last one, cut."""
    fitting = next((form for form in forms if len(form.split()) <= MOST_WORDS), None)
    return capital(fitting or f"{' '.join(forms[-1].split()[: MOST_WORDS - 1])} \u2026")


def counted(n: int, noun: str, plural: str = "") -> str:
    """ "1 document", "2 documents"."""
    return f"{n:,} {noun if n == 1 else plural or noun + 's'}"


def few_label(purpose: str = "", unit: str = "set", n: int | None = None) -> str:
    """ "too few sets for a verdict"; with their number "3 document sets, too few for a verdict"."""
    return f"too few {unit}s {purpose}".rstrip() if n is None else f"{counted(n, unit)}, too few {purpose}"


def capital(text: str) -> str:
    """The text with a capital at its beginning."""
    return text[:1].upper() + text[1:]


def joined(names: Sequence[str], most_names: int | None = None) -> str:
    """ "a, b and c"; of more names than `most_names` the last are counted: "a, b and 2 others"."""
    if most_names is not None and len(names) > most_names:
        names = [*names[: most_names - 1], f"{len(names) - most_names + 1} others"]
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1]))) if names else ""


# of a headline of which nothing is clear
TOO_FEW, NOT_CLEAR = capital(few_label()), capital(UNSURE)
