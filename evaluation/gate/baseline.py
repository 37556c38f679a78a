"""An earlier page, of which only the change counts: paired over document sets, so of the very same documents and measures.

Two pages of other documents would differ by their documents, and an interval of unpaired numbers would be wider by what the
documents have in common: both are refused.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from ...errors import DataError, StorageError
from ...models.dates import undated
from ...storage import listed, parse_line, read_text
from ...text import some_of
from ...text.json_text import NotJsonError, parse_json
from ..audit.contents import SCHEMA, Audit
from ..report.comparison.contents import Comparison
from ..report.systems.contents import Report
from .limits import Limit, fold
from .names import MissingNumber
from .numbers import FAMILIES, SYSTEM, Named, Page, alike, minus, numbers_of

AGAIN = "make the baseline again with the same options"
# what a message calls each kind of page
CALLED: dict[type[Page], str] = {Audit: "an audit", Report: "a report", Comparison: "a comparison"}


@dataclass(frozen=True)
class MeasureMethod:
    """How something is measured: everything that it depends on besides documents and summaries."""

    signature: str
    # what was chosen for it, "words" or "encoder", by which option; "" where nothing is
    choice: str = ""
    option: str = ""
    # why it is that choice where the option was not given; None where it was
    default: str | None = None


@dataclass(frozen=True)
class Subject:
    """What a page will be about and how it is measured, as far as that is known before anything is."""

    documents_digest: str
    # ids
    sets: tuple[str, ...]
    attribute: str | None = None
    sides: tuple[str, ...] | None = None
    # labels, the one that limits are about without a name last; none where they are always called the same
    systems: tuple[str, ...] = ()
    # by measure or judge
    methods: Mapping[str, MeasureMethod] = field(default_factory=dict)


@dataclass(frozen=True)
class Baseline:
    """An earlier page."""

    path: Path
    page: Page

    def refuse_unlike(self, now: Page | Subject) -> None:
        """Refuse a baseline of other documents.

        Raises:
            DataError: all that differs is listed.
        """
        self._refuse(list(_unlike(self.page, now)))

    def refuse_before(self, limits: Iterable[Limit], now: Subject) -> None:
        """Refuse, before anything is measured, a baseline of other documents, or other measures of what limits are about.

        Raises:
            DataError: all that differs is listed.
        """
        mistakes = list(_unlike(self.page, now))
        methods, changes = _methods(self.page), [each for each in limits if not each.is_now]
        mistakes += [why for limit in changes for why in self._lacking(limit, now)]
        for name in dict.fromkeys(name for limit in changes for name in self._measured(limit)):
            then, here = methods[name], now.methods.get(name)
            if here is not None and undated(here.signature) != undated(then.signature):
                mistakes.append(_otherwise(name, then, here))
        self._refuse(mistakes)

    def _refuse(self, mistakes: list[str]) -> None:
        if mistakes:
            raise DataError(listed([f"--baseline {self.path}: {each}" for each in mistakes]))

    def _lacking(self, limit: Limit, now: Subject) -> Iterator[str]:
        """What a limit is about that the baseline does not have: a measure, or the system."""
        had = _methods(self.page)
        for name in now.methods:
            if name not in had and fold(FAMILIES.get(name, name)) in limit.arguments:
                yield f"was made without {name}, which {limit.place} is about; {AGAIN}"
        if not now.systems or limit.function == "difference":
            return
        systems = dict.fromkeys(each.system for each in alike(numbers_of(self.page), limit.function))
        named = [each for each in now.systems if {fold(each), f"{SYSTEM}{fold(each)}"}.intersection(limit.arguments)]
        wanted = (named or now.systems)[-1]
        if len(systems) > 1 and wanted not in systems:
            yield (
                f"has no system {wanted!r}, which {limit.place} is about; its systems are {some_of(list(systems))}: call yours "
                "like the one that it is held against, --summaries NAME=FILE, or make the baseline of that one alone"
            )

    def _measured(self, limit: Limit) -> list[str]:
        """The measure or judge that a limit is about, as the baseline has it; none where that cannot be told."""
        found = [each for each in numbers_of(self.page) if limit.function in each.functions]
        for argument in limit.arguments:
            # what is no measure, value or side names a system, which may be called otherwise there
            found = [each for each in found if argument in each.what] or found
        if len({each.measures for each in found}) > 1:
            return []
        signatures = {each.signature for each in found}
        return [name for name, method in _methods(self.page).items() if method.signature in signatures]

    def change(self, number: Named) -> Named:
        """The number less what it was.

        Raises:
            MissingNumber: the baseline does not have it.
            DataError: it was taken in another way.
        """
        found = alike(numbers_of(self.page), number.functions[0])
        systems = dict.fromkeys(each.system for each in found)
        wanted = number.system if number.system in systems else next(iter(systems)) if len(systems) == 1 else ""
        named = (number.measures, number.group, wanted)
        same = (each for each in found if number.functions[0] in each.functions)
        before = next((each for each in same if (each.measures, each.group, each.system) == named), None)
        if before is None:
            why = f"its systems are {some_of(list(systems))}" if systems else "was it measured?"
            raise MissingNumber(f"the baseline has no {number.words}: {why}")
        if undated(before.signature) != undated(number.signature):
            raise DataError(
                f"--baseline {self.path}: {number.words} is {number.signature} now and was {before.signature}; {AGAIN}"
            )
        return replace(minus(number, before), is_change=True)


def read_baseline(path: Path, kind: type[Page], file_name: str) -> Baseline:
    """An earlier page of this kind.

    Args:
        path: its JSON file, or the folder that has it.
        kind: of the page.
        file_name: of the JSON file in its folder.

    Raises:
        DataError: the file cannot be read, is not such a page of this version, or keeps nothing of single document sets.
    """
    file = path / file_name if path.is_dir() else path
    try:
        text = read_text(file)
    except StorageError as error:
        raise DataError(f"--baseline {error}; name an earlier {file_name} or its folder") from error
    if why := _refusal(text, kind):
        raise DataError(f"--baseline {file}: {why}; name an earlier {file_name} of this version, or its folder")
    try:
        page = parse_line(text, kind)
    except DataError as error:
        raise DataError(
            f"--baseline {file}: was not written as {file_name} by this version; make it again with this version (of a run: run "
            f"`evenhand loop` with its recipe again): {error}"
        ) from error
    if not page.sets:
        raise DataError(f"--baseline {file}: keeps nothing of single document sets; make it again with this version")
    return Baseline(file, page)


def _refusal(text: str, kind: type[Page]) -> str:
    """Why a file is told to be of another kind or version by what it calls itself and its keys; "" where it is not told."""
    try:
        found = parse_json(text)
    except NotJsonError:
        return ""
    if not isinstance(found, dict):
        return ""
    schema, needed = found.get("schema_name"), {each: _required(each) for each in CALLED}
    if str(schema).partition("/")[0] == SCHEMA.partition("/")[0]:
        if kind is not Audit:
            return f"is {CALLED[Audit]}, not {CALLED[kind]}"
        return "" if schema == SCHEMA else f"is an audit of another version ({schema}, and this one writes {SCHEMA})"
    its = [each for each, names in needed.items() if names <= found.keys() and each is not Audit]
    if its and kind not in its:
        return f"is {CALLED[its[0]]}, not {CALLED[kind]}"
    return f"calls itself {schema!r}, not {SCHEMA!r}" if kind is Audit and "schema_name" in found else ""


def _required(kind: type[Page]) -> set[str]:
    return {name for name, key in kind.model_fields.items() if key.is_required()}


def _methods(page: Page) -> dict[str, MeasureMethod]:
    """How a page's measures or judges were taken, by name."""
    if isinstance(page, Audit):
        return {each.family: MeasureMethod(each.signature, each.by) for each in page.measures}
    return {each.name: MeasureMethod(each.signature) for each in page.judges}


def _otherwise(name: str, then: MeasureMethod, now: MeasureMethod) -> str:
    """What to do about a measure that is taken in another way."""
    if not now.option or now.choice == then.choice:
        return f"{name} is {now.signature} now and was {then.signature}; {AGAIN}"
    here, needs = "", ""
    if now.default is not None:
        here = f" (the default of {now.option} here{f', because {now.default}' if now.default else ''})"
        needs = ", once what it needs is installed" if now.default else ""
    return (
        f"{name} is by {now.choice!r} now{here} and was by {then.choice!r}; give {now.option} {now.choice} to both, or "
        f"{now.option} {then.choice} here{needs}"
    )


def _unlike(then: Page, now: Page | Subject) -> Iterator[str]:
    if then.documents_digest != now.documents_digest:
        yield "is about other documents; make it again with the current ones"
    elif then.sets != now.sets:
        yield f"is about {len(then.sets):,} document sets, and this is about {len(now.sets):,}; take the same"
    for name in ("attribute", "sides"):
        if getattr(then, name, None) != getattr(now, name, None):
            yield f"its {name} is {getattr(then, name)!r}, and it is {getattr(now, name)!r} now"
