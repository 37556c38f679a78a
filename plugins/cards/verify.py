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


def departures(card: Card, run_card: Card) -> list[Departure]:
    """Every place at which a card differs from one that was made anew."""
    card_values, known = dict(_leaves(card.metadata)), dict(_leaves(run_card.metadata))
    differences = [
        Departure(f"metadata, {_shown(place)}", card_values.get(place, ""), known.get(place, ""))
        for place in dict.fromkeys((*known, *card_values))
        if card_values.get(place) != known.get(place)
    ]
    card_lines, run_lines = _placed(card.lines), _placed(run_card.lines)
    matcher = SequenceMatcher(
        None, [line.text for line in card_lines], [line.text for line in run_lines], autojunk=False
    )
    for tag, i, j, k, m in matcher.get_opcodes():
        if tag != "equal":
            differences += [
                departure for pair in zip_longest(card_lines[i:j], run_lines[k:m]) for departure in _between(*pair)
            ]
    return differences


def _leaves(value: Any, place: tuple[str | int, ...] = ()) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """The place of every single value, and the value as JSON writes it: there 1, 1.0 and true differ."""
    if isinstance(value, Mapping | list) and value:
        for key, child in value.items() if isinstance(value, Mapping) else enumerate(value):
            yield from _leaves(child, (*place, key))
    else:
        yield place, json.dumps(value, ensure_ascii=False)


def _shown(place: tuple[str | int, ...]) -> str:
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in place).removeprefix(".")


def _between(card: CardLine | None, run: CardLine | None) -> Iterator[Departure]:
    """What differs in two lines of the same place, cell by cell where both are lines of one table."""
    at = run or card
    assert at is not None
    if card is None or run is None or not card.columns == run.columns != ():
        yield Departure(at.place, card.text if card else "", run.text if run else "")
        return
    cells = zip_longest(run.columns, card.cells, run.cells, fillvalue="")
    unlike = [row for row in cells if row[1] != row[2]]
    for column, card_cell, run_cell in unlike:
        yield Departure(f"{run.place}, column {column!r}", repr(card_cell), repr(run_cell))
    if not unlike:
        # which is beside the cells
        yield Departure(run.place, card.text, run.text)


def _placed(lines: Sequence[str]) -> list[CardLine]:
    """The lines that say something, each with its section and, in a table, its row and the names of its columns."""
    card_lines: list[CardLine] = []
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
            row, *cells = _cells(text)
            # a row that has a name alone heads those below it
            group = group if any(cells) else row
            place = f"{place}, row {f'{group} {row}' if group and any(cells) else row!r}"
        card_lines.append(CardLine(place, columns, text))
    return card_lines


def _cells(text: str) -> list[str]:
    return [cell.strip() for cell in BAR.split(text)[1:-1]]
