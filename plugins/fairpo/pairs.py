"""FairPO's preference pairs: of each set the fairest and the unfairest of three summaries.

The three are of all documents, and of the two thinned copies that the first one's judgement chooses: without some documents of
what it over-represents most, and of what it under-represents most. All are judged against the full set, and pairs are of the full
set's prompt. Each draw of a sampling plan gives a pair of its own.
A summary's reward is minus its Equal Coverage. The guards of other pairs hold here too; slots and margins are compared over all
pairs that they let pass.
Source: FairPO; docs/papers.md#fairpo-pairs.
"""

from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ValidationError

from ...config import Recipe
from ...config.pair_modes import PairRules
from ...errors import DataError
from ...records import CandidateGroup, Judgement, PairFairness, PreferencePair, SummaryRequest
from ...rerank.pair_modes import PairMode
from ...rerank.pairs import preference_pair, refusal
from ...runfolder.phases import CANDIDATES, JUDGEMENTS, REQUESTS, Phase
from ...storage import iter_jsonl
from ...text.mistakes import listed
from .sections import THINNED, ThinnedSection
from .thinned import declared_order
from .triples import choose_thinnings, fair_pairs, thinnings

Floats = NDArray[np.float64]

# kind of the judge that says what is fair
KIND = "equal-coverage"
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


class _Judged(NamedTuple):
    """What the judge of the pairs says of a candidate."""

    # Equal Coverage; a summary's reward is minus it
    score: float
    differences: SetDifferences


class FairPairer:
    """Makes the pairs of one phase in two passes over its requests: `take` looks at each, `pairs` then writes.

    Of each triple that gives a pair only numbers are kept from one to the other: slots and margins are compared over all pairs.

    Raises:
        DataError: the documents have fewer than two values.
    """

    def __init__(self, phase: Phase) -> None:
        recipe = phase.recipe
        self._phase = phase
        self._section = recipe.pairs
        self._rate = recipe.generate.options_as(ThinnedSection).rate
        self._n_draws = recipe.generate.n_candidates
        path = phase.folder / REQUESTS
        self._values = declared_order(iter_jsonl(path, SummaryRequest), recipe)
        if len(self._values) < 2 and any(True for _ in iter_jsonl(path, SummaryRequest)):
            raise DataError(
                f"{path}: documents have {len(self._values)} value of {recipe.corpus.attribute!r}, and "
                "pairs.mode fairpo compares at least 2; mend corpus.attribute, or choose another pairs.mode"
            )
        self._n_requests = 0
        # of each triple its request's number, and places of its summaries in the group, in the order of
        # `triples.CANDIDATES`
        self._places = array("q")
        # of each triple the three scores, the three rows of differences, and the row of counts
        self._numbers = array("d")
        self._without_differences: list[str] = []
        self._others: list[str] = []

    @property
    def n_pairs(self) -> int:
        """Pairs of the requests so far."""
        return len(self._places) // 4

    def take(self, request: SummaryRequest, group: CandidateGroup, judgements: Sequence[Judgement]) -> Counter[str]:
        """Look at the next request: what of its draws gives no pair, by reason."""
        left_out: Counter[str] = Counter()
        number = self._n_requests
        self._n_requests += 1
        judged: dict[str, _Judged] = {}
        for judgement in judgements:
            if judgement.judge != self._section.judge or judgement.score is None:
                continue
            try:
                judged[judgement.candidate_id] = _Judged(
                    judgement.score, SetDifferences.model_validate_json(judgement.raw or "")
                )
            except ValidationError:
                self._without_differences.append(
                    f"the judgement of candidate {judgement.candidate_id!r} by {judgement.judge!r}"
                )
        # place of each document's value; documents without one have none
        values = [document.attributes.get(request.attribute or "") for document in request.document_set.documents]
        labels = [self._values.index(value) for value in values if value in self._values]
        if not group.candidates:
            return left_out
        if not self._fits(labels, group):
            self._others.append(group.request_id)
            return left_out
        for draw in range(self._n_draws):
            triple = self._triple(labels, group, judged, draw)
            if isinstance(triple, str):
                left_out[triple] += 1
                continue
            self._places.extend((number, *triple))
            three = [judged[group.candidates[place].candidate.id] for place in triple]
            self._numbers.extend(verdict.score for verdict in three)
            for verdict in three:
                self._numbers.extend(self._row(verdict.differences.difference, np.nan))
            self._numbers.extend(self._row(three[1].differences.counts, 0))
        return left_out

    def pairs(self, groups: Iterable[CandidateGroup]) -> Iterator[PreferencePair]:
        """The pairs of all requests that were taken, as training records.

        Args:
            groups: those that were taken, again.

        Raises:
            DataError: a judgement lacks the differences by value, the candidates are not those of today's recipe, or all
                documents have one value.
        """
        self._refuse()
        if not self._places:
            return
        n = len(self._values)
        numbers = np.frombuffer(self._numbers).reshape(-1, 3 + 4 * n)
        pairing = fair_pairs(numbers[:, :3], numbers[:, 3 : 3 + 3 * n].reshape(-1, 3, n), numbers[:, 3 + 3 * n :])
        assert len(pairing.sets) == len(numbers), "equally fair ones were left out before"
        places = np.frombuffer(self._places, dtype=np.int64).reshape(-1, 4)
        row = 0
        for number, group in enumerate(groups):
            while row < len(places) and places[row, 0] == number:
                chosen, rejected = (
                    group.candidates[places[row, 1 + place]].model_copy(update={"reward": -float(numbers[row, place])})
                    for place in (pairing.chosen[row], pairing.rejected[row])
                )
                fairness = PairFairness(
                    values=self._values,
                    diff=float(pairing.margin_weight[row]),
                    num=tuple(pairing.counts[row].tolist()),
                    weight_chosen=tuple(pairing.chosen_slots.weight[row].tolist()),
                    weight_rejected=tuple(pairing.rejected_slots.weight[row].tolist()),
                    pow_chosen=tuple(pairing.chosen_slots.power[row].tolist()),
                    pow_rejected=tuple(pairing.rejected_slots.power[row].tolist()),
                )
                weight = fairness.diff if self._section.margin_weights else 1.0
                pair = preference_pair(group, chosen, rejected)
                yield pair.model_copy(update={"fairness": fairness, "weight": weight})
                row += 1

    def _refuse(self) -> None:
        folder = self._phase.folder
        if self._without_differences:
            mistakes = [
                f"{folder / JUDGEMENTS}: {text} lacks the differences by value; let a judge of kind equal-coverage judge again"
                for text in self._without_differences
            ]
            raise DataError(listed(mistakes))
        if self._others:
            mistakes = [
                f"{folder / CANDIDATES}: candidates of request {request_id!r} are not those that the recipe asks for"
                for request_id in self._others
            ]
            raise DataError(
                f"{listed(mistakes)}\ngenerate.plans, generate.thinned or corpus.sides changed since; run "
                f"`evenhand generate RECIPE --phase {self._phase.name}` first"
            )

    def _fits(self, labels: Sequence[int], group: CandidateGroup) -> bool:
        """Whether there are as many draws, and of each the copies that the recipe thins today."""
        # the generator chooses documents; their values and how many they are does not depend on it
        copies = thinnings(labels, len(self._values), np.random.default_rng(0), rate=self._rate)
        wanted = sorted(
            (self._values[copy.value], len(labels) - len(copy.documents)) for copy in copies if copy.documents
        )
        by_draw: list[list[tuple[str, int]]] = [[] for _ in range(self._n_draws)]
        indices = sorted(entry.candidate.index for entry in group.candidates)
        for candidate in (scored.candidate for scored in group.candidates):
            if (candidate.thinned is None) != (candidate.index < self._n_draws):
                return False
            if candidate.thinned is not None:
                by_draw[candidate.index % self._n_draws].append(
                    (candidate.thinned.value, len(candidate.thinned.left_out))
                )
        return indices == list(range(len(indices))) and all(sorted(copies) == wanted for copies in by_draw)

    def _triple(
        self, labels: Sequence[int], group: CandidateGroup, judged: Mapping[str, "_Judged"], draw: int
    ) -> tuple[int, int, int] | str:
        """Places of the three summaries of a draw in the group; the reason when they give no pair."""
        by_copy = {
            entry.candidate.index // self._n_draws: place
            for place, entry in enumerate(group.candidates)
            if entry.candidate.index % self._n_draws == draw
        }
        ids = [entry.candidate.id for entry in group.candidates]
        original = by_copy.pop(0)
        if ids[original] not in judged:
            return UNSCORED
        copies = [by_copy[number] for number in sorted(by_copy)]
        thinned = [group.candidates[place].candidate.thinned for place in copies]
        drawn = [self._values.index(copy.value) for copy in thinned if copy]
        differences = [judged[ids[original]].differences.difference.get(value) for value in self._values]
        choice = choose_thinnings(labels, differences, drawn, rate=self._rate)
        if choice is None:
            return FEW_DOCUMENTS
        three = (copies[choice[0]], original, copies[choice[1]])
        if any(ids[place] not in judged for place in three):
            return UNSCORED
        scores = [judged[ids[place]].score for place in three]
        chosen, rejected = int(np.argmin(scores)), int(np.argmax(scores))
        if chosen == rejected:
            return EQUAL
        fairest, unfairest = (
            group.candidates[three[place]].model_copy(update={"reward": -scores[place]}) for place in (chosen, rejected)
        )
        return refusal(fairest, unfairest, self._section) or three

    def _row(self, by_value: "dict[str, float | None] | dict[str, int]", absent: float) -> list[float]:
        numbers = (by_value.get(value) for value in self._values)
        return [absent if number is None else float(number) for number in numbers]


def _mistakes(recipe: Recipe) -> Iterator[str]:
    """What of a recipe does not go with these pairs."""
    name = recipe.pairs.judge or ""
    kind = recipe.judges[name].kind if name in recipe.judges else KIND
    if kind != KIND:
        yield f"pairs.judge {name!r} is of kind {kind}: name one of kind {KIND}."
    if not recipe.generate.options.copies:
        yield f"pairs.mode fairpo compares summaries of copies: write generate.method: {THINNED}."
    if recipe.corpus.sides is not None and len(set(recipe.corpus.sides)) < 2:
        yield "pairs.mode fairpo compares values: write at least 2 corpus.sides, or leave them out."


FAIRPO = PairMode(PairRules(lambda n_candidates, n_draws: n_draws, f"an {KIND} judge", _mistakes), FairPairer)
