"""What is known of a judge: calibration.json, as `evenhand judges audit` writes it, and where it is asked for.

A calibration is of a signature, which names everything that a judge's scores depend on. A judge whose signature differs by
anything is another judge, of which nothing is known.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from operator import not_
from pathlib import Path
from typing import Annotated, Literal, TypeVar

from pydantic import AfterValidator, Field, NonNegativeInt, model_validator

from ..config.needs import Purpose
from ..doors import command
from ..errors import DataError, StorageError
from ..models.dates import undated
from ..number import Number
from ..records import DocumentSet, Record, is_none
from ..resampling import NOISE
from ..storage import format_of, parse_json_of, read_text
from ..text.formats import refusal
from ..text.mistakes import explained, listed
from .examples import JudgedPair
from .likeness import ArticleVocabulary, typical_share

N = TypeVar("N", bound=Number)

# of a judge's agreement with what it is to measure, beside another measure's
Standing = Literal["above", "no clear difference", "below"]
# length in its two directions
LENGTH = "length"
LENGTHS = (LENGTH, f"{LENGTH}, shorter first")
# "told" is a figure without a verdict, "not tried" one that nothing could be said of
Outcome = Literal["accused", "not accused", "told", "not tried"]
VERDICTS: tuple[Outcome, ...] = ("accused", "not accused")


def how() -> str:
    """The command that writes one."""
    return command("judges audit SETS --judges RECIPE --out FOLDER")


class Probe(Number):
    """What was tried to lead a judge astray, its effect, and whether that accuses the judge; the measure is the probe's name."""

    # what was done, in a sentence
    question: str = Field(default="", exclude_if=not_)
    verdict: Outcome | None = Field(default=None, exclude_if=is_none)
    # what an accusation says, or why nothing could be said
    note: str = Field(default="", exclude_if=not_)

    @property
    def name(self) -> str:
        """ "names, of Miller": the measure, and what of it."""
        return ", ".join(filter(None, (self.measure, self.reference)))


def _in_its_interval(number: N) -> N:
    value, low, high = number.value, number.low, number.high
    if (low, high) != (None, None) and (value is None or low is None or high is None or not low <= value <= high):
        raise ValueError(f"{value} does not lie in an interval from {low} to {high}")
    return number


# of a study of judges: Student's t, by the jackknife over topics
Known = Annotated[Number, AfterValidator(_in_its_interval)]


def standing_of(difference: Number) -> Standing:
    """What a difference says: only an interval that leaves 0 out says that there is one."""
    if difference.low is None or difference.high is None:
        return "no clear difference"
    return "above" if difference.low > NOISE else "below" if difference.high < -NOISE else "no clear difference"


class Agreement(Record):
    """Spearman's correlation of scores with what is known of the summaries."""

    # the measure whose scores they are: a judge, "rouge1-recall", "length", or "length, shorter first" where that agrees better
    of: str
    # of all summaries together
    pooled: Known
    # mean of the articles' own
    within: Known
    # of another measure: the judge's agreement within articles less this one, over the same articles, and how it stands
    difference: Known | None = None

    @model_validator(mode="after")
    def _is_a_correlation(self) -> "Agreement":
        for correlation in (self.pooled, self.within):
            if any(
                x is not None and not -1 - NOISE <= x <= 1 + NOISE
                for x in (correlation.value, correlation.low, correlation.high)
            ):
                raise ValueError(
                    f"a correlation lies between -1 and 1, got {correlation.value} ({correlation.low} to {correlation.high})"
                )
        if self.difference and self.difference.verdict != (standing := standing_of(self.difference)):
            raise ValueError(
                f"beside {self.of} the standing is {self.difference.verdict!r}, but the difference says {standing!r}"
            )
        return self


class JudgingCost(Record):
    """What 1,000 judgements take, by the median batch; None where every score came from the cache."""

    seconds: float | None
    # of prompts; None of judges that ask no language model
    prompt_tokens: float | None


class JudgeCalibration(Record):
    """All that is known of one judge."""

    judge: str
    signature: str
    # models that it loads or asks
    models: tuple[str, ...]
    revisions: tuple[str, ...]
    # name and digest of its prompt, "" without one
    rubric: str
    purpose: Purpose
    # with its purpose, and with the other attribute
    own: Agreement
    other: Agreement
    # of other measures, with differences; the first is length
    beside: Annotated[tuple[Agreement, ...], Field(min_length=1)]
    # whether every summary that has a score has the same
    is_constant: bool
    # standard deviation of scores within an article
    spread: float | None
    # effects in standard deviations of the judge's scores within an article, unless their question says otherwise
    probes: tuple[Annotated[Probe, AfterValidator(_in_its_interval)], ...]
    # share of an article's pairs of summaries whose order changes when they are asked about again, and when the source is turned
    # round
    flips_again: Known
    flips_reversed: Known
    # standard deviation of the difference between two answers to the same question, in `spread`s
    repeat: float | None
    cost: JudgingCost
    # summaries as they are, and those of them without a score
    n_summaries: NonNegativeInt
    unscored: NonNegativeInt
    # articles that it was not asked about, because it was trained on them or on their topics
    n_seen: NonNegativeInt = 0

    @model_validator(mode="after")
    def _holds_together(self) -> "JudgeCalibration":
        if self.beside[0].of not in LENGTHS:
            raise ValueError(f"the first measure beside {self.judge} is {self.beside[0].of}, and must be length")
        if self.unscored > self.n_summaries:
            raise ValueError(f"{self.judge} left {self.unscored} of {self.n_summaries} summaries unscored")
        if self.scores_nothing and self.own.within.value is not None:
            raise ValueError(f"{self.judge} scored nothing, and agrees by {self.own.within.value}")
        return self

    @property
    def scores_nothing(self) -> bool:
        """Whether it left every summary unscored."""
        return self.unscored == self.n_summaries

    @property
    def is_tried(self) -> bool:
        """Whether any probe gave a verdict."""
        return any(probe.verdict in VERDICTS for probe in self.probes)

    @property
    def untried(self) -> dict[str, str]:
        """Fault -> why nothing can be said of it: nobody is acquitted of these."""
        tried = {probe.measure for probe in self.probes if probe.verdict != "not tried"}
        untried = [probe for probe in self.probes if probe.measure not in tried]
        return {probe.measure: next(x.note for x in untried if x.measure == probe.measure) for probe in untried}

    @property
    def has_interval(self) -> bool:
        """Whether anything can be said of its agreement: with few topics, or few scores, nothing can."""
        return self.own.within.low is not None

    @property
    def has_agreement(self) -> bool:
        """Whether its scores clearly go with its purpose, within articles."""
        return not self.is_constant and (self.own.within.low or 0.0) > 0

    @property
    def length(self) -> Agreement:
        """Length's own agreement, and how the judge stands beside it."""
        return self.beside[0]

    @property
    def beats_length(self) -> bool:
        """Whether it clearly agrees better with its purpose than length does."""
        return self.has_agreement and self.standing == "above"

    @property
    def standing(self) -> Standing:
        """Where it stands beside length."""
        return standing_of(self.length.difference) if self.length.difference else "no clear difference"

    @property
    def accusations(self) -> list[Probe]:
        """The probes that it failed."""
        return [probe for probe in self.probes if probe.verdict == "accused"]


class Calibration(Record):
    """What was found of some judges on one file; `calibration.json`."""

    format: Literal["evenhand-calibration/3"] = "evenhand-calibration/3"
    # name of the file of controlled summaries, or of people's ratings, and digest of its content
    file: str
    digest: str
    # names of the files of people's scores
    human: tuple[str, ...] = ()
    # documents in them that are not finished
    human_left_out: NonNegativeInt = 0
    # people whose scores are the truth, 0 where nobody is named; None where the truth is known by construction
    n_raters: NonNegativeInt | None = Field(default=None, exclude_if=is_none)
    # what is to be known of their scores, a sentence each
    notes: tuple[str, ...] = Field(default=(), exclude_if=not_)
    n_articles: NonNegativeInt
    n_summaries: NonNegativeInt
    n_topics: NonNegativeInt
    # articles whose topic nobody told, so that they are topics of their own
    topics_unknown: NonNegativeInt = 0
    # what the articles are about, to be held against the documents of a recipe
    about: ArticleVocabulary
    # ISO 8601
    date: str
    evenhand: str
    versions: dict[str, str]
    level: float
    judges: tuple[JudgeCalibration, ...]
    # judge -> why it was not tried
    not_tried: dict[str, str]
    # summaries that show where judges err; not in what is published
    examples: tuple[JudgedPair, ...] = Field(default=(), exclude_if=not_)

    def of(self, signature: str, purpose: Purpose | None = None) -> JudgeCalibration | None:
        """What is known of the judge of this signature; of one that differs by anything but the day, nothing.

        Args:
            signature: of its scores.
            purpose: what it is to measure; how well it measures something else says nothing of that. None takes any.
        """
        undated_equals = (x for x in self.judges if undated(x.signature) == undated(signature))
        return next((x for x in undated_equals if purpose in (None, x.purpose)), None)


class Worth(Record):
    """What is known of the judges that a page rests on."""

    # judge -> its calibration
    known: dict[str, JudgeCalibration]
    # judges that could be tried, and of which nothing is known
    unknown: tuple[str, ...]
    # what calibrations rest on: "sample: 16 articles, 2026-11-23"
    data: tuple[str, ...]
    # of calibrations on documents of another kind
    unlike: tuple[str, ...] = Field(default=(), exclude_if=not_)


def read_calibration(path: Path) -> Calibration:
    """The calibration in a file, or in the folder that `evenhand judges audit` wrote.

    Raises:
        DataError: it cannot be read, is no calibration of this version, or contradicts itself.
    """
    file = path / "calibration.json" if path.is_dir() else path
    try:
        text = read_text(file)
        if why := refusal(parse_json_of(file, text), format_of(Calibration)):
            raise DataError(f"{file}: {why}")
        # in the words of JSON: "an array", where Python's are "a tuple"
        with explained(f"{file}: is not as `evenhand judges audit` wrote it"):
            return Calibration.model_validate_json(text)
    except StorageError as error:
        raise DataError(f"{error}; {how()} writes one") from error
    except DataError as error:
        raise DataError(f"{error}; {how()} writes it again") from error


def read_calibrations(paths: Sequence[Path]) -> list[Calibration]:
    """Those of several files.

    Raises:
        DataError: one cannot be read; all mistakes are listed.
    """
    calibrations, mistakes = [], []
    for path in paths:
        try:
            calibrations.append(read_calibration(path))
        except DataError as error:
            mistakes.append(str(error))
    if mistakes:
        raise DataError(listed(mistakes))
    return calibrations


def known_of(
    signatures: Mapping[str, str], files: Iterable[Calibration], purposes: Mapping[str, Purpose | None]
) -> dict[str, JudgeCalibration]:
    """Judge -> what the first file that has it says; judges of which nothing is known are absent.

    Args:
        signatures: judge -> signature.
        files: calibrations.
        purposes: judge -> what it is to measure; None, or no entry, takes what it was audited for.
    """
    known = list(files)
    known_by_name = {
        name: next(filter(None, (calibration.of(signature, purposes.get(name)) for calibration in known)), None)
        for name, signature in signatures.items()
    }
    return {name: calibration for name, calibration in known_by_name.items() if calibration is not None}


def unlike(paths: Iterable[Path], sets: Collection[DocumentSet]) -> Iterator[str]:
    """What to know of each calibration that was made on documents of another kind; see `likeness`.

    Args:
        paths: of calibrations; of one that cannot be read nothing is said.
        sets: documents that the judges are to judge summaries of.
    """
    for path in paths:
        try:
            known = read_calibration(path)
        except DataError:
            continue
        threshold = known.about.least
        typical = typical_share(
            known.about, ([document.text for document in document_set.documents] for document_set in sets)
        )
        if threshold is not None and typical is not None and typical < threshold:
            yield (
                f"{path} was calibrated on other documents: {known.file} has {100 * typical:.0f} % of the words of a typical "
                f"document set here, and of nine in ten of its own topics its other topics have {100 * threshold:.0f} % or more. "
                f"What it says of judges need not hold here; {how()} with articles like yours tells"
            )
