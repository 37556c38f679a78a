"""The four systems, out of the candidates of the untrained and the trained policy.

    zero-shot, DPO       one draw: the mean over the request's k candidates, so that no draw is lucky
    rerank, DPO+RR       the candidate of highest reward of the same k

All four spend the same k candidates a request, and they are ends of one curve: the expected score of the best of n
draws is the mean for n = 1 and the best candidate's score for n = k.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from sys import intern

import numpy as np
from pydantic import BaseModel

from ....config import Recipe
from ....errors import DataError
from ....generate.refusals import is_refusal
from ....records import CandidateGroup, ScoredCandidate, SummaryRequest
from ....runfolder.files import with_groups
from ....runfolder.phases import GROUPS, JUDGEMENTS, REQUESTS, Phase, evaluations
from ....runfolder.stages import read_receipt
from ....storage import iter_jsonl
from ....text import n_words
from ....text.digests import digest
from ...abstractiveness import fragments
from .ranked import Floats, Ranked, RankingBuilder, Weighted, commonest_issues

UNTRAINED, TRAINED = "untrained", "trained"
# policy -> its systems: one draw, and the best of all candidates by reward
SYSTEMS = {UNTRAINED: ("zero-shot", "rerank"), TRAINED: ("DPO", "DPO+RR")}

# traits: what is counted of summaries besides their scores, and how
CONTRACT = "contract kept"
WRONG_SIDE = "wrong side"
CUT_OFF = "cut off"
REFUSED = "refusals"
SAYS_NOTHING = "says nothing"
COPIED = "copied"
WORDS = "words"
TRAITS: dict[str, str] = {
    CONTRACT: "share of summaries that open as asked and are as long as asked",
    WRONG_SIDE: "share of summaries that agree more with the other sides' documents than with their own",
    REFUSED: "share of summaries that are a refusal to write one",
    SAYS_NOTHING: "share of summaries that are empty, or have nothing behind the opening that was asked for",
    COPIED: "share of words in extracts of eight words or more from the side's documents",
    CUT_OFF: "share of summaries that ran into max_tokens",
    WORDS: "words of a summary",
}

# how bad grades are counted
LOW = "share of summaries that a judge gives no better grade"

# what the contract check finds in summaries that say nothing
SAYING_NOTHING = frozenset({"empty", "no_content"})
# what begins the name of a share of summaries in which the contract check found something
ISSUE = "issue: "

# what begins the column of a trait, and of what else is counted: a judge may be called "words", too
TRAIT = "trait: "
# what begins the name of whether a candidate is of a sampling plan
PLAN = "plan: "

# what is measured of all candidates of a request, by id and name
GroupNumbers = Callable[[SummaryRequest, CandidateGroup], Mapping[str, Mapping[str, float | None]]]
# what is measured of a candidate, by name; the names are the same for all of them
Numbers = Callable[[SummaryRequest, ScoredCandidate], Mapping[str, float | None]]


@dataclass(frozen=True, slots=True)
class RequestOutline:
    """As much of a request as numbers need: thousands of requests are compared, few are shown."""

    id: str
    set_id: str
    side: str
    # sentences and words that were asked for
    length: tuple[int | None, int | None]
    # digest of the documents to represent
    source: str


@dataclass(frozen=True)
class PolicyOutput:
    """The judged candidates that one policy wrote for the test requests."""

    policy: str
    phase: Phase
    requests: tuple[RequestOutline, ...]
    # what is known of the candidates, in the order of the requests
    ranked: Ranked
    # of the model that wrote them, and of all their ids; None without a candidate
    model: str | None
    candidates: str
    # judge -> signature of its judgements
    signatures: dict[str, str]

    def column(self, name: str) -> Floats:
        """A judge's scores, or an issue, of each request's candidates."""
        if name.startswith(ISSUE):
            return self.ranked.issue(name.removeprefix(ISSUE))
        return self.ranked.columns[name] if name in self.ranked.columns else self.ranked.unknown()

    def trait(self, name: str) -> Floats:
        """A trait of each request's candidates, or what else is counted of them."""
        return self.column(TRAIT + name)

    def chosen_by(self, column: Floats) -> "PolicyOutput":
        """The candidates, chosen among by these numbers in place of the reward."""
        return replace(self, ranked=self.ranked.ranked_by(column))

    def n_unscored(self, judge: str) -> int:
        """Candidates that the judge gave no score."""
        return int((np.isnan(self.column(judge)) & self.ranked.is_candidate).sum())

    def in_order(self, places: Sequence[int]) -> "PolicyOutput":
        """The requests of these places, in this order."""
        return replace(
            self, requests=tuple(self.requests[place] for place in places), ranked=self.ranked.in_order(places)
        )


@dataclass(frozen=True)
class System:
    """A way of getting one summary out of candidates: of `k` of them the one of highest reward; one draw for 1."""

    # what tables call it
    label: str
    output: PolicyOutput
    k: int

    def values(self, name: str) -> list[float | None]:
        """Expected value of each request, in their order, of a judge or an issue."""
        return self.output.ranked.expected_best(self.output.column(name), self.k)

    def trait(self, name: str) -> list[float | None]:
        """Expected value of each request of a trait, or of what else is counted."""
        return self.values(TRAIT + name)

    def draws(self, name: str) -> list[Weighted]:
        """The values that it may have for each request, with their chances."""
        return self.output.ranked.best_draws(self.output.column(name), self.k)


def budget_name(k: int) -> str:
    """The name of the choice from k candidates: one draw or the best."""
    return "one draw" if k == 1 else f"best of {k}"


def systems_of(outputs: Sequence[PolicyOutput]) -> list[System]:
    """The systems of a run; of one candidate a request there is nothing but a draw."""
    return [
        System(label, output, k)
        for output in outputs
        for label, k in zip(SYSTEMS[output.policy], dict.fromkeys((1, output.phase.n_candidates)), strict=False)
    ]


class Signed(BaseModel):
    """The part of a judgement that says who made it."""

    judge: str
    signature: str


def stage_warnings(phase: Phase) -> Iterator[str]:
    """The warnings from generating and judging of a phase, a sentence each."""
    for stage in ("generate", "judge"):
        if receipt := read_receipt(phase.folder / "receipts" / f"{stage}.json"):
            yield from (f"{phase.name} {stage}: {warning}." for warning in receipt.counts.get("cautions", ()))


def read_policy(phase: Phase, group_numbers: GroupNumbers | None = None) -> PolicyOutput:
    """The judged candidates in an evaluation phase, as numbers: judges, traits, and what `group_numbers` measures.

    Raises:
        DataError: the phase is not finished, or a judge has judgements under two signatures.
    """
    missing = [name for name in (REQUESTS, JUDGEMENTS, GROUPS) if not (phase.folder / name).is_file()]
    if missing:
        raise DataError(
            f"{phase.folder}: has no {', '.join(missing)}; run 'evenhand loop' with this recipe to make them"
        )
    signatures: dict[str, str] = {}
    for judgement in iter_jsonl(phase.folder / JUDGEMENTS, Signed):
        known = signatures.setdefault(judgement.judge, judgement.signature)
        if known != judgement.signature:
            raise DataError(
                f"{phase.folder / JUDGEMENTS}: judge {judgement.judge!r} has the signatures {known!r} and "
                f"{judgement.signature!r}, whose scores cannot be averaged; judge the phase again"
            )
    return policy_output(phase, with_groups(phase.folder), signatures, group_numbers)


def policy_output(
    phase: Phase,
    groups: Iterable[tuple[SummaryRequest, CandidateGroup]],
    signatures: dict[str, str],
    group_numbers: GroupNumbers | None = None,
) -> PolicyOutput:
    """The numbers of these candidates, each request given with its own; no text is kept."""
    numbers = candidate_numbers(phase.recipe, phase.judges)
    requests: list[RequestOutline] = []
    ranking = RankingBuilder()
    ids = hashlib.sha256()
    model = None
    for request, group in groups:
        requests.append(asked(request))
        by_id = {}
        group_columns = group_numbers(request, group) if group_numbers else {}
        for scored in group.candidates:
            model = model or scored.candidate.model
            ids.update(f"{scored.candidate.id}\n".encode())
            counted = {TRAIT + name: value for name, value in group_columns.get(scored.candidate.id, {}).items()}
            by_id[scored.candidate.id] = {**numbers(request, scored), **counted}
        ranking.add(group, by_id)
    return PolicyOutput(
        policy=UNTRAINED if phase.after_round is None else TRAINED,
        phase=phase,
        requests=tuple(requests),
        ranked=ranking.ranked(),
        model=model,
        candidates=ids.hexdigest(),
        signatures=signatures,
    )


def read_policies(recipe: Recipe) -> list[PolicyOutput]:
    """The untrained policy's output and, after training, that of each evaluated round, on the same requests.

    Raises:
        DataError: a phase is not finished, or two phases have other requests or other judges.
    """
    outputs = [read_policy(phase) for phase in evaluations(recipe)]
    for output in outputs[1:]:
        if [r.id for r in output.requests] != [r.id for r in outputs[0].requests]:
            raise DataError(
                f"{outputs[0].phase.name} and {output.phase.name} hold different requests and cannot be compared; "
                "run 'evenhand loop' again, which makes both from the same test sets"
            )
        for judge in outputs[0].signatures.keys() & output.signatures.keys():
            if outputs[0].signatures[judge] != output.signatures[judge]:
                raise DataError(
                    f"judge {judge!r} has the signature {outputs[0].signatures[judge]!r} in {outputs[0].phase.name}, but "
                    f"{output.signatures[judge]!r} in {output.phase.name}; judge both phases with the same recipe"
                )
    return outputs


def candidate_numbers(recipe: Recipe, judges: Sequence[str]) -> Numbers:
    """The numbers measured of a candidate: the judges of an evaluation, then the traits."""
    opposite = wrong_side_judges(recipe)
    # mixes that extraction makes on purpose are compared with each other
    plans = () if recipe.generate.options.asks_model else recipe.generate.plans
    lows = low_grades(recipe, judges)

    def numbers(request: SummaryRequest, scored: ScoredCandidate) -> dict[str, float | None]:
        candidate = scored.candidate
        traits: dict[str, float | None] = {CONTRACT: float(candidate.contract_ok)}
        if opposite:
            source_score, opposing_score = (scored.scores.get(judge) for judge in opposite)
            traits[WRONG_SIDE] = (
                None if source_score is None or opposing_score is None else float(opposing_score > source_score)
            )
        traits[REFUSED] = float(candidate.is_refusal or is_refusal(candidate.text))
        traits[SAYS_NOTHING] = float(not SAYING_NOTHING.isdisjoint(candidate.issues))
        traits[COPIED] = fragments([d.text for d in request.source_documents], candidate.text).copied
        traits[CUT_OFF] = float(candidate.finish_reason == "length")
        traits[WORDS] = float(n_words(candidate.text))
        for judge, low in lows.items():
            score = scored.scores.get(judge)
            traits[low_name(judge, low)] = None if score is None else float(score <= low)
        return {
            **{judge: scored.scores.get(judge) for judge in judges},
            **{TRAIT + name: value for name, value in traits.items()},
            **{PLAN + plan: float(candidate.plan == plan) for plan in plans},
        }

    return numbers


def traits_of(recipe: Recipe) -> dict[str, str]:
    """The traits that a run has, and how they are counted."""
    traits = {name: how for name, how in TRAITS.items() if name != WRONG_SIDE or wrong_side_judges(recipe)}
    judges = dict.fromkeys(recipe.evaluation.judges + recipe.reward.judges)
    return traits | {low_name(judge, low): LOW for judge, low in low_grades(recipe, list(judges)).items()}


def low_grades(recipe: Recipe, judges: Sequence[str]) -> dict[str, int]:
    """By judge of several grades the highest bad one: a mean says nothing of one disaster in ten."""
    return {name: low for name in judges if (low := recipe.judges[name].low_grade) is not None}


def low_name(judge: str, low: int) -> str:
    """The name of the share of bad grades."""
    return f"{judge}: grades of {low} and less"


def wrong_side_judges(recipe: Recipe) -> tuple[str, str] | None:
    """An alignment judge against the source and its twin against the opposing text; None unless both are run."""
    run = dict.fromkeys(recipe.reward.judges + recipe.evaluation.judges)
    aligners = {name: o for name in run if (o := recipe.judges[name]).kind == "alignment"}
    for name, options in aligners.items():
        for twin, twin_options in aligners.items():
            if options.against == "source" and twin_options == options.model_copy(update={"against": "opposing"}):
                return name, twin
    return None


def issues_of(outputs: Sequence[PolicyOutput]) -> list[str]:
    """Names under which the issues stand that the contract check found anywhere, the commonest first."""
    return [ISSUE + issue for issue in commonest_issues([output.ranked for output in outputs])]


def asked(request: SummaryRequest) -> RequestOutline:
    """The part of a request that numbers need."""
    return RequestOutline(
        id=request.id,
        # the requests of a set, and those of a side, share one text
        set_id=intern(request.document_set.id),
        side=intern(request.side),
        length=(request.contract.sentences, request.contract.words),
        source=digest(request.source),
    )
