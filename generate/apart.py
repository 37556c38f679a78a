"""Candidates by replicas: children that hold an engine each and take batches of requests from one queue; see `child`."""

from collections.abc import Sequence
from contextlib import closing

from ..config import Recipe
from ..config.model import LOCAL
from ..errors import ModelError
from ..records import Failure, SummaryRequest
from ..runfolder.assignments import commands, refuse_unseen
from ..runfolder.engines import engines_of, waves
from ..runfolder.journal import Batches, Journal
from ..runfolder.phases import Phase
from ..runfolder.replicas import Queue, ReplicaTask, Start, work_off
from ..runfolder.shards import Shard
from ..runfolder.stages import Stage
from ..text import some_of
from .batches import FinishedBatch, JournalContents, JournalLine, journals_of
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

    Args:
        phase: its candidates are made.
        stage: has the journals.
        requests: of the phase.
        batches: of these.
        contents: what the journals have.

    Raises:
        EvenhandError: what a replica refused.
        ModelError: a replica could not load its model, or more requests were given up than limits.failed allows.
        StorageError: the resolved recipe is not in the run folder.
    """
    open_batches = batches.open(contents.done)
    if not open_batches:
        return
    executor = phase.recipe.executor
    (((_, launches),),) = waves([engines_of(phase.recipe.generate, executor)], executor)
    command = commands(phase, stage, batches.shard, "evenhand.generate.child")
    starts = [Start(command, f"replica-{number}", launch) for number, launch in enumerate(launches, 1)]
    progress, given_up = batches.counted(open_batches), list[FinishedBatch]()
    ids = list(requests.sides())
    tasks = [
        ReplicaTask(
            batch,
            {"rounds": [round_.model_dump(mode="json") for round_ in contents.rounds(ids[batch.start : batch.stop])]},
        )
        for batch in open_batches
    ]
    with closing(work_off(Queue(tasks, starts))) as outcomes:
        for outcome in outcomes:
            if outcome.given_up:
                given_up.append(_given_up(batches.of(outcome.task.places), outcome.given_up))
            progress.add(len(outcome.task.places))
    if executor != LOCAL:
        lost = {failure.request_id for batch in given_up for failure in batch.failures}
        places = [place for batch in open_batches for place in batch if ids[place] not in lost]
        refuse_unseen(lambda: _n_unseen(stage, batches.shard, ids, places), phase.folder)
    if given_up:
        _refuse_lost(phase, given_up, len(batches.items))
        Journal(stage.journal_path(batches.shard.part("given-up")), JournalLine).append(
            [JournalLine(batch) for batch in given_up]
        )


def _n_unseen(stage: Stage, shard: Shard, ids: Sequence[str], places: Sequence[int]) -> int:
    seen = JournalContents(journals_of(stage, shard), ids).done
    return sum(place not in seen for place in places)


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
