"""How errors tell mistakes: what does not fit a record, and many mistakes together, by file and line."""

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path

from pydantic import ValidationError

from ..errors import DataError, StorageError
from .shown import MOST_SHOWN, cut, shortened

# more mistakes than this in one file are counted, not listed
MOST_LISTED = 20
# lines with the same mistake that an error names
MOST_NUMBERED = 5
# problems of one record that an error names
MOST_PROBLEMS = 5


def explain(error: ValidationError) -> str:
    """A pydantic error as one line: wrong fields, what was found and what is wrong with it; beyond five they are counted."""
    problems = error.errors()
    parts = []
    for problem in problems[:MOST_PROBLEMS]:
        where = shortened(".".join(str(step)[:MOST_SHOWN] for step in problem["loc"]) or "record")
        if problem["type"] == "extra_forbidden":
            parts.append(f"{where}: is not a key of this record; mend its spelling or take it out")
            continue
        if problem["type"] == "missing":
            parts.append(f"{where}: is missing")
            continue
        if problem["type"] == "too_short":
            parts.append(
                f"{where}: needs at least {problem['ctx']['min_length']}, and there are {problem['ctx']['actual_length']}"
            )
            continue
        message = problem["msg"].removeprefix("Value error, ").removeprefix("Input ")
        value = problem.get("input")
        shown = f", got {shortened(value)}" if isinstance(value, str | int | float) else ""
        parts.append(cut(f"{where}: {message[:1].lower()}{message[1:]}{shown}"))
    if len(problems) > MOST_PROBLEMS:
        parts.append(f"and {len(problems) - MOST_PROBLEMS} more")
    return "; ".join(parts)


@contextlib.contextmanager
def explained(place: str, remedy: str = "", kind: type[DataError | StorageError] = DataError) -> Iterator[None]:
    """Where records are made of values that were read: what does not fit is said in one line.

    Args:
        place: where the values are from, or what they are not: "FILE: is not the key of a page".
        remedy: what the line ends with: "; columns that can be named are ...".
        kind: of the error.

    Raises:
        DataError: in place of a pydantic error within; or what `kind` says.
    """
    try:
        yield
    except ValidationError as error:
        raise kind(f"{place}: {explain(error)}{remedy}") from error


def listed(mistakes: Sequence[str]) -> str:
    """Mistakes as lines of one text, the first 20 of them, the rest counted."""
    n_more = len(mistakes) - MOST_LISTED
    return "\n".join(map(cut, mistakes[:MOST_LISTED])) + (f"\n... and {n_more} more" if n_more > 0 else "")


def listed_lines(path: Path, mistakes: Sequence[tuple[int, str]]) -> str:
    """Mistakes of a file's lines in the order of the lines, each with file and line number, as one text.

    A mistake that several lines have is one, with the numbers of the other lines.
    """
    lines: dict[str, list[int]] = {}
    for line, text in sorted(mistakes):
        lines.setdefault(text, []).append(line)
    return listed(
        [
            f"{path}:{first}: {text}" + (f"; the same in {numbered('line', further)}" if further else "")
            for text, (first, *further) in lines.items()
        ]
    )


def numbered(unit: str, numbers: Sequence[int]) -> str:
    """ "line 3", "lines 3, 4 and 7", "lines 3, 4, 7, 8, 9 and 48 more"."""
    n_more = len(numbers) - MOST_NUMBERED
    *first, last = [*map(str, numbers[:MOST_NUMBERED]), *([f"{n_more} more"] if n_more > 0 else [])]
    return f"{unit}s {', '.join(first)} and {last}" if first else f"{unit} {last}"
