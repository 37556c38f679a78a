"""The four systems, out of the candidates of the untrained and the trained policy.

    zero-shot, DPO       one draw: the mean over the request's k candidates, so that no draw is lucky
    rerank, DPO+RR       the candidate of highest reward of the same k

All four spend the same k candidates a request, and they are ends of one curve: the expected score of the best of n
draws is the mean for n = 1 and the best candidate's score for n = k.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import comb

from ..config import AlignmentJudge, Recipe
from ..errors import DataError
from ..records import CandidateGroup, Judgement, ScoredCandidate, SummaryRequest
from ..rerank.best import first_of_each_text
from ..run import GROUPS, JUDGEMENTS, REQUESTS, Phase, phases
from ..storage import read_jsonl
from ..text import words


@dataclass(frozen=True)
class System:
    """A way of getting one summary out of k candidates."""

    name: str
    policy: str
    # True takes the candidate of highest reward, False one draw
    reranks: bool


UNTRAINED, TRAINED = "untrained", "trained"
SYSTEMS = (
    System("zero-shot", UNTRAINED, reranks=False),
    System("rerank", UNTRAINED, reranks=True),
    System("DPO", TRAINED, reranks=False),
    System("DPO+RR", TRAINED, reranks=True),
)

# traits: what is told of summaries besides their scores -> how it is counted
CONTRACT = "contract kept"
WRONG_SIDE = "wrong side"
CUT_OFF = "cut off"
WORDS = "words"
TRAITS: dict[str, str] = {
    CONTRACT: "share of summaries that open as asked and are as long as asked",
    WRONG_SIDE: "share of summaries that agree more with the other sides' documents than with their own",
    CUT_OFF: "share of summaries that ran into max_tokens",
    WORDS: "words of a summary",
}

Quantity = Callable[[ScoredCandidate], float | None]
# values that may be drawn, each with the chance that it is; chances sum to 1
Weighted = Sequence[tuple[float, float]]


@dataclass(frozen=True)
class PolicyOutput:
    """What one policy wrote for the test requests, judged."""

    policy: str
    phase: Phase
    requests: tuple[SummaryRequest, ...]
    # request id -> its candidates; requests of which nothing could be generated are absent
    groups: dict[str, CandidateGroup]
    # judge -> signature of its judgements
    signatures: dict[str, str]

    def group(self, request_id: str) -> CandidateGroup | None:
        """The candidates of a request, None when there are none."""
        found = self.groups.get(request_id)
        return found if found and found.candidates else None


def read_policy(phase: Phase) -> PolicyOutput:
    """The judged candidates in an evaluation phase.

    Raises:
        DataError: the phase is not finished, or a judge has judgements under two signatures.
    """
    missing = [name for name in (REQUESTS, JUDGEMENTS, GROUPS) if not (phase.folder / name).is_file()]
    if missing:
        raise DataError(
            f"{phase.folder}: has no {', '.join(missing)}; run 'evenhand loop' with this recipe to make them"
        )
    requests = read_jsonl(phase.folder / REQUESTS, SummaryRequest)
    signatures: dict[str, str] = {}
    for judgement in read_jsonl(phase.folder / JUDGEMENTS, Judgement):
        known = signatures.setdefault(judgement.judge, judgement.signature)
        if known != judgement.signature:
            raise DataError(
                f"{phase.folder / JUDGEMENTS}: judge {judgement.judge!r} has the signatures {known!r} and "
                f"{judgement.signature!r}, whose scores cannot be averaged; judge the phase again"
            )
    return PolicyOutput(
        policy=UNTRAINED if phase.name == "evaluation/base" else TRAINED,
        phase=phase,
        requests=tuple(requests),
        groups={group.request_id: group for group in read_jsonl(phase.folder / GROUPS, CandidateGroup)},
        signatures=signatures,
    )


def read_policies(recipe: Recipe) -> list[PolicyOutput]:
    """The untrained policy's output and, after training, the trained one's, on the same requests.

    Raises:
        DataError: a phase is not finished, or the two phases have other requests or other judges.
    """
    found = [read_policy(phase) for phase in phases(recipe) if phase.split == "test"]
    for other in found[1:]:
        if [r.id for r in other.requests] != [r.id for r in found[0].requests]:
            raise DataError(
                f"{found[0].phase.name} and {other.phase.name} hold different requests and cannot be compared; "
                "run 'evenhand loop' again, which makes both from the same test sets"
            )
        for judge in found[0].signatures.keys() & other.signatures.keys():
            if found[0].signatures[judge] != other.signatures[judge]:
                raise DataError(
                    f"judge {judge!r} has the signature {found[0].signatures[judge]!r} in {found[0].phase.name}, but "
                    f"{other.signatures[judge]!r} in {other.phase.name}; judge both phases with the same recipe"
                )
    return found


def chances_of_best(k: int, n: int) -> list[float]:
    """Chance that the candidate of each rank, best first, is the best of `n` drawn from `k` without replacement.

    The candidate of rank r (0 is the best) wins when it is drawn and the other n - 1 come from the k - 1 - r below it:
    C(k - 1 - r, n - 1) / C(k, n). The chances sum to 1.
    """
    return [comb(k - 1 - rank, n - 1) / comb(k, n) for rank in range(k)]


def expected_best(group: CandidateGroup, quantity: Quantity, n: int) -> float | None:
    """Expected value of a quantity for the best of `n` candidates by reward; None when no value can be told."""
    drawn = best_draws(group, quantity, n)
    return sum(value * chance for value, chance in drawn) if drawn else None


def best_draws(group: CandidateGroup, quantity: Quantity, n: int) -> Weighted:
    """Values that the best of `n` candidates by reward may have, with their chances; empty when no value can be told.

    Candidates without a value are left out: the chances are those among draws whose best candidate has one. Without a
    reward a candidate is never chosen, except by a single draw, which chooses nothing. A request that has fewer
    candidates than `n` gives the best of those it has.
    """
    ranked = sorted(group.candidates, key=lambda c: _rank(c, group.best_id))
    n = min(n, len(ranked))
    drawn = []
    for scored, chance in zip(ranked, chances_of_best(len(ranked), n), strict=True):
        value = quantity(scored) if n == 1 or scored.reward is not None else None
        if value is not None and chance:
            drawn.append((value, chance))
    total = sum(chance for _, chance in drawn)
    return [(value, chance / total) for value, chance in drawn]


def _rank(scored: ScoredCandidate, best_id: str | None) -> tuple[bool, bool, float, bool, int]:
    """Sort key, best first, with reranking's tie rule: what keeps the contract, then what was drawn first."""
    candidate, reward = scored.candidate, scored.reward
    return (candidate.id != best_id, reward is None, -(reward or 0.0), not candidate.contract_ok, candidate.index)


def quantities(recipe: Recipe, outputs: Sequence[PolicyOutput]) -> dict[str, Quantity]:
    """What is measured of a candidate, by name: the judges of an evaluation, then the traits."""
    found: dict[str, Quantity] = {name: _score_of(name) for name in outputs[0].phase.judges}
    found[CONTRACT] = lambda scored: float(scored.candidate.contract_ok)
    opposite = wrong_side_judges(recipe)
    if opposite:
        found[WRONG_SIDE] = _is_on_wrong_side(*opposite)
    found[CUT_OFF] = lambda scored: float(scored.candidate.finish_reason == "length")
    found[WORDS] = lambda scored: float(len(words(scored.candidate.text)))
    return found


def issue_quantities(outputs: Sequence[PolicyOutput]) -> dict[str, Quantity]:
    """For each issue that the contract check found anywhere, whether a candidate has it; the commonest first."""
    counts: dict[str, int] = {}
    for output in outputs:
        for group in output.groups.values():
            for scored in group.candidates:
                for issue in scored.candidate.issues:
                    counts[issue] = counts.get(issue, 0) + 1
    return {issue: _has_issue(issue) for issue in sorted(counts, key=lambda i: (-counts[i], i))}


def wrong_side_judges(recipe: Recipe) -> tuple[str, str] | None:
    """An alignment judge against the source and its twin against the opposing text; None unless both are run."""
    run = dict.fromkeys(recipe.reward.judges + recipe.evaluation.judges)
    aligners = {name: o for name in run if isinstance(o := recipe.judges[name], AlignmentJudge)}
    for name, options in aligners.items():
        for twin, other in aligners.items():
            if options.against == "source" and other == options.model_copy(update={"against": "opposing"}):
                return name, twin
    return None


def values_of(system: System, output: PolicyOutput, quantity: Quantity) -> list[float | None]:
    """The system's value of each request, in the order of the requests."""
    return best_of(output, quantity, output.phase.recipe.generate.n_candidates if system.reranks else 1)


def best_of(output: PolicyOutput, quantity: Quantity, n: int) -> list[float | None]:
    """Expected value of the best of `n` draws for each request, in the order of the requests."""
    groups = (output.group(request.id) for request in output.requests)
    return [expected_best(group, quantity, n) if group else None for group in groups]


def draws_of(output: PolicyOutput, quantity: Quantity, n: int) -> list[Weighted]:
    """Values that the best of `n` draws may have for each request, in the order of the requests."""
    groups = (output.group(request.id) for request in output.requests)
    return [best_draws(group, quantity, n) if group else () for group in groups]


def duplicate_rate(texts_by_request: Sequence[Sequence[str]]) -> float | None:
    """Share of texts that an earlier text of their request equals after white space is folded; None without texts."""
    total = sum(len(texts) for texts in texts_by_request)
    distinct = sum(len(first_of_each_text(texts)) for texts in texts_by_request)
    return (total - distinct) / total if total else None


def _score_of(judge: str) -> Quantity:
    return lambda scored: scored.scores.get(judge)


def _has_issue(issue: str) -> Quantity:
    return lambda scored: float(issue in scored.candidate.issues)


def _is_on_wrong_side(source: str, opposing: str) -> Quantity:
    def wrong(scored: ScoredCandidate) -> float | None:
        own, other = scored.scores.get(source), scored.scores.get(opposing)
        return None if own is None or other is None else float(other > own)

    return wrong
