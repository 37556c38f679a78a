"""What a FineSurE reply says of each sentence or key fact, or None: a reply that leaves one out has said nothing of the others.

A reply must hold exactly one JSON list of objects, with whatever words around it. Each object names its sentence or key fact by
number, or the objects stand in order, one for each.
"""

import json
import re
from collections.abc import Sequence
from typing import Any

from .verdict_text import without_thoughts

KINDS = frozenset(
    {"no", "out-of-context", "entity", "predicate", "circumstantial", "grammatical", "coreference", "linking", "other"}
)
DECODER = json.JSONDecoder()


def read_categories(reply: str, n_sentences: int) -> list[str] | None:
    """The category of each sentence, "no error" among them; None when the reply does not give exactly one for each."""
    rows = _rows(reply, "sentence", n_sentences)
    found = [_category(row.get("category")) for row in rows or ()]
    categories = [category for category in found if category]
    return categories if rows and len(categories) == n_sentences else None


def read_key_facts(reply: str, n_facts: int, n_sentences: int) -> list[frozenset[int]] | None:
    """The sentences, counted from 1, that each key fact is inferred from, none for a fact that is not.

    None when the reply does not answer Yes or No for each fact, or when a Yes names no sentence or one that the summary does not
    have.
    """
    rows = _rows(reply, "key fact", n_facts)
    found = [_lines(row, n_sentences) for row in rows or ()]
    lines = [each for each in found if each is not None]
    return lines if rows and len(lines) == n_facts else None


def _rows(reply: str, key: str, n: int) -> list[dict[str, Any]] | None:
    """The reply's objects in the order of what they are about; None unless there is one for each of `n`."""
    lists = _lists(without_thoughts(reply))
    if len(lists) != 1 or len(lists[0]) != n:
        return None
    rows = lists[0]
    numbers = [_number(row.get(key)) for row in rows]
    if all(number is None for number in numbers):
        return rows
    by_number = dict(zip(numbers, rows, strict=True))
    return [by_number[i] for i in range(1, n + 1)] if by_number.keys() == set(range(1, n + 1)) else None


def _lists(text: str) -> list[list[dict[str, Any]]]:
    """The outermost JSON lists of objects in a text; none in a text that JSON's reader gives up on."""
    found = []
    place = text.find("[")
    while place >= 0:
        try:
            value, end = DECODER.raw_decode(text, place)
        except json.JSONDecodeError:
            value, end = None, place + 1
        except (RecursionError, ValueError):
            # brackets nested a thousand deep, or a number of thousands of digits
            return []
        if value and all(isinstance(each, dict) for each in value):
            found.append(value)
        place = text.find("[", end)
    return found


def _number(value: Any) -> int | None:
    """The number in 2, "2", "[2]" and "[2] The ferry ..."; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | str):
        return None
    found = re.match(r"\s*(?:\[(\d{1,9})\]|(\d{1,9})\s*$)", str(value))
    return int(found[1] or found[2]) if found else None


def _category(value: Any) -> str | None:
    """The category in lower case and with its "error"; None for one that FineSurE does not have."""
    if not isinstance(value, str):
        return None
    kind = re.sub(r"[\s_]+", " ", value).strip(" .[]").lower().removesuffix("error").strip()
    kind = kind.replace("out of context", "out-of-context")
    return f"{kind} error" if kind in KINDS else None


def _lines(row: dict[str, Any], n_sentences: int) -> frozenset[int] | None:
    response = row.get("response")
    if not isinstance(response, str) or response.strip().lower() not in ("yes", "no"):
        return None
    if response.strip().lower() == "no":
        return frozenset()
    given = row.get("line number")
    values: Sequence[Any] = given if isinstance(given, list) else [given]
    numbers = [_number(value) for value in values]
    lines = frozenset(number for number in numbers if number is not None and 1 <= number <= n_sentences)
    return lines if lines and len(lines) == len(set(numbers)) else None
