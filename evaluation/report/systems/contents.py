"""What report.json holds: every number with the judge, the count and the bootstrap it comes from.

The page, the Markdown and the terminal table are drawn from these records alone, so nothing they show is missing here.
"""

from dataclasses import dataclass
from operator import not_
from typing import Any, Literal

from pydantic import Field

from ....judges.calibration import Worth
from ....number import Number
from ....records import LeftOut, Record, is_none
from ....resampling import Bootstrap
from ...gate.contents import Gate
from .worst_group import WorstGroups

# what report.json calls itself; raised when the same inputs give another report
SCHEMA: Literal["evenhand-report/11"] = "evenhand-report/11"


def comparison_name(first: str, second: str) -> str:
    """ "DPO - zero-shot": the first minus the second."""
    return f"{first} - {second}"


def is_share(how: str) -> bool:
    """Whether what is counted so is a share of summaries or of their words, in [0, 1]."""
    return how.startswith("share of ")


class Score(Number):
    """A mean over requests: of a judge or a trait, for a system; its interval is over document sets."""

    # candidates among which the reward chooses, 1 is one draw; 0 where the name of the system says it
    k: int = Field(default=0, exclude_if=not_)

    @property
    def pair(self) -> str:
        """The system, or both that are compared: "DPO - zero-shot"."""
        return comparison_name(self.system, self.reference) if self.reference else self.system


@dataclass(frozen=True)
class SystemPair:
    """A system and what it stands beside, if anything, each with its candidates where the names do not say them."""

    system: str
    reference: str = ""
    k: int = 0
    reference_k: int = 0


class Difference(Score):
    """A mean paired difference, tested: the same requests under a system and its reference, or two sides of a set.

    p is of a two-sided sign-flip permutation test over document sets; None with fewer than two of them.
    """

    reference_k: int = Field(default=0, exclude_if=not_)
    # the judge whose bad grades are counted; "" of all others
    of_judge: str = Field(default="", exclude_if=not_)
    # what the run's own report says of the same two systems, where that is another word; there fewer questions are asked
    own_report: str | None = Field(default=None, exclude_if=is_none)
    # what would be left of it at equal length, and the part that goes with length, by Student's t of a jackknife over document
    # sets; None for traits, and where no request has candidates of several lengths
    at_equal_length: Number | None = Field(default=None, exclude_if=is_none)
    by_length: Number | None = Field(default=None, exclude_if=is_none)

    @property
    def systems(self) -> SystemPair:
        """The two systems that are compared."""
        return SystemPair(self.system, self.reference, self.k, self.reference_k)


class SideGap(Difference):
    """How far apart the sides are in one measure of one system, or in one comparison.

    How far the worst side is behind the best within a document set that has both; p is of all pairs of sides together.
    """

    # sides of the worst and the best mean; equal sides keep their order
    worst: str
    best: str


Standing = Literal["on the front", "no clear difference", "off the front"]


class PlanePoint(Record):
    """A system in the plane of two judges."""

    # what the plane calls it: the label, with the budget where several have that label
    name: str
    label: str
    # candidates among which the reward chooses; 1 is one draw
    k: int
    quality: Number
    fairness: Number
    # off the front: another system is better in one and no worse in the other, and the intervals say so; no clear difference:
    # only the means do
    standing: Standing
    # names of the systems that beat it so
    behind: tuple[str, ...]


class Plane(Record):
    """All systems under a judge of quality and one of fairness."""

    # names of the judges
    quality: str
    fairness: str
    points: tuple[PlanePoint, ...]
    # of "nobody is off the front", corrected for everything that its page tests; None where nobody looks beaten
    adjusted: float | None = Field(default=None, exclude_if=is_none)


class RoundStep(Record):
    """From a round to the last one: what became of the reward and of the report's judges, in standard deviations of scores."""

    # None is the untrained model
    since: int | None
    reward: float
    # mean of the report's judges, higher better
    report: float
    # what the judges would have gained, had they gone on with the reward as before; None where nothing was before
    at_pace: float | None
    # of "the reward rose, and the judges fell" and of "... and they stopped rising", corrected for the number of such tests
    p_fell: float | None
    p_stopped: float | None
    # whether that is clear: the judges fell, or, having risen, stopped to rise
    has_fallen: bool
    has_stopped: bool


class Rounds(Record):
    """The scores of the adapters of several rounds on the test sets, one draw each."""

    # None is the untrained model
    rounds: tuple[int | None, ...]
    # the report's judges that were no reward and say what is better
    judges: tuple[str, ...]
    # by judge, round and side
    scores: tuple[Score, ...]
    # of the reward, and of the mean of `judges`, over the untrained model, in standard deviations of all candidates' scores
    gains: tuple[Score, ...]
    # requests that lack a reward or a report judge's score in some round, and take no part in `steps`
    left_out: int
    # from each round to the last; none with too few sets
    steps: tuple[RoundStep, ...]
    # the step from which on they part; None where none clearly does
    parting: RoundStep | None
    # rounds by their worst sides under the mean of `judges`; None where there is one side, or no such judge
    choice: WorstGroups | None


class JudgeNote(Record):
    """A judge of the run and what its scores are used for."""

    name: str
    signature: str
    # "report": never seen in training; "reward": orders candidates and pairs; "both" proves nothing
    role: Literal["report", "reward", "both"]
    # which scores are better; None when neither is
    better: Literal["higher", "lower"] | None
    # whether a score can only be 0 or 1
    is_rate: bool = False
    # lowest and highest score that there can be; None where scores may be anything
    scale: tuple[float, float] | None = None
    # an earlier judge that is the same, or gave every candidate the same score: the two are one
    same_as: str | None = Field(default=None, exclude_if=is_none)


class Finding(Record):
    """A sentence of the headline."""

    heading: str
    text: str
    # the comparison that it is about, if any
    comparison: str | None = None


class PhaseTotals(Record):
    """The counts of a phase after everything was left out that is in the ledger."""

    phase: str
    requests: int
    # requests of which nothing could be generated
    failed: int
    candidates: int
    # share of candidates whose text an earlier candidate of the request has; None without candidates
    duplicate_rate: float | None
    judgements: int
    unscored: int
    # None in an evaluation, which forms no pairs
    pairs: int | None
    # share of pairs of candidates with equal rewards, as reranking counted it; None where it formed no pairs
    tie_rate: float | None


class ExampleSummary(Record):
    """One system's summary of an example request."""

    system: str
    text: str
    issues: tuple[str, ...]
    scores: dict[str, float | None]


class RequestExample(Record):
    """A test request with the summaries of all systems."""

    request_id: str
    topic: str
    side: str
    # paired difference of this request in the measure that the examples were chosen by; its score where there is one system
    difference: float
    summaries: tuple[ExampleSummary, ...]
    # (side, text) of every source document
    documents: tuple[tuple[str, str], ...]


class Examples(Record):
    """Example requests, from the largest loss to the largest gain; where there is one system, by its scores."""

    # two systems, or the only one
    comparison: str
    measure: str
    # requests that could have been chosen
    among: int
    examples: tuple[RequestExample, ...]


class TrainingCurve(Record):
    """One logged quantity of one round."""

    round: int
    name: str
    # (optimiser step, value)
    points: tuple[tuple[int, float], ...]


class StageRow(Record):
    """A finished stage, from its receipt."""

    phase: str
    stage: str
    seconds: float
    counts: dict[str, Any]


class Provenance(Record):
    """The models, prompts, versions and stages that the run was made with."""

    recipe: dict[str, Any]
    # distribution -> version; several when stages ran in different environments
    versions: dict[str, str]
    # phase -> signature of the model and adapter that wrote its candidates
    models: dict[str, str]
    # phase -> names and digests of the prompt templates of its requests
    templates: dict[str, str]
    stages: tuple[StageRow, ...]


class PeoplesNumber(Score):
    """What people would say of all summaries, on their scale; `measure` is the judge that helped, `n` the rated summaries."""

    kind: Literal["mean", "difference", "gap"]
    reference_k: int = Field(default=0, exclude_if=not_)
    # why there is no value
    reason: str = Field(default="", exclude_if=not_)
    # what the judge says, on its own scale, and what the ratings say without it
    judge: Number
    alone: Number
    # of Student's t
    error: float | None = Field(default=None, exclude_if=is_none)
    degrees: float | None = Field(default=None, exclude_if=is_none)
    # rated summaries that would say as much without the judge
    worth: float | None = Field(default=None, exclude_if=is_none)
    # further ratings for an interval half as wide; None where no number of them suffices
    more: int | None = Field(default=None, exclude_if=is_none)


class PeoplesNumbers(Record):
    """People's ratings of a page's summaries, and what follows from them."""

    file: str
    dimension: str
    # summaries that were rated, raters with a name, and summaries of the page
    n_rated: int
    n_raters: int
    n: int
    # what is to be known of the ratings, a sentence each
    notes: tuple[str, ...]
    numbers: tuple[PeoplesNumber, ...]


class Report(Record):
    """Everything the report says."""

    format: Literal["evenhand-report/11"]
    name: str
    title: str
    findings: tuple[Finding, ...]
    warnings: tuple[str, ...]
    judges: tuple[JudgeNote, ...]
    # names of the judges that the headline goes by
    deciding: tuple[str, ...]
    systems: tuple[str, ...]
    sides: tuple[str, ...]
    # candidates of a request
    candidates: int
    # of all intervals
    bootstrap: Bootstrap
    scores: tuple[Score, ...]
    # of each summary that extraction makes on purpose, by plan and judge; `system` is the plan. None where there is one or none
    plan_scores: tuple[Score, ...] = ()
    differences: tuple[Difference, ...]
    # of shares of bad grades, which are traits, over all sides
    low_grades: tuple[Difference, ...] = ()
    score_gaps: tuple[SideGap, ...]
    # what 10 % more words go with in the scores of each judge whose candidates differ in length
    slopes: tuple[Number, ...] = ()
    # who gains more from a comparison
    gain_gaps: tuple[SideGap, ...]
    # contract, length and the like
    traits: tuple[Score, ...]
    # how traits are counted
    counted: dict[str, str]
    # expected score of the best of k candidates of a policy, chosen by reward
    curve: tuple[Score, ...]
    # quality against fairness; none unless a judge measures fairness or the reward has several parts
    planes: tuple[Plane, ...] = ()
    # None unless several rounds were evaluated
    rounds: Rounds | None = Field(default=None, exclude_if=is_none)
    training: tuple[TrainingCurve, ...]
    # of each trained round what a step rested on
    training_notes: tuple[str, ...] = ()
    examples: Examples | None
    totals: tuple[PhaseTotals, ...]
    ledger: tuple[LeftOut, ...]
    # log-probabilities with and without the adapter, and the engine's own; None when nothing was trained
    probe: dict[str, Any] | None
    provenance: Provenance
    # ids of the document sets, in the order of what each says; and a digest of what was asked of which documents
    sets: tuple[str, ...] = ()
    documents_digest: str = ""
    # what is known of the judges
    worth: Worth | None = Field(default=None, exclude_if=is_none)
    # what people's ratings say, where some were given
    people: PeoplesNumbers | None = Field(default=None, exclude_if=is_none)
    # limits that were asked for, and their verdicts
    gate: Gate | None = Field(default=None, exclude_if=is_none)
