"""What a judge is: a batch of summaries and reference texts in, a batch of verdicts out; and what a kind of judges is."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal, NamedTuple, Protocol, runtime_checkable

from ..config.needs import Against, AnyJudgeSection
from ..config.section import Check
from ..fairness.labelled import LabelledDocuments
from ..prompts import PromptTemplate
from .shared import Loadable, NoModel, SharedModels

# requests judged between two entries of the journal, where no backend section says otherwise
REQUESTS_PER_BATCH = 64
NO_MODEL = NoModel()


@dataclass(frozen=True)
class JudgeInput:
    """A candidate and the text that it is compared with."""

    candidate_id: str
    request_id: str
    # the candidate's cleaned text, not blank unless the judge looks at the summary alone
    text: str
    contract_ok: bool
    # text chosen by the judge's `against`; "" for a judge that looks at the summary alone
    reference: str
    # for a judge against "documents": those of the set that have a value; `reference` then is its `text`
    labelled: LabelledDocuments = field(default_factory=LabelledDocuments)
    # for a judge against "sources": the texts of the documents to represent; `reference` then spells them out
    sources: tuple[str, ...] = ()


@dataclass(frozen=True)
class Verdict:
    """A score, or the reason why there is none."""

    score: float | None
    # a short reason, the same for like cases, because reports count by it
    unscored: str | None = None
    # what the score was made from: an LLM's replies, its grade probabilities, the best match of each claim; or the detail of
    # why there is none
    raw: str | None = None
    attempts: int = 1


class Judge(Protocol):
    """Scores candidates. Opening one is cheap; its model is loaded by the first `score` and given back by `close`.

    So a stage that finds every verdict in the cache loads no model.
    """

    # what the recipe calls it
    name: str
    # names everything that its scores depend on, and nothing else
    signature: str
    # bounds of the scale; higher is more of what the judge measures
    low: float
    high: float
    # which text the summary is compared with; None for a judge that looks at the summary alone
    against: Against | None
    # judges of equal, not empty `loads` hold one model together and are best asked side by side
    loads: str
    # requests whose candidates are scored in one batch: the unit that an interruption can lose
    requests_per_batch: int

    def score(self, inputs: Sequence[JudgeInput]) -> list[Verdict]:
        """One verdict for each input, in order. An input that cannot be scored never stops the others."""
        ...

    def close(self) -> None:
        """Give the model's memory back; closing twice does no harm."""
        ...


@runtime_checkable
class JudgeOfJudges(Judge, Protocol):
    """A judge by what others say of the same inputs, whose verdicts it need not ask for itself."""

    # of unlike names, against the same text
    members: Sequence[Judge]

    def combine(self, inputs: Sequence[JudgeInput], by_member: Mapping[str, Sequence[Verdict]]) -> list[Verdict]:
        """One verdict for each input, in order, from those of each member."""
        ...


class ScoringJudge(ABC):
    """What judges that ask no language model have in common; their scale goes from 0 to 1 unless they say otherwise.

    Args:
        name: what the recipe calls it.
        signature: names everything that its scores depend on.
        against: which text the summary is compared with.
        held: what has its model, and is closed with it.
    """

    low = 0.0
    high = 1.0
    requests_per_batch = REQUESTS_PER_BATCH

    def __init__(self, name: str, signature: str, against: Against | None, model: Loadable = NO_MODEL) -> None:
        self.name = name
        self.signature = signature
        self.against = against
        self.loads = model.loads
        self._held = model

    @abstractmethod
    def score(self, inputs: Sequence[JudgeInput]) -> list[Verdict]:
        """One verdict for each input, in order."""

    def close(self) -> None:
        """Give the model's memory back."""
        self._held.close()


class ModelReader(NamedTuple):
    """How a judge opens one of its models: whether it can read it is seen before any work."""

    # key of the model below the judge's section
    below: str
    # id or folder, and branch, tag or commit of an id
    model: str
    revision: str | None
    open: Callable[[], object]


def own_model(open_model: Callable[[Any], object]) -> "Callable[[Any], list[ModelReader]]":
    """The reader of a judge whose section names one model, from what opens it given that section."""
    return lambda options: [ModelReader("model", options.model, options.revision, partial(open_model, options))]


class PromptNeeds(NamedTuple):
    """What a judge asks its language model for."""

    # the shortest prompt that it makes, with its fields
    template: Callable[[], PromptTemplate]
    # most tokens of a reply
    reply_tokens: int
    # what becomes of a source that does not fit
    overflow: Literal["skip", "truncate", "error"]
    # scales whose grades are read as probabilities, each from the lowest grade to the highest
    grades: Sequence[Sequence[str]] = ()


@dataclass(frozen=True)
class Kind:
    """A kind of judges: what opens one, and what its section of a recipe can be asked before any work.

    The section answers what needs no judge: see `config.needs`.
    """

    # (name in the recipe, section, models that judges share) -> the judge
    open: Callable[[str, Any, SharedModels], Judge]
    # what a recipe may say of one
    section: type[AnyJudgeSection]
    # (name, section) -> what else can be wrong, by key below the section; one of a model's key stands for "is it there?"
    checks: Callable[[str, Any], Iterable[Check]] = lambda name, options: ()
    # section -> how its models are opened; sentence encoders need none, since those take almost any model
    readers: Callable[[Any], Iterable[ModelReader]] = lambda options: ()
    # (name, section) -> what is asked; None for a judge that asks no language model
    prompt: Callable[[str, Any], PromptNeeds] | None = None
    # (name, section) -> nothing; tries before any work what only a trial tells, and raises an EvenhandError
    trial: Callable[[str, Any], object] | None = None


def number_verdict(value: float, low: float, high: float, what: str) -> Verdict:
    """The verdict that a number of foreign code is on a scale; `what` says whose it is: "the function returned"."""
    if not math.isfinite(value):
        return Verdict(None, f"{what} no finite number", str(value))
    if not low <= value <= high:
        return Verdict(None, f"{what} a number off its range, {low:g} to {high:g}", repr(value))
    return Verdict(value)


def judge_signature(measured: str, kind: str, **parts: Any) -> str:
    """Signature of a judge: what it measures, its kind, then what the scores depend on, in the order given.

    >>> judge_signature("rouge1-recall", "rouge", against="source", v=1)
    'rouge1-recall|judge:rouge|against:source|v:1'
    """
    return "|".join([measured, f"judge:{kind}", *(f"{key}:{value}" for key, value in parts.items())])
