"""Candidates by replicas: children that hold an engine each and take batches of requests from one queue; see `child`."""

from collections.abc import Sequence
from contextlib import closing

from ..config import Recipe
from ..config.model import LOCAL
from ..errors import ModelError
from ..records import Failure, SummaryRequest
from ..runfolder.assignments import StageTask, hand_out
from ..runfolder.engines import engines_of
from ..runfolder.journal import Batches, Journal
from ..runfolder.phases import Phase
from ..runfolder.replicas import ReplicaTask
from ..runfolder.stages import Stage
from ..text import some_of
from .batches import FinishedBatch, JournalContents, JournalLine
from .requests import Requests

# why requests of a batch that was given up have no candidate
DIED = "the engine's process died"


def is_apart(recipe: Recipe) -> bool:
    """Whether candidates are made by replicas; one process alone keeps the account of what a server costs."""
    section = recipe.generate
    if recipe.executor != LOCAL:
        return section.server is None and section.options.asks_model
    return engines_of(section, recipe.executor).n > 1


def generate_apart(
    phase: Phase, stage: Stage, requests: Requests, batches: Batches[SummaryRequest], contents: JournalContents
) -> None:
    """Have replicas finish the batches that are open, each into a journal of its own.

    Raises:
        EvenhandError: what a replica refused.
        ModelError: a replica could not load its model, or more requests were given up than limits.failed allows.
        StorageError: the resolved recipe is not in the run folder.
    """
    ids = list(requests.sides())

    def task_of(batch: range) -> ReplicaTask:
        rounds = contents.rounds(ids[batch.start : batch.stop])
        return ReplicaTask(batch, {"rounds": [round_.model_dump(mode="json") for round_ in rounds]})

    def n_unseen() -> int:
        seen = JournalContents(stage.journals(JournalLine, batches.shard), ids).done
        lost = {failure.request_id for batch in given_up for failure in batch.failures}
        return sum(place not in seen and ids[place] not in lost for batch in open_batches for place in batch)

    open_batches, given_up = batches.open(contents.done), list[FinishedBatch]()
    if not open_batches:
        return
    progress = batches.counted(open_batches)
    engines = engines_of(phase.recipe.generate, phase.recipe.executor)
    task = StageTask("replica", "evenhand.generate.child", (), engines, list(map(task_of, open_batches)))
    with closing(hand_out(phase, stage, batches.shard, [task], n_unseen)) as outcomes:
        for outcome in outcomes:
            if outcome.given_up:
                given_up.append(_given_up(batches.of(outcome.task.places), outcome.given_up))
            progress.add(len(outcome.task.places))
    if given_up:
        _refuse_lost(phase, given_up, len(batches.items))
        Journal(stage.journal_path(batches.shard.part("given-up")), JournalLine).append(
            [JournalLine(batch) for batch in given_up]
        )


def _given_up(requests: Sequence[SummaryRequest], how: str) -> FinishedBatch:
    failures = (Failure(request_id=request.id, side=request.side, reason=DIED, detail=how) for request in requests)
    return FinishedBatch(
        request_ids=tuple(request.id for request in requests),
        candidates=(),
        failures=tuple(failures),
        prompt_tokens=0,
        prefilled_tokens=0,
    )


def _refuse_lost(phase: Phase, given_up: Sequence[FinishedBatch], total: int) -> None:
    """Refuse to end the stage without more requests than the recipe allows: what killed their process may be mended."""
    lost = [failure for batch in given_up for failure in batch.failures]
    if len(lost) > phase.recipe.limits.failed * total:
        raise ModelError(
            f"{phase.name}: {len(lost)} of {total} requests were given up, because {DIED} "
            f"{lost[0].detail}: {some_of([failure.request_id for failure in lost])}. All others are finished, and the same "
            "command tries these again. When memory was short: lower generate.requests_per_batch, generate.replicas or "
            "generate.max_model_len. Or raise limits.failed, to go on without them"
        )
