"""What a page is made of. A family of results turns its records into these blocks; how they look is the renderers' affair."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from ...config.plain_yaml import dump_yaml
from . import numbers
from .cells import Cell, Table, Text, Tone
from .charts import Panel, PlanePlot
from .picture import Picture
from .tables import points

# sentences that a reader takes in at once
MOST_FIRST = 6
# warnings on the first of two pages
MOST_CAUTIONS = 3


@dataclass(frozen=True)
class Heading:
    """A heading; those of level 2 begin a section and are linked in the navigation."""

    text: str
    level: Literal[2, 3] = 2
    note: str = ""
    # explains what follows
    lead: str = ""

    @property
    def slug(self) -> str:
        """Where links lead."""
        return numbers.slug(self.text)


@dataclass(frozen=True)
class Prose:
    """A paragraph; "lead" explains what follows."""

    text: str
    style: Literal["", "lead", "small", "code"] = ""
    # in bold before it
    head: str = ""


@dataclass(frozen=True)
class Marked:
    """A text of somebody's, with the words marked that are told of."""

    # texts and whether they are marked
    parts: tuple[tuple[str, bool], ...]
    # in bold before it
    head: str = ""


@dataclass(frozen=True)
class Items:
    """Short paragraphs of the same kind, each with a head in bold or none."""

    items: tuple[Prose, ...]


@dataclass(frozen=True)
class Facts:
    """Terms and what stands for them: how it was made, key figures."""

    entries: tuple[tuple[str, Cell], ...]


@dataclass(frozen=True)
class Legend:
    """The meaning of marks: tones of differences, or the palette of a strip; None in the palette is the mean of all."""

    entries: tuple[tuple[int | Tone | None, str], ...]


@dataclass(frozen=True)
class Charts:
    """Small line charts side by side, which have one legend."""

    panels: tuple[Panel, ...]


@dataclass(frozen=True)
class PlaneChart:
    """Systems in the plane of two judges."""

    plane: PlanePlot


@dataclass(frozen=True)
class Code:
    """Text as it is: a recipe, a program."""

    text: str
    # of a program, for Markdown
    language: str = ""


@dataclass(frozen=True)
class Details:
    """Blocks that are folded until somebody asks for them."""

    summary: str
    blocks: tuple["Block", ...]
    # beside the summary
    note: str = ""
    # single cases, whose tables are not results and have no files
    is_example: bool = False


Block = Heading | Prose | Marked | Items | Facts | Legend | Table | Charts | PlaneChart | Code | Details


@dataclass(frozen=True)
class Overview:
    """The first page of a result: what it says in a sentence, how sure, and one picture; everything else is on the second one."""

    # at most fifteen words
    headline: str
    # how sure that is, in three words, and the numbers behind them
    sure: str
    text: str = ""
    picture: Picture | None = None
    # examples and curves
    blocks: tuple[Block, ...] = ()
    # of a gate, before everything else
    outcome: Text | None = None


@dataclass(frozen=True)
class Page:
    """Everything that one result says."""

    # "report", "audit", ...
    kind: str
    # what it is about, in a few words
    about: str
    title: str
    warnings: tuple[str, ...]
    # above the navigation
    findings: tuple[Block, ...]
    body: tuple[Block, ...]
    footer: str
    # what the terminal shows in place of the overview: the headline's tables
    main: tuple[Block, ...] = ()
    # the first page, where there are two
    overview: Overview | None = None

    @property
    def cautions(self) -> tuple[str, ...]:
        """The first warnings, which stand on the first page."""
        return self.warnings[:MOST_CAUTIONS]

    @property
    def sections(self) -> list[Heading]:
        """The headings that the navigation leads to."""
        return [block for block in self.body if isinstance(block, Heading) and block.level == 2]


# a term and what stands for it
Fact = tuple[str, Cell | str]


def items(prose: Iterable[Prose], otherwise: str = "") -> Iterator["Block"]:
    """Short paragraphs; where there are none, what is said in their place, or nothing."""
    if paragraphs := tuple(prose):
        yield Items(paragraphs)
    elif otherwise:
        yield Prose(otherwise)


def first_and_more(sentences: Sequence[str]) -> Iterator["Block"]:
    """Sentences as a list, of which the first are on the first screen; the others are folded."""
    first, remainder = sentences[:MOST_FIRST], sentences[MOST_FIRST:]
    yield from items(map(Prose, first))
    if remainder:
        yield Details("More findings", tuple(items(map(Prose, remainder))), str(len(remainder)))


def recipe_details(recipe: Mapping[str, object], of: str = "") -> Details:
    """A recipe with everything that it left to defaults, folded."""
    return Details(f"The recipe{of and f' of {of}'}, resolved", (Code(dump_yaml(recipe)),))


def how_made(facts: Iterable[Fact], versions: Mapping[str, str]) -> Iterator["Block"]:
    """The section on how a result was made, what was installed last; facts may be given as plain words."""
    entries = [(term, Text(cell) if isinstance(cell, str) else cell) for term, cell in facts]
    installed = " \u00b7 ".join(f"{name} {version}" for name, version in versions.items())
    yield Heading("How it was made")
    yield Facts((*entries, ("versions", Text(installed))))


def tables(blocks: Iterable[Block]) -> Iterator[Table]:
    """All tables, folded ones with the others; of a line chart the table of its points."""
    for block in blocks:
        if isinstance(block, Table):
            yield block
        elif isinstance(block, Charts):
            yield from map(points, block.panels)
        elif isinstance(block, Details) and not block.is_example:
            yield from tables(block.blocks)
