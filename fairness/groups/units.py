"""A chat model's numbered list read as summary units, and the subjects that its instruction forbids rewritten.

Source: Li et al. 2025, appendix A.1; docs/papers.md#li-units.
"""

import re
from collections.abc import Callable
from typing import Literal

from ...errors import DataError

Domain = Literal["reviews", "tweets", "articles", "claims"]

# a summary with fewer units is not scored
FEWEST_UNITS = 3
SPACES = re.compile(r" {2,}")
ARTICLES = re.compile(r"(?:the news articles|the articles)\b", re.IGNORECASE)
CLAIMS = re.compile(r"(?:the news articles|the articles|the news documents|the documents|documents)\b", re.IGNORECASE)
TWEETS = re.compile(r"(?:the tweets|tweets)\b", re.IGNORECASE)


def parse_units(reply: str, domain: Domain, fewest: int = FEWEST_UNITS) -> tuple[str, ...] | None:
    """The units of a numbered list, in order; None when there are fewer than are asked for, and the summary is not scored.

    A line counts when its first word has a digit, which is taken off.

    Args:
        reply: what the model wrote.
        domain: of the documents; says which subjects are rewritten.
        fewest: units of a list that counts; three as published.

    Raises:
        DataError: there is no such domain.
    """
    if domain not in REWRITES:
        raise DataError(f"domain {domain!r} is not known; domains are {', '.join(REWRITES)}")
    units = []
    for line in reply.split("\n"):
        number, _, rest = line.strip().partition(" ")
        if any(character.isdigit() for character in number) and rest.strip():
            units.append(REWRITES[domain](rest.strip()))
    return tuple(units) if len(units) >= fewest else None


def _without_shoppers(unit: str) -> str:
    lowered = unit.lower()
    if "some customers" in lowered:
        unit = unit.replace("customers", "").replace("Customers", "")
    else:
        unit = unit.replace("customers", "they").replace("Customers", "They")
    if "some users" in lowered:
        unit = unit.replace("users", "")
    return SPACES.sub(" ", unit)


def _opening_with_it(subjects: re.Pattern[str]) -> Callable[[str], str]:
    def rewritten(unit: str) -> str:
        opening = subjects.match(unit)
        return "It" + unit[opening.end() :] if opening else unit

    return rewritten


REWRITES: dict[str, Callable[[str], str]] = {
    "reviews": _without_shoppers,
    "tweets": _opening_with_it(TWEETS),
    "articles": _opening_with_it(ARTICLES),
    "claims": _opening_with_it(CLAIMS),
}
