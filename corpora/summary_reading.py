"""Which document set each summary of a file belongs to, and all that is wrong with the file."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ..errors import DataError
from ..storage import NotJsonError, listed

# line of what stands in no line of its own
NOWHERE = 0
# ids that an error about many sets names
MOST_IDS = 5


def loosely(name: str) -> str:
    """An id without what people get wrong in writing it: blanks around it and its case."""
    return name.strip().casefold()


class Summaries(dict[str, str]):
    """The summary of each set by its id, in the order of the sets."""

    def __init__(self, texts: Mapping[str, str], *, by_order: bool) -> None:
        super().__init__(texts)
        # whether the file has no ids, so that its first summary went to the first set, and so on
        self.by_order = by_order


@dataclass
class Reading:
    """What was read of a file so far, and what is wrong with the rest of it."""

    path: Path
    # ids of the sets, in their order
    ids: dict[str, None]
    # what numbers count: lines of the file, or entries of its array
    counted: str = "line"
    by_order: bool = False
    # whether there is a summary for each side, whose ids are SET/SIDE
    by_side: bool = False
    # set id -> line and text; None where the file says that there is none
    texts: dict[str, tuple[int, str | None]] = field(default_factory=dict)
    mistakes: list[tuple[int, str]] = field(default_factory=list)
    # why the whole file is no JSON, if it is none
    whole: NotJsonError | None = None

    def add(self, line: int, set_id: str, text: str | None) -> None:
        """Give a set its text; an unknown id and a second text are mistakes."""
        if set_id not in self.ids:
            like = f"the documents' ids are like {next(iter(self.ids))!r}" if self.ids else "there are no document sets"
            self.mistakes.append((line, f"no document set has the id {set_id!r}; {like}"))
        elif set_id in self.texts:
            earlier = self.texts[set_id][0]
            place = f" in {self.counted} {earlier}" if earlier else ""
            self.mistakes.append((line, f"set {set_id!r} has a summary{place} already; keep one a set"))
        else:
            self.texts[set_id] = (line, text)

    def result(self, allow_missing: bool) -> Summaries:
        """The summaries that were read.

        Raises:
            DataError: there are mistakes, or sets without a summary and `allow_missing` is not given; all are listed.
        """
        if not allow_missing:
            self._miss()
        if self.mistakes:
            # causes stand in lines, what follows from them in none
            ordered = sorted(self.mistakes, key=lambda mistake: (mistake[0] == NOWHERE, mistake[0]))
            raise DataError(listed([f"{self._place(line)}: {text}" for line, text in ordered]))
        found = {name: text for name in self.ids if (text := self.texts.get(name, (NOWHERE, None))[1]) is not None}
        return Summaries(found, by_order=self.by_order)

    def _place(self, line: int) -> str:
        if not line:
            return f"{self.path}"
        return f"{self.path}:{line}" if self.counted == "line" else f"{self.path}: {self.counted} {line}"

    def _miss(self) -> None:
        remedy = 'add one ("" if it is empty) or take the set out'
        for name, (line, text) in self.texts.items():
            if text is None and line != NOWHERE:
                self.mistakes.append((line, f"set {name!r} has no summary; {remedy}"))
        missing = [name for name in self.ids if self.texts.get(name, (NOWHERE, None)) == (NOWHERE, None)]
        if len(missing) == 1:
            self.mistakes.append((NOWHERE, f"set {missing[0]!r} has no summary; {remedy}"))
        elif missing:
            shown = ", ".join([*map(repr, missing[:MOST_IDS]), *(["..."] if len(missing) > MOST_IDS else [])])
            remedy = 'add one for each ("" if it is empty) or take the sets out'
            self.mistakes.append((NOWHERE, f"{len(missing):,} sets have no summary: {shown}; {remedy}"))
