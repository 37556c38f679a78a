"""The documents, and what is asked of the model about them."""

from operator import not_
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, model_validator

from ..records import is_none
from ..text import did_you_mean, fold, one_spelling, repeated, some_of
from .groups import Groups
from .section import Section, refuse_fields

# as documents have it, whatever spelling of the same look is written here
AttributeValue = Annotated[str, AfterValidator(one_spelling)]


class SplitSection(Section):
    """Which document sets of the corpus, and how many of them."""

    # the sets whose own `split` has this name; None takes what the seeded split by topic gives
    split: str | None = None
    # number of sets, from the first in corpus order; None takes all
    limit: int | None = Field(default=None, ge=1)
    # number of requests, drawn with the recipe's seed (for training: a new draw in each round); None takes all
    sample: int | None = Field(default=None, ge=1)


class ColumnsSection(Section):
    """What the columns of a table of documents are called; the attribute's column has the attribute's name."""

    # says which set a row's document belongs to
    set: str = "set"
    # the document's text
    text: str = "text"
    # what the set is about, the same in all rows of a set; None where prompts need no topic
    topic: str | None = None
    # the document's id; None numbers the documents of a set
    id: str | None = None
    # the set's split ("train", "test"), the same in all rows of a set
    split: str | None = None


class SummaryColumnsSection(Section):
    """What the columns or keys of a file of summaries are called; None where they have one of the usual names."""

    # the summary
    text: str | None = None
    # the set that it is of
    id: str | None = None


class CorpusSection(Section):
    """The documents, and which sides there are."""

    # a bundled corpus ("sample" of disputes, "reviews" of products), one that a package has ("films", "debates"), a file of
    # document sets (JSON lines), or a table (CSV, TSV, Parquet, .xlsx) with a row for each document
    path: str = "sample"
    # columns of a table; with it, JSON lines are read as a table too
    columns: ColumnsSection | None = Field(default=None, exclude_if=is_none)
    # leaves rows of a table out that have an empty cell in a column that is needed, counted; else they are refused
    skip_empty: bool = Field(default=False, exclude_if=not_)
    # social attribute by which documents are grouped
    attribute: str = "stance"
    # groups of its values, which take their place: "critical=1,2; mixed=3; praising=4,5", or {critical: [1, 2], praising: "*"}
    group: Groups | None = Field(default=None, exclude_if=is_none)
    # the attribute values that summaries are asked for; None takes every value of a set
    sides: tuple[AttributeValue, ...] | None = None
    train: SplitSection = SplitSection(split="train")
    test: SplitSection = SplitSection(split="test")
    # share of the topics that a seeded split holds back for the test, when the corpus names no split
    test_share: float = Field(default=0.25, gt=0, lt=1)

    def refuse(self) -> None:
        """Each side must be named once."""
        if twice := repeated(self.sides or ()):
            raise ValueError(f"sides names {some_of(twice)} more than once; name each side once")


class LayoutSection(Section):
    """How one prompt lists the documents of all sides."""

    # a document; knows {number}, and {value} for the attribute value or its label
    item: str = "{number}. {text}"
    # what stands between two of them: " || "
    join: str = "\n"

    def refuse(self) -> None:
        """A document must be shown."""
        refuse_fields("layout.item", self.item, ("number", "text", "value"), "text")


FAIRNESS = ("none", "generic", "shares", "frequencies", "count")


class TaskSection(Section):
    """What is asked of the model."""

    # "side": a summary of each side's documents alone; "all": one summary of all documents, fair to every side
    scope: Literal["side", "all"] = "side"
    # a shipped template or a file with the fields {documents} {topic} {length}, and {side} {opening} {begin} for scope: side;
    # scope: all takes "all-sides" unless another is named, and knows {about} {in_length} {fairness} besides.
    # "released" takes the prompts that the corpus's authors published: `evenhand import polisum --faithful-to-release` keeps them
    template: str = "perspective"
    # attribute value -> what prompts and openings call it, a plural that can follow "the": {ban: supporters of the ban}. The
    # shipped templates then say "the supporters of the ban argue that"; values without a label stay as they are
    labels: dict[AttributeValue, str] = Field(default_factory=dict, exclude_if=not_)
    # words a summary opens with; {side} is the capitalised side, or its label; None asks for none, as scope: all does
    opening: str | None = "The {side}"
    # number of sentences asked for; None asks for none, as scope: all does. "natural", for scope: all, leaves the length open
    sentences: int | None = Field(default=1, ge=1)
    # number of words that scope: all asks for, about; 50 unless sentences say how long the summary is; None asks for none
    words: int | None = Field(default=None, ge=1)
    # scope: all: what the prompt says about fairness. "generic": each value's share of the summary should be its share of the
    # documents; "shares": the same with the shares of the set in per cent; "frequencies": with the numbers of documents; "count":
    # the model has to count itself, and no value is named. Or a file of your own, with the fields {attribute} {n} {shares}
    # {frequencies}, and {percent_VALUE} {count_VALUE} for numbers alone. None of them says which document has which value
    fairness: str = "none"
    # scope: all: how documents are listed; None numbers them, one a line
    layout: LayoutSection | None = Field(default=None, exclude_if=is_none)

    @model_validator(mode="before")
    @classmethod
    def _scope_has_defaults(cls, values: Any) -> Any:
        if not isinstance(values, dict) or values.get("scope") != "all":
            return values
        is_natural = values.get("sentences") == "natural"
        if is_natural and values.get("words") is not None:
            raise ValueError(f"sentences: natural asks for no length, but words is {values['words']!r}; leave one out")
        words = 50 if values.get("sentences") is None else None
        usual = {"template": "all-sides", "opening": None, "sentences": None, "words": words}
        return usual | values | ({"sentences": None} if is_natural else {})

    def refuse(self) -> None:
        """Labels must differ, and the scope must fit what is asked for."""
        if self.fairness not in FAIRNESS and not {".", "/"} & set(self.fairness):
            raise ValueError(
                f"fairness needs {', '.join(FAIRNESS)} or a file such as fairness.txt, got "
                f"{self.fairness!r}{did_you_mean(self.fairness, FAIRNESS)}"
            )
        if self.scope == "side" and self.layout is not None:
            raise ValueError(
                "layout lists the documents of all sides; with scope: side they stand under their side's name: leave it out"
            )
        if blank := [value for value, label in self.labels.items() if not label.strip()]:
            raise ValueError(f"labels.{blank[0]} is empty; write what prompts are to call it, or leave it out")
        if twice := repeated(fold(label).casefold() for label in self.labels.values()):
            raise ValueError(f"labels calls two values {some_of(twice)}; give each a label of its own")
        if self.scope == "side" and self.words is not None:
            raise ValueError("words has no effect with scope: side, which asks for sentences; leave it out")
        if self.scope == "side" and self.fairness != "none":
            raise ValueError(
                f"fairness: {self.fairness} is asked of one summary of all sides; write scope: all, or leave it out"
            )
        if self.scope == "all" and self.opening and "{side}" in self.opening:
            raise ValueError("opening names {side}, but scope: all asks for one summary of all sides; leave it out")
