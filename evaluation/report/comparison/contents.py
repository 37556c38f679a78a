"""What comparison.json holds: every number with the judge, the count, the budget and the bootstrap it comes from."""

from typing import Any, Literal

from pydantic import Field

from ....judges.calibration import Worth
from ....number import Number
from ....records import Record, is_none
from ....resampling import Bootstrap
from ...gate.contents import Gate
from ..systems.contents import Difference, Examples, JudgeNote, PeoplesNumbers, Plane, Score
from ..systems.worst_group import WorstGroups

# what comparison.json calls itself
SCHEMA: Literal["evenhand-comparison/3"] = "evenhand-comparison/3"


class EntryNote(Record):
    """One way of making candidates: a line of every table."""

    # what the tables call it
    label: str
    # the run that it comes from, and the round of its method after which it stands; None for the method's own end
    run: str
    round: int | None
    method: str
    # run folder and phase that its candidates lie in
    folder: str
    # signature of the model and adapter that wrote them
    model: str
    # candidates a request
    candidates: int
    # names of the judges that choose among them; none where there is one of each request
    reward: tuple[str, ...]


class Strength(Number):
    """An entry's Bradley-Terry log-strength; means over the entries are 0."""

    # share of its comparisons that it won, ties half; None without any
    won: float | None


class Ranking(Record):
    """The entries of one budget ordered by comparisons request by request under one judge, strongest first."""

    measure: str
    k: int
    # attribute value of the requests; None for all of them
    side: str | None
    # requests with at least one comparison, and document sets
    n: int
    n_sets: int
    # virtual wins of every ordered pair
    prior: float
    # whether the first entry clearly wins more often than it loses against every other one
    leads: bool
    rows: tuple[Strength, ...]


class Cost(Record):
    """The cost of one candidate, over all requests."""

    label: str
    # asks of the model
    calls: float
    # generated tokens, everything said on the way included
    tokens: float
    # prompt tokens that went through the model, after what was shared
    prefilled: float | None


class ByLength(Record):
    """A clear difference of which half or more goes with length."""

    # what is tested against what
    pair: str
    measure: str
    value: float
    # of it that goes with length, above 1 where it would have been the other way round
    share: float
    # of a summary of the second and of the first of the pair, on average
    words: tuple[float, float]
    # what is left of the difference
    at_equal_length: Number
    # the same as a sentence
    said: str


class Comparison(Record):
    """Everything the comparison says."""

    format: Literal["evenhand-comparison/3"]
    title: str
    # what matters most first
    findings: tuple[str, ...]
    warnings: tuple[str, ...]
    entries: tuple[EntryNote, ...]
    judges: tuple[JudgeNote, ...]
    sides: tuple[str, ...]
    # numbers of candidates that were asked for and that some entry has
    budgets: tuple[int, ...]
    n_requests: int
    n_sets: int
    # of all intervals
    bootstrap: Bootstrap
    # by judge, budget, entry and side
    scores: tuple[Score, ...]
    tests: tuple[Difference, ...]
    # the best of all of an entry's candidates by its reward minus what is chosen of them without a judge, which is `reference`
    baselines: tuple[Difference, ...] = ()
    # of shares of bad grades, which are traits, over all sides
    low_grades: tuple[Difference, ...] = ()
    by_length: tuple[ByLength, ...] = ()
    # of each judge whose candidates differ in length
    slopes: tuple[Number, ...] = ()
    rankings: tuple[Ranking, ...]
    # entries by their worst sides, by judge and budget; none where there is one side or one entry, or no side has sets enough
    worst_sides: tuple[WorstGroups, ...] = ()
    # quality against fairness; none unless a judge measures fairness or a reward has several parts
    planes: tuple[Plane, ...] = ()
    # judges of the reward alone that are an axis of a plane, where no judge of the report is
    axis_judges: tuple[JudgeNote, ...] = ()
    # of the two entries that the headline is about; None of summaries that were made elsewhere
    examples: Examples | None = Field(default=None, exclude_if=is_none)
    # wrong side, contract, novelty, length: by budget, entry and side
    traits: tuple[Score, ...]
    # how they are counted
    counted: dict[str, str]
    # of each entry; none of summaries that were made elsewhere
    costs: tuple[Cost, ...]
    # entry -> its resolved recipe; of summaries that were made elsewhere what judging them goes by
    recipes: dict[str, Any]
    versions: dict[str, str]
    # ids of the document sets, in the order of what each says; and a digest of what was asked of which documents
    sets: tuple[str, ...] = ()
    documents_digest: str = ""
    # what is known of the judges
    worth: Worth | None = Field(default=None, exclude_if=is_none)
    # what people's ratings say, where some were given
    people: PeoplesNumbers | None = Field(default=None, exclude_if=is_none)
    # limits that were asked for, and their verdicts
    gate: Gate | None = Field(default=None, exclude_if=is_none)
