"""An earlier page, of which only the change counts: paired over document sets, so of the very same documents and measures.

Two pages of other documents would differ by their documents, and an interval of unpaired numbers would be wider by what the
documents have in common: both are refused.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ...errors import DataError, FormatError, StorageError
from ...models.dates import undated
from ...storage import parse_file, read_text
from ...text import some_of
from ...text.mistakes import listed
from .limits import Limit, fold
from .names import MissingNumber
from .numbers import SYSTEM, NamedNumber, alike, minus
from .subject import MeasureMethod, P, PageKind, PageNumbers, Subject

AGAIN = "make the baseline again with the same options"
BY_THIS_VERSION = "make it again with this version (of a run: run `evenhand loop` with its recipe again)"


@dataclass(frozen=True)
class Baseline:
    """An earlier page."""

    path: Path
    kind: PageKind[Any]
    page: PageNumbers

    def refuse_unlike(self, now: Subject) -> None:
        """Refuse a baseline of other documents.

        Raises:
            DataError: all that differs is listed.
        """
        self._refuse(list(_unlike(self.page.subject, now)))

    def refuse_before(self, limits: Iterable[Limit], now: Subject) -> None:
        """Refuse, before anything is measured, a baseline of other documents, or other measures of what limits are about.

        Raises:
            DataError: all that differs is listed.
        """
        mistakes = list(_unlike(self.page.subject, now))
        methods, changes = self.page.subject.methods, [limit for limit in limits if not limit.is_now]
        mistakes += [why for limit in changes for why in self._lacking(limit, now)]
        for name in dict.fromkeys(name for limit in changes for name in self._measured(limit)):
            then, current = methods[name], now.methods.get(name)
            if current is not None and undated(current.signature) != undated(then.signature):
                mistakes.append(_otherwise(name, then, current))
        self._refuse(mistakes)

    def _refuse(self, mistakes: list[str]) -> None:
        if mistakes:
            raise DataError(listed([f"--baseline {self.path}: {mistake}" for mistake in mistakes]))

    def _lacking(self, limit: Limit, now: Subject) -> Iterator[str]:
        """The subjects of a limit that the baseline does not have: a measure, or the system."""
        for name in now.methods:
            is_new = name not in self.page.subject.methods
            if is_new and fold(self.kind.families.get(name, name)) in limit.arguments:
                yield f"was made without {name}, which {limit.place} is about; {AGAIN}"
        if not now.systems or limit.function == "difference":
            return
        systems = dict.fromkeys(number.system for number in alike(self.page.numbers, limit.function))
        named = [
            system for system in now.systems if {fold(system), f"{SYSTEM}{fold(system)}"}.intersection(limit.arguments)
        ]
        wanted = (named or now.systems)[-1]
        if len(systems) > 1 and wanted not in systems:
            yield (
                f"has no system {wanted!r}, which {limit.place} is about; its systems are {some_of(list(systems))}: call yours "
                "like the one that it is held against, --summaries NAME=FILE, or make the baseline of that one alone"
            )

    def _measured(self, limit: Limit) -> list[str]:
        """The measure or judge that a limit is about, as the baseline has it; none where that cannot be told."""
        numbers = [number for number in self.page.numbers if limit.function in number.functions]
        for argument in limit.arguments:
            # what is no measure, value or side names a system, which may be called otherwise there
            numbers = [number for number in numbers if argument in number.what] or numbers
        if len({number.measures for number in numbers}) > 1:
            return []
        signatures = {number.signature for number in numbers}
        return [name for name, method in self.page.subject.methods.items() if method.signature in signatures]

    def change(self, number: NamedNumber) -> NamedNumber:
        """The number less what it was.

        Raises:
            MissingNumber: the baseline does not have it.
            DataError: it was taken in another way.
        """
        old_numbers = alike(self.page.numbers, number.functions[0])
        systems = dict.fromkeys(old_number.system for old_number in old_numbers)
        wanted = number.system if number.system in systems else next(iter(systems)) if len(systems) == 1 else ""
        named = (number.measures, number.side, wanted)
        of_function = (old_number for old_number in old_numbers if number.functions[0] in old_number.functions)
        before = next(
            (
                old_number
                for old_number in of_function
                if (old_number.measures, old_number.side, old_number.system) == named
            ),
            None,
        )
        if before is None:
            why = f"its systems are {some_of(list(systems))}" if systems else "was it measured?"
            raise MissingNumber(f"the baseline has no {number.words}: {why}")
        if undated(before.signature) != undated(number.signature):
            raise DataError(
                f"--baseline {self.path}: {number.words} is {number.signature} now and was {before.signature}; {AGAIN}"
            )
        return replace(minus(number, before), is_change=True)


def read_baseline(path: Path, kind: PageKind[P]) -> Baseline:
    """An earlier page of this kind.

    Args:
        path: its JSON file, or the folder that has it.
        kind: of the page.

    Raises:
        DataError: the file cannot be read, is not such a page of this version, or keeps nothing of single document sets.
    """
    file_name = kind.file_name
    file = path / file_name if path.is_dir() else path
    try:
        text = read_text(file)
    except StorageError as error:
        raise DataError(f"--baseline {error}; name an earlier {file_name} or its folder") from error
    try:
        page = kind.read(parse_file(text, kind.record))
    except FormatError as error:
        remedy = f"{BY_THIS_VERSION}, or name an earlier {file_name} of this version or its folder"
        raise DataError(f"--baseline {file}: {error}; {remedy}") from error
    except DataError as error:
        raise DataError(
            f"--baseline {file}: was not written as {file_name} by this version; {BY_THIS_VERSION}: {error}"
        ) from error
    if not page.subject.sets:
        raise DataError(f"--baseline {file}: keeps nothing of single document sets; make it again with this version")
    return Baseline(file, kind, page)


def _otherwise(name: str, then: MeasureMethod, now: MeasureMethod) -> str:
    """The remedy where a measure is taken in another way."""
    if not now.option or now.choice == then.choice:
        return f"{name} is {now.signature} now and was {then.signature}; {AGAIN}"
    default_note, needs = "", ""
    if now.default is not None:
        default_note = f" (the default of {now.option} here{f', because {now.default}' if now.default else ''})"
        needs = ", once what it needs is installed" if now.default else ""
    return (
        f"{name} is by {now.choice!r} now{default_note} and was by {then.choice!r}; give {now.option} {now.choice} to both, or "
        f"{now.option} {then.choice} here{needs}"
    )


def _unlike(then: Subject, now: Subject) -> Iterator[str]:
    if then.documents_digest != now.documents_digest:
        yield "is about other documents; make it again with the current ones"
    elif then.sets != now.sets:
        yield f"is about {len(then.sets):,} document sets, and this is about {len(now.sets):,}; take the same"
    if then.attribute != now.attribute:
        yield f"its attribute is {then.attribute!r}, and it is {now.attribute!r} now"
    for name in ("groups", "sides"):
        before, current = getattr(then, name), getattr(now, name)
        if before != current:
            yield f"its {name} are {before or None!r}, and they are {current or None!r} now; {AGAIN}"
