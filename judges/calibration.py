"""What is known of a judge: calibration.json, as `evenhand audit-judge` writes it, and where it is asked for.

A calibration is of a signature, which names everything that a judge's scores depend on. A judge whose signature differs by
anything is another judge, of which nothing is known.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Literal

from ..config.needs import Purpose
from ..errors import DataError, StorageError
from ..records import Record
from ..storage import listed, parse_line, read_text

FORMAT = "evenhand-calibration/1"
HOW = "evenhand audit-judge SETS --judges RECIPE --out FOLDER"

# of a judge's agreement with what it is to measure, beside another measure's
Standing = Literal["above", "no clear difference", "below"]
# "told" is a figure without a verdict, "not tried" one that nothing could be said of
Outcome = Literal["accused", "not accused", "told", "not tried"]


class Figure(Record):
    """A number with its interval over topics."""

    # None where it is undefined
    value: float | None = None
    # None with fewer than `resampling.LEAST_SETS` topics
    low: float | None = None
    high: float | None = None


class Agreement(Record):
    """Spearman's correlation of scores with what is known of the summaries."""

    # of all summaries together
    pooled: Figure
    # mean of the articles' own
    within: Figure
    # articles that it rests on
    n_articles: int


class Beside(Record):
    """A judge's agreement within articles less that of another measure, over the same articles."""

    # "length", "rouge1-recall", ...; of length with the direction that agrees better: "length, shorter first"
    other: str
    # the other's own
    agreement: Agreement
    difference: Figure
    standing: Standing


class Probe(Record):
    """One way in which a judge may be led, and whether it was."""

    name: str
    # what was done, in a sentence
    question: str
    # in standard deviations of the judge's scores within an article, unless `question` says otherwise
    effect: Figure
    # of "there is none", before and after Benjamini and Hochberg over the probes of the judge that give a verdict
    p_value: float | None
    adjusted: float | None
    outcome: Outcome
    # what an accusation says, or why nothing could be said
    note: str = ""
    # summaries or pairs that it rests on
    n: int = 0


class Cost(Record):
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
    # the first is length
    beside: tuple[Beside, ...]
    # whether every summary has the same score
    is_constant: bool
    # standard deviation of scores within an article
    spread: float | None
    probes: tuple[Probe, ...]
    # share of an article's pairs of summaries whose order changes when they are asked about again, and when the source is turned
    # round
    flips_again: Figure
    flips_reversed: Figure
    # standard deviation of the difference between two answers to the same question, in `spread`s
    repeat: float | None
    cost: Cost
    # summaries as they are, and those of them without a score
    n_summaries: int
    unscored: int

    @property
    def has_agreement(self) -> bool:
        """Whether its scores clearly go with its purpose, within articles."""
        return not self.is_constant and (self.own.within.low or 0.0) > 0

    @property
    def length(self) -> Beside:
        """Its agreement beside that of length."""
        return self.beside[0]

    @property
    def beats_length(self) -> bool:
        """Whether it clearly agrees better with its purpose than length does."""
        return self.has_agreement and self.length.standing == "above"

    @property
    def accusations(self) -> list[Probe]:
        """The probes that it failed."""
        return [each for each in self.probes if each.outcome == "accused"]


class Calibration(Record):
    """What was found of some judges on one file; `calibration.json`."""

    format: Literal["evenhand-calibration/1"] = "evenhand-calibration/1"
    # name of the controlled file and digest of its content
    file: str
    digest: str
    # names of the files of people's scores
    human: tuple[str, ...] = ()
    n_articles: int
    n_summaries: int
    n_topics: int
    # ISO 8601
    date: str
    evenhand: str
    versions: dict[str, str]
    level: float
    judges: tuple[JudgeCalibration, ...]
    # judge -> why it was not tried
    not_tried: dict[str, str]

    def of(self, signature: str) -> JudgeCalibration | None:
        """What is known of the judge of this signature; of one that differs by anything, nothing."""
        return next((each for each in self.judges if each.signature == signature), None)


def read_calibration(path: Path) -> Calibration:
    """The calibration in a file, or in the folder that `evenhand audit-judge` wrote.

    Raises:
        DataError: it cannot be read, or is no calibration of this version.
    """
    file = path / "calibration.json" if path.is_dir() else path
    try:
        return parse_line(read_text(file), Calibration)
    except StorageError as error:
        raise DataError(f"{error}; `{HOW}` writes one") from error
    except DataError as error:
        raise DataError(f"{file}: is not the calibration.json of `evenhand audit-judge`: {error}") from error


def read_calibrations(paths: Sequence[Path]) -> list[Calibration]:
    """Those of several files.

    Raises:
        DataError: one cannot be read; all mistakes are listed.
    """
    found, mistakes = [], []
    for path in paths:
        try:
            found.append(read_calibration(path))
        except DataError as error:
            mistakes.append(str(error))
    if mistakes:
        raise DataError(listed(mistakes))
    return found


def known_of(signatures: Mapping[str, str], files: Iterable[Calibration]) -> dict[str, JudgeCalibration]:
    """Judge -> what the first file that has its signature says; judges of which nothing is known are absent."""
    known = list(files)
    found = {
        name: next(filter(None, (each.of(signature) for each in known)), None) for name, signature in signatures.items()
    }
    return {name: each for name, each in found.items() if each is not None}
