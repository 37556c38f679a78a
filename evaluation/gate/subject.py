"""What a gate knows of a page: what it is about, its numbers, and how limits name them. Each room says this of its own pages."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from ...records import Record
from ...resampling import Bootstrap
from ...storage import format_of
from ...text.formats import FORMATS
from .numbers import NamedNumber

P = TypeVar("P", bound=Record)

AS_SHOWN = "as the page has it"
OF_SUMMARISED = "share of what was asked that has a summary: summarised < 95 %; without a limit all must have one"


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
    """The subject of a page and how it is measured, as far as that is known before anything is."""

    documents_digest: str
    # ids
    sets: tuple[str, ...]
    attribute: str | None = None
    # groups that take the place of its values; "" where there are none
    groups: str = ""
    sides: tuple[str, ...] | None = None
    # labels, the one that limits are about without a name last; none where they are always called the same
    systems: tuple[str, ...] = ()
    # by measure or judge
    methods: Mapping[str, MeasureMethod] = field(default_factory=dict)


@dataclass(frozen=True)
class PageNumbers:
    """The numbers that a gate reads of a page."""

    subject: Subject
    # system by system: those of the last one last
    numbers: Sequence[NamedNumber]
    # of its intervals
    plan: Bootstrap


@dataclass(frozen=True)
class PageKind(Generic[P]):
    """A kind of page: its record and file, what a gate reads of it, and what limits can name."""

    record: type[P]
    # of the command
    verb: str
    read: Callable[[P], PageNumbers]
    # function -> what it is, and examples
    functions: Mapping[str, str]
    # the system that is meant where none is named
    last: str
    # functions that no limit can hold, since chance alone makes them grow
    growing: Collection[str] = ()
    # measures that limits call otherwise
    families: Mapping[str, str] = field(default_factory=dict)

    @property
    def format(self) -> str:
        """The name by which its file calls itself."""
        return format_of(self.record)

    @property
    def file_name(self) -> str:
        """The name of its file in the folder of its command."""
        return FORMATS[self.format.partition("/")[0]].file
