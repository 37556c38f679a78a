"""What `evenhand judges train` writes and a judge of kind `combined` reads: a line through what other judges say, as JSON."""

from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, NonNegativeInt, PositiveFloat, model_validator

from ...config.judges import read_judge
from ...config.needs import JudgeSection, Purpose, TextJudgeSection
from ...errors import DataError
from ...number import Number
from ...records import Record
from ...storage import as_given, format_of, local_path, read_json
from ...text.formats import refusal
from ...text.mistakes import explained

# features that no judge gives: logarithms of the words of the summary, of the text that it is compared with, and of the claims
# that the summary's sentences are taken apart into
COUNTED = ("log-words", "log-source-words", "log-claims")
# whether the score may only rise with a feature, or only fall
Sign = Literal["up", "down"]


class Member(Record):
    """A judge whose scores are a feature."""

    name: str
    # its section of a recipe
    options: dict[str, Any]
    # a judge of another signature gives other scores, to which the line was not fitted
    signature: str


class Feature(Record):
    """One term of the line: coefficient * (value - mean) / scale."""

    # of a member, or of a count of words
    name: str
    coefficient: float
    # of the training summaries
    mean: float
    scale: PositiveFloat
    least: float
    most: float
    # how the coefficient was held when it was fitted
    sign: Sign | None = None

    @model_validator(mode="after")
    def _keeps_its_sign(self) -> "Feature":
        if (self.sign == "up" and self.coefficient < 0) or (self.sign == "down" and self.coefficient > 0):
            raise ValueError(f"{self.name} was held to go {self.sign}, but its coefficient is {self.coefficient:g}")
        if self.least > self.most:
            raise ValueError(f"the least of {self.name} is {self.least:g}, above its most, {self.most:g}")
        return self


class MemberAgreement(Record):
    """How well a judge agrees with the truth: Spearman's correlation with its interval over topics."""

    name: str
    pooled: Number
    # mean of the articles' own
    within: Number


class TrainedOn(Record):
    """The controlled summaries that a line was fitted to."""

    file: str
    digest: str
    topics: NonNegativeInt
    articles: NonNegativeInt
    summaries: NonNegativeInt
    # of those without a truth, or that a member left unscored
    left_out: NonNegativeInt
    # marks of the articles, and of those that members were trained on: how good a judge is cannot be seen on them
    seen: Annotated[tuple[str, ...], Field(min_length=1)]


class Combination(Record):
    """A trained judge; `judge.json`."""

    format: Literal["evenhand-combined-judge/3"] = "evenhand-combined-judge/3"
    # what it is to measure
    purpose: Purpose
    intercept: float
    # of every member, and counts
    features: tuple[Feature, ...]
    members: Annotated[tuple[Member, ...], Field(min_length=1)]
    # ridge, as a share of the summaries' number
    penalty: float
    trained_on: TrainedOn
    # of lines that never saw the topic, beside what was known before
    figures: tuple[MemberAgreement, ...]
    # version of evenhand
    made_with: str

    @model_validator(mode="after")
    def _features_have_their_judges(self) -> "Combination":
        feature_names, members = [feature.name for feature in self.features], [member.name for member in self.members]
        if (
            len(set(feature_names)) < len(feature_names)
            or set(feature_names) - set(COUNTED) != set(members)
            or len(set(members)) < len(members)
        ):
            raise ValueError(f"its features are {feature_names}, but its judges {members}")
        return self


@as_given()
def read_combination(path: Path) -> Combination:
    """A trained judge from its file.

    Raises:
        DataError: the file cannot be read, or is none that `evenhand judges train` wrote.
    """
    content = read_json(local_path(path))
    place = f"{path}: was not written by `evenhand judges train` of this version, which trains it again"
    if reason := refusal(content, format_of(Combination)):
        raise DataError(f"{place}: {reason}")
    with explained(place):
        return Combination.model_validate(content)


class CombinedJudge(JudgeSection):
    """A line through the scores of other judges, fitted to summaries whose coverage or faithfulness is known."""

    kind: Literal["combined"]
    meaning: ClassVar[str] = (
        "What other judges say, weighted as fits known coverage or faithfulness best, from 0 to 1; blind to what all of "
        "them are blind to."
    )
    # judge.json, which `evenhand judges train` wrote
    file: Path
    # the text that all judges in it read; nothing else can be written here
    against: Literal["source"] = "source"

    def read(self) -> "tuple[Combination, dict[str, TextJudgeSection]]":
        """The file, and the sections of the judges in it by name.

        Raises:
            DataError: it cannot be read, or a section in it is wrong.
        """
        saved = read_combination(self.file)
        return saved, {member.name: _member(self.file, member.name, member.options) for member in saved.members}

    @property
    def _combination(self) -> "tuple[Combination | None, dict[str, TextJudgeSection]]":
        """What `read` gives; nothing where the file cannot be read, which the check of `file` says."""
        try:
            return self.read()
        except DataError:
            return None, {}

    @property
    def members(self) -> "dict[str, TextJudgeSection]":
        """The sections of the judges in the file; none where it cannot be read."""
        return self._combination[1]

    @property
    def sections(self) -> "dict[str, TextJudgeSection]":
        """The sections of the judges in the file, by key below this section."""
        return {inside(name): section for name, section in self.members.items()}

    @property
    def purpose(self) -> Purpose | None:
        """The purpose that the judge was trained for; None where the file cannot be read."""
        saved, _ = self._combination
        return saved.purpose if saved else None

    @property
    def seen(self) -> frozenset[str]:
        """Marks of what the judge was trained on; none where the file cannot be read."""
        saved, _ = self._combination
        return frozenset(saved.trained_on.seen) if saved else frozenset()


def inside(name: str) -> str:
    """The key of a judge in the file, below the section that names the file."""
    return f"file.{name}"


def _member(file: Path, name: str, options: dict[str, Any]) -> TextJudgeSection:
    with explained(f"{file}: its judge {name!r} is wrong"):
        section = read_judge(options)
    if not isinstance(section, TextJudgeSection):
        raise DataError(
            f"{file}: its judge {name!r} is wrong: kind {section.kind} does not compare a summary with one text"
        )
    return section
