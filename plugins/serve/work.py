"""What one thread works with: draw candidates, judge them and choose; or judge summaries made elsewhere.

Everything is done by what the stages of a run are made of, under the seeds of the served phase, and with the same caches of
answers and verdicts. So equal documents under an equal id give the candidates and the best summary of `evenhand loop`.
A connection to a server belongs to the thread that opened it: each worker has its own, and so have its judges that ask servers.
Judges with models on this machine are held once, on one thread, which works for all.
"""

import logging
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import closing
from contextvars import copy_context
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from ...api.steps import candidate_of
from ...config import JudgeOptions, Recipe
from ...errors import DataError, EvenhandError, RecipeError
from ...generate.backend import Backend
from ...generate.backends import NoBackend, open_backend_of, signature_of
from ...generate.method import Draw, draws
from ...generate.patience import refuse_given_up
from ...generate.stage import make_batch
from ...judges import Judge, open_judges
from ...judges.batch import judge_held
from ...judges.cache import VerdictCache
from ...judges.combine import reward_ranges
from ...judges.shared import SharedModels
from ...records import Candidate, CandidateGroup, Failure, Judgement, ScoredCandidate, SummaryRequest
from ...rerank.pairs import best_of
from ...rerank.stage import score_group
from ...runfolder.phases import Phase
from ...text.digests import digest
from .asked import DocumentsRequest, ScoredSummary, described, read, request_of
from .guard import DRAWN, DRAWN_AGAIN, EXTRACTED, Guard, can_draw_again, extractions, later_draws
from .metrics import Metrics
from .sides import sides_of

log = logging.getLogger(__name__)

Pairs = Sequence[tuple[SummaryRequest, Candidate]]


class NoSummaryError(EvenhandError):
    """There is no summary to give, for reasons that lie in what was asked: refused, too long, or without a score."""


@dataclass(frozen=True)
class RankedResponse:
    """A request's candidates with their rewards, the one that is served, and what was said of it."""

    request: SummaryRequest
    group: CandidateGroup
    best: ScoredCandidate
    said: tuple[Judgement, ...]
    # judge -> what it tells of each side
    sides: dict[str, dict[str, Any]]
    # where it comes from: guard.DRAWN, ...
    source: str
    # candidates that were to be drawn until it was found
    n_draws: int


def say_unclosed(subject: str, closed: Iterable[Future[None]]) -> None:
    """Say which closings ended in an error, by its kind alone: its text may quote documents."""
    for future in closed:
        if (error := future.exception()) is not None:
            log.warning("%s could not be closed: %s", subject, type(error).__name__)


def all_closed(
    subject: str, closings: Iterable[tuple[ThreadPoolExecutor, Callable[[], None]]], seconds: float | None
) -> bool:
    """Close each on its thread, and the threads; whether that was done within so many seconds, of which None are any number."""
    threads = dict(closings)
    closed, hung = wait([thread.submit(close) for thread, close in threads.items()], seconds)
    for thread in threads:
        thread.shutdown(wait=not hung)
    say_unclosed(subject, closed)
    return not hung


class Judges:
    """Judges that are held open, and the thread that they live on, where it is not the caller's.

    Args:
        sections: of the judges, by name.
        thread: theirs.
        models: makes what they share.
    """

    def __init__(
        self,
        sections: Mapping[str, JudgeOptions],
        thread: ThreadPoolExecutor | None = None,
        models: Callable[[], SharedModels] = SharedModels,
    ) -> None:
        self._sections, self._thread, self._models = sections, thread, models
        self._opened: dict[str, Judge] = {}

    def load(self, rehearsal: Pairs = ()) -> None:
        """Load the models of judges that have a thread, and have them judge once, so that no request waits for that.

        Args:
            rehearsal: what they judge then; what they say of it is kept nowhere.

        Raises:
            EvenhandError: a judge cannot be opened.
        """
        assert self._thread is not None, "a worker's judges ask servers, and load nothing"
        self._thread.submit(self._load, rehearsal).result()

    def _load(self, rehearsal: Pairs) -> None:
        self._open().load()
        if rehearsal and self._opened:
            with TemporaryDirectory() as folder, closing(VerdictCache(Path(folder) / "judgements.sqlite")) as cache:
                judge_held(list(self._opened.values()), rehearsal, cache)

    def _open(self) -> SharedModels:
        models = self._models()
        self._opened = {judge.name: judge for judge in open_judges(self._sections, models)}
        return models

    def judge(self, names: Sequence[str], candidates: Pairs) -> list[Judgement]:
        """What those of the names that are here say of the candidates."""
        own_names = [name for name in names if name in self._sections]
        if self._thread is None:
            return self._judge(own_names, candidates)
        # with the patience of whoever waits for the caller
        return self._thread.submit(copy_context().run, self._judge, own_names, candidates).result()

    def _judge(self, names: Sequence[str], candidates: Pairs) -> list[Judgement]:
        if not names:
            return []
        refuse_given_up()
        if not self._opened:
            self._open()
        with closing(VerdictCache()) as cache:
            return judge_held([self._opened[name] for name in names], candidates, cache)

    def close(self, seconds: float | None = None) -> bool:
        """Close their models and the thread; whether that was done within so many seconds, of which None are any number."""
        if self._thread is None:
            self._close()
            return True
        return all_closed("the judges", [(self._thread, self._close)], seconds)

    def _close(self) -> None:
        for judge in self._opened.values():
            judge.close()


def asks_servers(section: JudgeOptions) -> bool:
    """Whether a judge asks servers and has no model on this machine."""
    language_models = section.language_models.values()
    return (
        bool(language_models)
        and not section.models
        and all(model.backend.server is not None for model in language_models)
    )


def local_judges(phase: Phase) -> Judges:
    """The judges with models on this machine, or none, on a thread of their own."""
    sections = {name: phase.recipe.judges[name] for name in phase.judges}
    local_sections = {name: section for name, section in sections.items() if not asks_servers(section)}
    return Judges(local_sections, ThreadPoolExecutor(1, "judges"))


class ThreadWorker:
    """Made, used and closed on one thread.

    Args:
        phase: whose candidates are drawn: model, adapter, plans, seeds, judges.
        local: judges that all workers share.
        guard: what a served summary must not be.
        metrics: counts candidates, and scores that are missing.
    """

    # makes what the judges that ask servers share
    models: Callable[[], SharedModels] = SharedModels

    def __init__(self, phase: Phase, local: Judges, guard: Guard, metrics: Metrics) -> None:
        self._phase, self._local, self._guard, self._metrics = phase, local, guard, metrics
        recipe = phase.recipe
        remote_sections = {name: recipe.judges[name] for name in phase.judges if asks_servers(recipe.judges[name])}
        self._own = Judges(remote_sections, models=self.models)
        self._ranges = reward_ranges(recipe.reward, recipe.judges)
        self._order = draws(phase.plans)
        self._backend = self._open(phase)

    def _open(self, phase: Phase) -> Backend:
        return open_backend_of(phase)

    def summarise(self, request: SummaryRequest) -> RankedResponse:
        """The best candidate of a request that says something and keeps the guard's limits.

        Raises:
            NoSummaryError: the model refuses, the prompt is too long, no candidate has a reward, or the guard refuses all.
            ModelError, JudgeError: a server or a model does not answer.
            GivenUpError: nobody waits for it any longer.
        """
        recipe, candidates, reasons, n_draws = self._phase.recipe, list[Candidate](), list[str](), 0
        for source, phase, order in self._tries(request):
            if source != DRAWN and not self._guard.tries_again(candidates):
                break
            drawn, failures = self._draw(request, phase, order)
            n_draws += len(order)
            reasons += failures
            candidates += drawn
            if not drawn:
                continue
            # all of them again, since judges and rewards may compare them; what was said is in the cache
            judgements = self._judge(self._phase.judges, [(request, candidate) for candidate in candidates])
            self._metrics.judged(len(drawn), _unscored(judgements, drawn))
            group = score_group(self._phase, request, candidates, judgements, self._ranges)
            by_candidate = {
                candidate.id: [judgement for judgement in judgements if judgement.candidate_id == candidate.id]
                for candidate in candidates
            }
            broken = {
                candidate.id: self._guard.broken(candidate, by_candidate[candidate.id], recipe.judges)
                for candidate in candidates
            }
            best = best_of([entry for entry in group.candidates if not broken[entry.candidate.id]])
            if best is not None:
                best_judgements = tuple(by_candidate[best.candidate.id])
                return RankedResponse(
                    request, group, best, best_judgements, self._sides(best_judgements), source, n_draws
                )
            reasons += broken[group.best_id] if group.best_id else _without_reward(judgements)
        raise NoSummaryError(f"{len(candidates)} candidates, and none can be served: {described(reasons)}")

    def _tries(self, request: SummaryRequest) -> Iterator[tuple[str, Phase, Sequence[Draw]]]:
        """What is drawn one after the other until a candidate can be served: source, phase and draws."""
        yield DRAWN, self._phase, self._order
        if can_draw_again(self._phase.recipe):
            yield DRAWN_AGAIN, self._phase, later_draws(self._phase)
            for extracting in extractions(self._phase.recipe, request):
                yield EXTRACTED, extracting, draws(extracting.plans)

    def _draw(
        self, request: SummaryRequest, phase: Phase, order: Sequence[Draw]
    ) -> tuple[Sequence[Candidate], list[str]]:
        """Candidates, and why there are none."""
        batch = make_batch(phase, self._backend_of(phase), [request], order)
        return batch.candidates, [_reason(failure) for failure in batch.failures]

    def _backend_of(self, phase: Phase) -> Backend:
        return self._backend if phase is self._phase else NoBackend()

    def _sides(self, judgements: Sequence[Judgement]) -> dict[str, dict[str, Any]]:
        judges = self._phase.recipe.judges
        tables = {judgement.judge: sides_of(judgement, judges[judgement.judge]) for judgement in judgements}
        return {name: table for name, table in tables.items() if table}

    def score(self, items: Sequence[ScoredSummary]) -> list[tuple[float | None, list[Judgement]]]:
        """The reward of each summary and what the reward's judges said; None where one of them gave no score.

        Summaries of one request in one call are its candidates, for judges that compare those.

        Raises:
            ModelError, JudgeError: a server or a model does not answer.
        """
        pairs = [(row.request, candidate_of(row.request, row.summary)) for row in items]
        by_candidate: dict[str, dict[str, Judgement]] = defaultdict(dict)
        judgements = self._judge(self._phase.recipe.reward.judges, pairs)
        self._metrics.judged(len(pairs), [judgement.judge for judgement in judgements if judgement.score is None])
        for judgement in judgements:
            by_candidate[judgement.candidate_id][judgement.judge] = judgement
        rewards: dict[str, float | None] = {}
        for request, candidate in pairs:
            own_judgements = list(by_candidate[candidate.id].values())
            group = score_group(self._phase, request, [candidate], own_judgements, self._ranges)
            rewards[candidate.id] = group.candidates[0].reward
        return [(rewards[candidate.id], list(by_candidate[candidate.id].values())) for _, candidate in pairs]

    def _judge(self, names: Sequence[str], candidates: Pairs) -> list[Judgement]:
        return self._own.judge(names, candidates) + self._local.judge(names, candidates)

    def close(self) -> None:
        """Give connections and memory back."""
        self._own.close()
        self._backend.close()


def rehearsal(recipe: Recipe) -> Pairs:
    """A request and a summary, for which judges import whatever they use; none where the recipe does not take these documents."""
    sides = (*(recipe.corpus.sides or ()), "one", "other")[:2]
    texts = ("The ferry sails at 7. It is cheap.", "The bridge is dear. Nobody asked for it.")
    documents = [
        {"text": text, "attributes": {recipe.corpus.attribute: side}} for text, side in zip(texts, sides, strict=True)
    ]
    try:
        side = sides[0] if recipe.task.scope == "side" else None
        request = request_of(read(DocumentsRequest, {"documents": documents, "side": side}), recipe)
    except (DataError, RecipeError) as error:
        log.info("judges are not tried before the first request: %s", error)
        return []
    return [(request, candidate_of(request, "The ferry sails at 7. The bridge is dear."))]


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


def signature(phase: Phase, guard: Guard) -> str:
    """Digest of all that a served summary depends on besides the request: model, adapter, plans, judges, reward, limits."""
    recipe = phase.recipe
    judges = {name: recipe.judges[name].scoring_options() for name in phase.judges}
    plans = {name: plan.model_dump(mode="json") for name, plan in phase.plans.items()}
    content = [recipe.name, recipe.seed, phase.name, signature_of(phase), phase.method, plans, judges]
    content.append([limit.text for limit in guard.limits])
    return digest([*content, recipe.reward.model_dump(mode="json"), recipe.task.model_dump(mode="json")])


def _reason(failure: Failure) -> str:
    return f"{failure.reason}: {failure.detail}" if failure.detail else failure.reason


def _unscored(judgements: Sequence[Judgement], candidates: Sequence[Candidate]) -> list[str]:
    """The judges that gave one of these no score, once for each."""
    names = {candidate.id for candidate in candidates}
    return [judgement.judge for judgement in judgements if judgement.score is None and judgement.candidate_id in names]


def _without_reward(judgements: Sequence[Judgement]) -> list[str]:
    return [
        "no candidate has a reward",
        *(f"{judgement.judge}: {judgement.unscored}" for judgement in judgements if judgement.unscored),
    ]
