"""FairPO's preference pairs: of each set the fairest and the unfairest of three summaries.

The three are of all documents, and of the two thinned copies that the first one's judgement chooses: without some documents of
what it over-represents most, and of what it under-represents most. All are judged against the full set, and pairs are of the full
set's prompt. Each draw of a sampling plan gives a pair of its own.
A summary's reward is minus its Equal Coverage. The guards of other pairs hold here too; slots and margins are compared over all
pairs that they let pass.
Source: FairPO (arXiv:2506.07479) and its code; specification of group fairness, sections 21-23.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from pydantic import BaseModel, ValidationError

from ..errors import DataError
from ..fairness.groups.fairpo import FairPairs, choose_thinnings, fair_pairs, thinnings
from ..generate.thinned import declared_order
from ..records import CandidateGroup, Judgement, PairFairness, PreferencePair, ScoredCandidate, SummaryRequest
from ..run import CANDIDATES, JUDGEMENTS, REQUESTS, Phase
from ..storage import listed, read_jsonl
from .pairs import Pairing, preference_pair, refusal

# why a draw gives no pair, besides the guards of `pairs.refusal`
FEW_DOCUMENTS = "no value with documents enough to be thinned"
UNSCORED = "unscored"
EQUAL = "all three equally fair"


class SetDifferences(BaseModel):
    """What an equal-coverage judge says besides its score, as far as pairs need it."""

    # coverage of each value less the overall one; absent or None for a value without documents
    difference: dict[str, float | None]
    # documents of each value in the full set
    counts: dict[str, int]


@dataclass(frozen=True)
class Triple:
    """Three summaries of one set, in the order of `fairness.groups.fairpo.CANDIDATES`; their rewards are minus their scores."""

    # number of the request
    request: int
    candidates: tuple[ScoredCandidate, ...]
    judged: tuple[SetDifferences, ...]

    @property
    def scores(self) -> list[float]:
        """Equal Coverage of each."""
        return [-each.reward for each in self.candidates if each.reward is not None]


def pair_fairly(phase: Phase, groups: Sequence[CandidateGroup]) -> tuple[list[Pairing], list[PreferencePair]]:
    """The pairs of each request as places in its group, with what was left out; and all pairs as training records.

    Raises:
        DataError: a judgement does not hold the differences by value, the candidates are not those of today's recipe, or all
            documents have one value.
    """
    pairer = Pairer(phase)
    pairer.refuse_others(phase, groups)
    left_out: list[Counter[str]] = [Counter() for _ in groups]
    triples: list[Triple] = []
    for number, group in enumerate(groups):
        for draw in range(pairer.n_draws if group.candidates else 0):
            found = pairer.triple(number, group, draw)
            if isinstance(found, Triple):
                triples.append(found)
            else:
                left_out[number][found] += 1
    pairs: list[list[tuple[int, int]]] = [[] for _ in groups]
    records = []
    for triple, chosen, rejected, fairness in pairer.paired(triples):
        group = groups[triple.request]
        places = {each.candidate.id: place for place, each in enumerate(group.candidates)}
        pairs[triple.request].append((places[chosen.candidate.id], places[rejected.candidate.id]))
        weight = fairness.diff if phase.recipe.pairs.margin_weights else 1.0
        record = preference_pair(group, chosen, rejected)
        records.append(record.model_copy(update={"fairness": fairness, "weight": weight}))
    return [Pairing(tuple(p), counts) for p, counts in zip(pairs, left_out, strict=True)], records


class Pairer:
    """Makes the pairs of one phase: its requests, its declared values, and what the judge of the pairs says of each candidate."""

    def __init__(self, phase: Phase) -> None:
        recipe = phase.recipe
        assert recipe.generate.thinned is not None, "the recipe makes no thinned sets"
        self.section = recipe.pairs
        self.rate = recipe.generate.thinned.rate
        self.n_draws = recipe.generate.n_candidates
        requests = read_jsonl(phase.folder / REQUESTS, SummaryRequest)
        self.values = declared_order(requests, recipe)
        if requests and len(self.values) < 2:
            raise DataError(
                f"{phase.folder / REQUESTS}: documents have {len(self.values)} value of {recipe.corpus.attribute!r}, and "
                "pairs.mode fairpo compares at least 2; mend corpus.attribute, or choose another pairs.mode"
            )
        self.labels = {request.id: self._labels(request) for request in requests}
        self.judged, self.scores = self._read_judged(phase)

    def _labels(self, request: SummaryRequest) -> list[int]:
        """Place of each document's value; documents without one have none."""
        own = [document.attributes.get(request.attribute or "") for document in request.document_set.documents]
        return [self.values.index(value) for value in own if value in self.values]

    def _read_judged(self, phase: Phase) -> tuple[dict[str, SetDifferences], dict[str, float]]:
        path, judged, scores, mistakes = phase.folder / JUDGEMENTS, {}, {}, []
        for each in read_jsonl(path, Judgement):
            if each.judge != self.section.judge or each.score is None:
                continue
            try:
                judged[each.candidate_id] = SetDifferences.model_validate_json(each.raw or "")
                scores[each.candidate_id] = each.score
            except ValidationError:
                mistakes.append(
                    f"{path}: the judgement of candidate {each.candidate_id!r} by {each.judge!r} lacks the differences by value; "
                    "let a judge of kind equal-coverage judge anew"
                )
        if mistakes:
            raise DataError(listed(mistakes))
        return judged, scores

    def refuse_others(self, phase: Phase, groups: Sequence[CandidateGroup]) -> None:
        """Refuse candidates that were not made with the draws, sides and rate of today's recipe.

        Raises:
            DataError: names the first requests.
        """
        mistakes = [
            f"{phase.folder / CANDIDATES}: candidates of request {group.request_id!r} are not those that the recipe asks for"
            for group in groups
            if group.candidates and not self._fits(group)
        ]
        if mistakes:
            raise DataError(
                f"{listed(mistakes)}\ngenerate.plans, generate.thinned or corpus.sides changed since; run "
                f"`evenhand generate RECIPE --phase {phase.name}` first"
            )

    def _fits(self, group: CandidateGroup) -> bool:
        """Whether there are as many draws, and of each the copies that the recipe thins today."""
        labels = self.labels[group.request_id]
        # the generator chooses documents; their values and how many they are does not depend on it
        copies = thinnings(labels, len(self.values), np.random.default_rng(0), rate=self.rate)
        wanted = sorted(
            (self.values[each.value], len(labels) - len(each.documents)) for each in copies if each.documents
        )
        by_draw: list[list[tuple[str, int]]] = [[] for _ in range(self.n_draws)]
        indices = sorted(each.candidate.index for each in group.candidates)
        for each in (scored.candidate for scored in group.candidates):
            if (each.thinned is None) != (each.index < self.n_draws):
                return False
            if each.thinned is not None:
                by_draw[each.index % self.n_draws].append((each.thinned.value, len(each.thinned.left_out)))
        return indices == list(range(len(indices))) and all(sorted(found) == wanted for found in by_draw)

    def triple(self, number: int, group: CandidateGroup, draw: int) -> Triple | str:
        """The three summaries of a draw; the reason when they give no pair."""
        by_copy = {
            each.candidate.index // self.n_draws: each
            for each in group.candidates
            if each.candidate.index % self.n_draws == draw
        }
        own = by_copy.pop(0)
        if own.candidate.id not in self.judged:
            return UNSCORED
        copies = [by_copy[place] for place in sorted(by_copy)]
        drawn = [self.values.index(each.candidate.thinned.value) for each in copies if each.candidate.thinned]
        differences = [self.judged[own.candidate.id].difference.get(value) for value in self.values]
        thinned = choose_thinnings(self.labels[group.request_id], differences, drawn, rate=self.rate)
        if thinned is None:
            return FEW_DOCUMENTS
        three = (copies[thinned[0]], own, copies[thinned[1]])
        if any(each.candidate.id not in self.judged for each in three):
            return UNSCORED
        scored = tuple(each.model_copy(update={"reward": -self.scores[each.candidate.id]}) for each in three)
        triple = Triple(number, scored, tuple(self.judged[each.candidate.id] for each in three))
        chosen, rejected = int(np.argmin(triple.scores)), int(np.argmax(triple.scores))
        if chosen == rejected:
            return EQUAL
        return refusal(scored[chosen], scored[rejected], self.section) or triple

    def paired(self, triples: Sequence[Triple]) -> list[tuple[Triple, ScoredCandidate, ScoredCandidate, PairFairness]]:
        """Chosen and rejected of each triple, with what FairPO weighs them by."""
        if not triples:
            return []
        found = fair_pairs(
            [triple.scores for triple in triples],
            [[self._row(each.difference, np.nan) for each in triple.judged] for triple in triples],
            [self._row(triple.judged[1].counts, 0) for triple in triples],
        )
        assert len(found.sets) == len(triples), "equally fair ones were left out before"
        return [
            (triple, triple.candidates[found.chosen[i]], triple.candidates[found.rejected[i]], self._fairness(found, i))
            for i, triple in enumerate(triples)
        ]

    def _row(self, by_value: "dict[str, float | None] | dict[str, int]", absent: float) -> list[float]:
        numbers = (by_value.get(value) for value in self.values)
        return [absent if number is None else float(number) for number in numbers]

    def _fairness(self, found: FairPairs, row: int) -> PairFairness:
        return PairFairness(
            values=self.values,
            diff=float(found.margin_weight[row]),
            num=tuple(found.counts[row].tolist()),
            weight_chosen=tuple(found.chosen_slots.weight[row].tolist()),
            weight_rejected=tuple(found.rejected_slots.weight[row].tolist()),
            pow_chosen=tuple(found.chosen_slots.power[row].tolist()),
            pow_rejected=tuple(found.rejected_slots.power[row].tolist()),
        )
