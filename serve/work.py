"""What one thread works with: draw candidates, judge them and choose; or judge summaries made elsewhere.

Everything is done by what the stages of a run are made of, under the seeds of the served phase, and with the same caches of
answers and verdicts. So equal documents under an equal id give the candidates and the best summary of `evenhand loop`.
A connection to a server belongs to the thread that opened it: each worker has its own, and so have its judges that ask servers.
Judges with models on this machine are held once, on one thread, which works for all.
"""

import json
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

from ..api.steps import candidate_of
from ..config import JudgeOptions, Recipe
from ..errors import DataError, EvenhandError
from ..generate.backends import open_backend_of, signature_of
from ..generate.method import draws
from ..generate.stage import make_batch
from ..judges import Judge, open_judges
from ..judges.batch import judge_held
from ..judges.cache import VerdictCache, cache_path
from ..judges.combine import reward_ranges
from ..records import Candidate, CandidateGroup, Failure, Judgement, SummaryRequest
from ..rerank.stage import score_group
from ..runfolder.phases import Phase
from ..storage import digest
from .asked import Scored, described

T = TypeVar("T")

# judges whose `raw` tells the sides apart
TELL_SIDES = frozenset({"value-shares", "equal-coverage"})

Pairs = Sequence[tuple[SummaryRequest, Candidate]]


class NoSummaryError(EvenhandError):
    """There is no summary to give, for reasons that lie in what was asked: refused, too long, or without a score."""


@dataclass(frozen=True)
class Chosen:
    """A request's candidates with their rewards, and what was said of them."""

    request: SummaryRequest
    group: CandidateGroup
    judgements: tuple[Judgement, ...]
    # recipe's judges by name
    judges: Mapping[str, JudgeOptions]

    @property
    def best(self) -> Candidate:
        """The candidate of highest reward."""
        return next(each.candidate for each in self.group.candidates if each.candidate.id == self.group.best_id)

    @property
    def reward(self) -> float | None:
        """Its reward."""
        return next(each.reward for each in self.group.candidates if each.candidate.id == self.group.best_id)

    @cached_property
    def said(self) -> list[Judgement]:
        """What the judges said of it."""
        return [each for each in self.judgements if each.candidate_id == self.group.best_id]

    @property
    def sides(self) -> dict[str, Any]:
        """Judge -> the sides' shares or coverage, of judges that tell sides apart."""
        return {
            each.judge: json.loads(each.raw)
            for each in self.said
            if each.raw and each.score is not None and self.judges[each.judge].kind in TELL_SIDES
        }


class Judges:
    """Judges that are held open, and the thread that they live on, where it is not the caller's."""

    def __init__(self, sections: Mapping[str, JudgeOptions], thread: ThreadPoolExecutor | None = None) -> None:
        self._sections, self._thread = sections, thread
        self._opened: dict[str, Judge] = {}

    def judge(self, names: Sequence[str], candidates: Pairs) -> list[Judgement]:
        """What those of the names that are here say of the candidates."""
        return self._call(lambda: self._judge([name for name in names if name in self._sections], candidates))

    def _judge(self, names: Sequence[str], candidates: Pairs) -> list[Judgement]:
        if not names:
            return []
        if not self._opened:
            self._opened = {each.name: each for each in open_judges(self._sections)}
        with closing(VerdictCache(cache_path())) as cache:
            return judge_held([self._opened[name] for name in names], candidates, cache)

    def close(self) -> None:
        """Close their models, and the thread."""
        self._call(self._close)
        if self._thread is not None:
            self._thread.shutdown()

    def _close(self) -> None:
        for each in self._opened.values():
            each.close()

    def _call(self, work: Callable[[], T]) -> T:
        return work() if self._thread is None else self._thread.submit(work).result()


def asks_servers(section: JudgeOptions) -> bool:
    """Whether a judge asks servers and has no model on this machine."""
    asked = section.language_models.values()
    return bool(asked) and not section.models and all(each.backend.backend == "openai" for each in asked)


def local_judges(phase: Phase) -> Judges:
    """The judges with models on this machine, or none, on a thread of their own."""
    found = {name: phase.recipe.judges[name] for name in phase.judges}
    held = {name: each for name, each in found.items() if not asks_servers(each)}
    return Judges(held, ThreadPoolExecutor(1, "judges"))


class Worker:
    """Made, used and closed on one thread.

    Args:
        phase: whose candidates are drawn: model, adapter, plans, seeds, judges.
        local: judges that all workers share.
    """

    def __init__(self, phase: Phase, local: Judges) -> None:
        self._phase, self._local = phase, local
        recipe = phase.recipe
        own = {name: recipe.judges[name] for name in phase.judges if asks_servers(recipe.judges[name])}
        self._own = Judges(own)
        self._ranges = reward_ranges(recipe.reward, recipe.judges)
        self._order = draws(phase.plans)
        self._backend = open_backend_of(phase)

    def summarise(self, request: SummaryRequest) -> Chosen:
        """The candidates of a request, judged.

        Raises:
            NoSummaryError: the model refuses, the prompt is too long, or no candidate has a reward.
            ModelError, JudgeError: a server or a model does not answer.
        """
        batch = make_batch(self._phase, self._backend, [request], self._order)
        if batch.failures:
            raise NoSummaryError(described([_reason(each) for each in batch.failures]))
        judgements = self._judge(self._phase.judges, [(request, each) for each in batch.candidates])
        group = score_group(self._phase, request, batch.candidates, judgements, self._ranges)
        if group.best_id is None:
            reasons = [f"{each.judge}: {each.unscored}" for each in judgements if each.unscored]
            raise NoSummaryError(f"no candidate has a reward: {described(reasons)}")
        return Chosen(request, group, tuple(judgements), self._phase.recipe.judges)

    def score(self, items: Sequence[Scored]) -> list[tuple[float | None, list[Judgement]]]:
        """The reward of each summary and what the reward's judges said; None where one of them gave no score.

        Summaries of one request in one call are its candidates, for judges that compare those.

        Raises:
            DataError: the recipe's rewards compare candidates.
            ModelError, JudgeError: a server or a model does not answer.
        """
        refuse_relative(self._phase.recipe)
        pairs = [(each.request, candidate_of(each.request, each.summary)) for each in items]
        said: dict[str, dict[str, Judgement]] = defaultdict(dict)
        for each in self._judge(self._phase.recipe.reward.judges, pairs):
            said[each.candidate_id][each.judge] = each
        rewards: dict[str, float | None] = {}
        for request, candidate in pairs:
            mine = list(said[candidate.id].values())
            group = score_group(self._phase, request, [candidate], mine, self._ranges)
            rewards[candidate.id] = group.candidates[0].reward
        return [(rewards[candidate.id], list(said[candidate.id].values())) for _, candidate in pairs]

    def _judge(self, names: Sequence[str], candidates: Pairs) -> list[Judgement]:
        return self._own.judge(names, candidates) + self._local.judge(names, candidates)

    def close(self) -> None:
        """Give connections and memory back."""
        self._own.close()
        self._backend.close()


def refuse_relative(recipe: Recipe) -> None:
    """Refuse to give rewards to summaries one by one where the recipe's compare a request's candidates.

    Raises:
        DataError: they are z-scores.
    """
    if recipe.reward.combine == "z_mean":
        raise DataError(
            "reward.combine z_mean compares the candidates of a request, so a summary by itself has no reward; serve the recipe "
            "with --set reward.combine=mean, or another combination of the scores themselves"
        )


def signature(phase: Phase) -> str:
    """Digest of everything that a served summary depends on besides the request: model, adapter, plans, judges, reward."""
    recipe = phase.recipe
    judges = {name: recipe.judges[name].scoring_options() for name in phase.judges}
    plans = {name: plan.model_dump(mode="json") for name, plan in phase.plans.items()}
    said = [recipe.name, recipe.seed, phase.name, signature_of(phase), phase.method, plans, judges]
    return digest([*said, recipe.reward.model_dump(mode="json"), recipe.task.model_dump(mode="json")])


def _reason(failure: Failure) -> str:
    return f"{failure.reason}: {failure.detail}" if failure.detail else failure.reason
