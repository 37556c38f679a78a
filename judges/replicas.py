"""Judges of one model in processes of their own.

An engine gives its memory back when its process ends, and hardly before (vLLM's issue 21073). So where a stage has judges on
several models, each model gets a process, or several (`backend.replicas`), which take batches of requests from one queue and
write them into journals of their own. Models whose GPUs are free at the same time work side by side, others one after another.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from typing import NamedTuple

from ..config.model import LOCAL, BackendSection, ReplicatedSection
from ..errors import JudgeError
from ..runfolder.assignments import StageTask, hand_out
from ..runfolder.engines import Engines, engines_of
from ..runfolder.phases import Phase
from ..runfolder.progress import Progress
from ..runfolder.replicas import Outcome, ReplicaTask
from ..runfolder.shards import Shard
from ..runfolder.stages import Stage
from .batch import JudgedBatch, judge_work
from .cache import verdict_key
from .journals import done_by
from .judge import Judge
from .open_work import Done, Pair, batches_of, n_new, open_pairs, size_of


class Team(NamedTuple):
    """Judges that hold one model, and the engines that it is to have."""

    # names its journals
    name: str
    judges: Sequence[Judge]
    engines: Engines


def teams_of(phase: Phase, groups: Sequence[Sequence[Judge]]) -> list[Team]:
    """The judges of each model that gets processes of its own: none where one process has one model to itself.

    A server's model takes no memory here, and one process alone keeps the account of what servers cost.
    """
    teams = [
        Team(f"model-{number}", group, _engines(phase, group))
        for number, group in enumerate(groups, 1)
        if group[0].loads and not any(section.server for section in _backends(phase, group))
    ]
    is_alone = len(teams) == 1 and teams[0].engines.n == 1 and phase.recipe.executor == LOCAL
    return [] if is_alone else teams


def _backends(phase: Phase, group: Sequence[Judge]) -> list[BackendSection]:
    return [models.backend for judge in group for models in phase.recipe.judges[judge.name].language_models.values()]


def _engines(phase: Phase, group: Sequence[Judge]) -> Engines:
    # a model that is no language model has one GPU where there is any
    engines = [
        engines_of(section, phase.recipe.executor)
        for section in _backends(phase, group)
        if isinstance(section, ReplicatedSection)
    ] or [Engines(1, 1)]
    return Engines(max(engine.n for engine in engines), max(each.gpus_each for each in engines))


def judge_apart(
    phase: Phase, stage: Stage, teams: Sequence[Team], done: Done, progress: Progress, shard: Shard
) -> None:
    """Have processes of their own put what these judges, which must be the recipe's, have not yet said into journals.

    Raises:
        EvenhandError: what a process refused.
        JudgeError: the processes died twice over a batch; all others are judged.
        ModelError: they died over one batch after the other.
        StorageError: the resolved recipe is not in the run folder.
    """
    given_up: list[Outcome] = []

    def n_unseen() -> int:
        return 0 if given_up else _n_unseen(phase, stage, teams, done, shard)

    with closing(hand_out(phase, stage, shard, _tasks(phase, teams, done), n_unseen)) as outcomes:
        for outcome in outcomes:
            given_up += [outcome] if outcome.given_up else []
            for name, n in outcome.task.counts.items():
                progress.add(n, name)
    if given_up:
        names = ", ".join(dict.fromkeys(name for outcome in given_up for name in outcome.task.counts))
        raise JudgeError(
            f"{phase.name}: {len(given_up)} batches were given up, because the process of judges {names} died: "
            f"{given_up[-1].given_up}. All others are judged, and the same command tries these again. When "
            "memory was short: lower backend.requests_per_batch, backend.replicas or backend.max_model_len"
        )


def _n_unseen(phase: Phase, stage: Stage, teams: Sequence[Team], done: Done, shard: Shard) -> int:
    """Requests that a judge has not judged, so far as it can be seen."""
    found = done_by(stage.journals(JudgedBatch, shard))
    seen = {judge.name: done[judge.name] | found[judge.name] for team in teams for judge in team.judges}
    return sum(
        len({request.id for _, pairs in open_pairs(phase, team.judges, batch, seen) for request, _ in pairs})
        for team in teams
        for batch in batches_of(phase, size_of(team.judges))
    )


def _tasks(phase: Phase, teams: Sequence[Team], done: Done) -> list[StageTask]:
    """What is open of each team, batch by batch; teams with nothing open are left out.

    Where several batches have an equal input, the first one asks, and the others find the verdict in the cache. For that to be
    so with several processes, too, a batch waits for the one before it that has an input in common with it.
    """
    n_asking = Counter(
        name for team in teams for name in {judge.signature for judge in team.judges} for _ in range(team.engines.n)
    )
    # key of an input -> the last task that has it
    having: dict[str, ReplicaTask] = {}
    tasks: list[StageTask] = []
    for team in teams:
        batches: list[ReplicaTask] = []
        start = 0
        for batch in batches_of(phase, size_of(team.judges)):
            ids = list(dict.fromkeys(request.id for request, _ in batch))
            places, start = range(start, start + len(ids)), start + len(ids)
            asked = open_pairs(phase, team.judges, batch, done)
            if not asked:
                continue
            keys = {
                key
                for company, pairs in asked
                for key in _keys([j for j in company if n_asking[j.signature] > 1], pairs)
            }
            counts = {name: n for company, pairs in asked for name, n in n_new(phase, company, pairs, done).items()}
            known = {judge.name: sorted(done[judge.name].intersection(ids)) for judge in team.judges}
            after = {id(having[key]): having[key] for key in sorted(keys) if key in having}
            task = ReplicaTask(
                places,
                {"done": {name: judged for name, judged in known.items() if judged}},
                tuple(after.values()),
                counts,
            )
            having |= dict.fromkeys(keys, task)
            batches.append(task)
        names = [judge.name for judge in team.judges]
        if batches:
            owner = f"judges {', '.join(names)}"
            tasks.append(StageTask(team.name, "evenhand.judges.child", names, team.engines, batches, owner))
    return tasks


def _keys(judges: Sequence[Judge], pairs: Sequence[Pair]) -> Iterator[str]:
    """Under which the cache has what these judges say."""
    for judge, inputs in judge_work(judges, pairs):
        for judge_input in inputs:
            if judge.against is not None:
                yield verdict_key(judge.signature, (judge_input.reference, judge_input.text))
