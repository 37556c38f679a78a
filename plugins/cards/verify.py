"""A card beside its run: the card is made anew from the run, and every place that differs is named."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import zip_longest
from pathlib import Path
from typing import Any

from .card import Card, card_text, parse_card
from .run import FinishedRun

NOTHING = "nothing there"
HEADING = re.compile(r"(#+) (.*)")
BAR = re.compile(r"(?<!\\)\|")


@dataclass(frozen=True)
class Departure:
    """A place at which a card says something else than its run; "" is said where there is nothing."""

    # section, row and column, as far as there are such
    place: str
    card: str
    run: str

    def __str__(self) -> str:
        return f"{self.place}: the card says {self.card or NOTHING}; the run says {self.run or NOTHING}"


@dataclass(frozen=True)
class CardLine:
    """A line of a card with where it stands."""

    place: str
    # names of the columns of a table; none of other lines
    columns: tuple[str, ...]
    text: str

    @property
    def cells(self) -> list[str]:
        """Of a line of a table."""
        return _cells(self.text) if self.columns else []


def made_anew(card: Card, path: Path, run: FinishedRun) -> Card:
    """What the card would be if it were written now, with what the publisher wrote; `path` is where the card comes from."""
    return parse_card(path, card_text(run, card))


def departures(card: Card, made: Card) -> list[Departure]:
    """Every place at which a card differs from one that was made anew."""
    said, known = dict(_leaves(card.metadata)), dict(_leaves(made.metadata))
    found = [
        Departure(f"metadata, {_shown(place)}", said.get(place, ""), known.get(place, ""))
        for place in dict.fromkeys((*known, *said))
        if said.get(place) != known.get(place)
    ]
    mine, theirs = _placed(card.lines), _placed(made.lines)
    matcher = SequenceMatcher(None, [line.text for line in mine], [line.text for line in theirs], autojunk=False)
    for what, i, j, k, m in matcher.get_opcodes():
        if what != "equal":
            found += [each for pair in zip_longest(mine[i:j], theirs[k:m]) for each in _between(*pair)]
    return found


def _leaves(value: Any, place: tuple[str | int, ...] = ()) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """The place of every single value, and the value as JSON writes it: there 1, 1.0 and true differ."""
    if isinstance(value, Mapping | list) and value:
        for key, each in value.items() if isinstance(value, Mapping) else enumerate(value):
            yield from _leaves(each, (*place, key))
    else:
        yield place, json.dumps(value, ensure_ascii=False)


def _shown(place: tuple[str | int, ...]) -> str:
    return "".join(f"[{each}]" if isinstance(each, int) else f".{each}" for each in place).removeprefix(".")


def _between(card: CardLine | None, run: CardLine | None) -> Iterator[Departure]:
    """What differs in two lines of the same place, cell by cell where both are lines of one table."""
    at = run or card
    assert at is not None
    if card is None or run is None or not card.columns == run.columns != ():
        yield Departure(at.place, card.text if card else "", run.text if run else "")
        return
    cells = zip_longest(run.columns, card.cells, run.cells, fillvalue="")
    unlike = [each for each in cells if each[1] != each[2]]
    for column, mine, theirs in unlike:
        yield Departure(f"{run.place}, column {column!r}", repr(mine), repr(theirs))
    if not unlike:
        # which is beside the cells
        yield Departure(run.place, card.text, run.text)


def _placed(lines: Sequence[str]) -> list[CardLine]:
    """The lines that say something, each with its section and, in a table, its row and the names of its columns."""
    found: list[CardLine] = []
    columns: tuple[str, ...] = ()
    headings, group = ["", ""], ""
    for text in filter(None, map(str.rstrip, lines)):
        if heading := HEADING.match(text):
            # without the note behind it
            title = heading[2].partition(" (")[0] if heading[2].endswith(")") else heading[2]
            headings = [title, ""] if len(heading[1]) < 3 else [headings[0], title]
        place = ", ".join(filter(None, headings))
        if not text.startswith("| "):
            columns, group = (), ""
        elif not columns:
            columns = tuple(_cells(text))
        else:
            row, *others = _cells(text)
            # a row that has a name alone heads those below it
            group = group if any(others) else row
            place = f"{place}, row {f'{group} {row}' if group and any(others) else row!r}"
        found.append(CardLine(place, columns, text))
    return found


def _cells(text: str) -> list[str]:
    return [cell.strip() for cell in BAR.split(text)[1:-1]]
