"""The declaration of a family of measures, before it is opened: of the core's own families and of those of packages alike."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from ...config.section import Section
from ...judges.measures import Entailer, Matcher
from ...judges.measures.words import WordMatcher
from ...judges.shared import SharedModels
from ...number import Number
from ...resampling import Bootstrap
from ..pages.blocks import Block, Overview
from ..significance import NullDraws
from .figures import Family, Measured
from .input import AuditInput, SystemReader
from .kinds import NumberKind
from .plan import AuditPlan

# what an audit's options choose
Tool = Literal["matcher", "entailer"]


@dataclass(frozen=True)
class Tools:
    """How it is found what a summary takes up; None where no family asks for it."""

    matcher: Matcher | None
    entailer: Entailer | None
    # one that has chance levels: the same where it matches words
    words: WordMatcher | None = None
    # that they share, and that families may have of their own
    models: SharedModels = field(default_factory=SharedModels)
    # what was taken in place of something else, in a sentence each
    notes: tuple[str, ...] = ()
    # option that was not given -> why its default is what it is here; "" where it is the better one
    defaults: Mapping[str, str] = field(default_factory=dict)

    def close(self) -> None:
        """Give the memory of models back."""
        for tool in (self.matcher, self.entailer, self.words, self.models):
            if tool is not None:
                tool.close()


@dataclass(frozen=True)
class Opening:
    """What a family is opened with."""

    # of the family, and as messages name it, with its package
    name: str
    label: str
    audited: AuditInput
    plan: AuditPlan
    tools: Tools
    # of its own
    options: Section


@dataclass(frozen=True)
class Wording:
    """How a family's finding is said."""

    # "{who} is represented less and {others} more than documents written alike would be"
    verb: str
    less: str
    more: str
    than: str
    # numbers of one value
    detail: str
    # what one of several is called in the claim, and none of them
    subject: str = "{value}"
    nobody: str = "{attribute}"


@dataclass(frozen=True)
class GroupTable:
    """A section of the page with a row for each group of the family, where these are no attribute values or need a lead."""

    # with "{by}" for how it was taken, and "{value}" for what an attribute value is called
    heading: str
    lead: str
    name: str
    # of its columns but the gap's, with "{attribute}"
    heads: tuple[str, ...]
    # groups without a number stand there too, and a single system has its name
    is_whole: bool = False
    # whether it stands before the measures of all values together, not among them
    is_section: bool = False


@dataclass(frozen=True)
class PagePart:
    """What a family says on the page besides its numbers, from what the examples of an `Audit` have of their own."""

    # the first screen in place of the audit's; None where that is to stay
    first_screen: Callable[[Any], Overview | None]
    # what stands below the audit's own first screen, and before all else in the details
    blocks: Callable[[Any], Iterable[Block]]
    section: Callable[[Any], Iterable[Block]]


def _nothing(measured: Measured, least_group: int) -> Iterable[str]:
    return ()


@dataclass(frozen=True)
class FamilyPage:
    """How the page shows a family."""

    # None of a family that names nobody
    wording: Wording | None = None
    # what a group has in the documents
    in_sources: NumberKind | None = None
    # what a group is called where it is no attribute value: "place"
    groups: str = ""
    # whose words are marked in an example, and what a row of the picture is called
    whose: str = "documents of {value}"
    row: str = "{value}"
    # None: numbers by value stand in the table of attribute values
    table: GroupTable | None = None
    # whether 0 of its numbers is fair
    zero_is_fair: bool = True
    # whether the sides of an example are counts, not shares
    counts: bool = False
    # what a text that an example shows is called, by the audit's options
    text_of: Callable[[Mapping[str, Any]], str] = lambda options: "document"
    # whether it compares words whatever it is taken by, so that scripts without borders between words matter
    compares_words: bool = False
    # what is said of a system's figures, with the sets that a group must have before anything is concluded of it
    warnings: Callable[[Measured, int], Iterable[str]] = _nothing
    part: PagePart | None = None


@dataclass(frozen=True)
class CommandOption:
    """An option of `evenhand audit` that a family or a supplement brings."""

    # of one of the options of what brings it, or of its arrangement
    name: str
    # as typer reads it
    type: Any
    help: str
    # the audit's option after which it stands, under the same heading
    after: str
    metavar: str | None = None
    # what is said of its default
    default: bool | str = True


@dataclass(frozen=True)
class Arrangement:
    """Systems that are one summarizer, to which the documents were given in several ways: which is fairer is not asked then."""

    # option of the command line with a file for each system
    option: str
    read: SystemReader
    # what gaps follow, and the tests of that, of the family's measures of all systems
    effects: Callable[[Sequence[Measured], Bootstrap], tuple[tuple[Number, ...], NullDraws]]
    # of the effects: the page's headline, and its section, with the number of systems and what an attribute value is called
    headline: Callable[[Sequence[Number]], str]
    section: Callable[[Sequence[Number], int, str], Iterable[Block]]


@dataclass(frozen=True)
class FamilyKind:
    """A family of measures as it is listed: an entry point of `evenhand.measures`, or one of the core's."""

    open: Callable[[Opening], Family]
    # all that it can have
    numbers: tuple[NumberKind, ...]
    # what people call it or its numbers, in lower case with hyphens
    other_names: tuple[str, ...] = ()
    # measured only where it is asked for
    on_request: bool = True
    # libraries that it imports
    needs: tuple[str, ...] = ()
    # what it is taken by, of what the audit's options choose, and which of these its numbers are called by
    uses: tuple[Tool, ...] = ()
    named_by: Tool | Literal[""] = ""
    # what it compares within a set; "": a set of one value, or one document, is as good as any
    compares: Literal["values", "documents", ""] = ""
    # its own options: a key of a section may be a YAML file
    options: type[Section] = Section
    # whether one of them is enough to ask for it where no measures are named
    are_requests: bool = True
    # of the command line; other ones are given as --option NAME=VALUE
    command_options: tuple[CommandOption, ...] = ()
    arrangement: Arrangement | None = None
    page: FamilyPage = FamilyPage()

    def __post_init__(self) -> None:
        strange = [kind.name for kind in self.numbers if not kind.name.strip() or "(" in kind.name]
        if strange or not self.numbers:
            raise ValueError(f"numbers need names without brackets, got {strange or 'no number'}")
        if any(kind.names for kind in self.numbers) and self.page.wording is None:
            raise ValueError("a number that names groups needs page.wording, which says how")
        # every option has a default
        self.options()
