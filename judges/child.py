"""Judges that hold one model: `python -m evenhand.judges.child ASSIGNMENT... JUDGE...`; see `replicas`."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import closing
from itertools import islice

from ..config.recipe_file import load_recipe
from ..runfolder.assignments import Assignment, run_assigned
from ..runfolder.phases import Phase
from ..runfolder.replicas import AssignedTask
from . import open_judges
from .batch import JudgedBatch
from .cache import VerdictCache
from .journals import done_by
from .open_work import Pair, batches_of, judge_open, keep_last
from .stage import judge_stage


def work(assignment: Assignment, names: Sequence[str], batches: Iterator[AssignedTask]) -> None:
    """Judge."""
    phase = Phase(load_recipe(assignment.recipe), assignment.phase, after_round=None)
    with assignment.held(phase.recipe), closing(VerdictCache()) as cache:
        judges = open_judges({name: phase.recipe.judges[name] for name in phase.judges})
        journal = assignment.journal(judge_stage(phase, judges), JudgedBatch)
        keep_last(phase, [journal], judges, cache)
        done = defaultdict(set, done_by([journal]))
        group = [judge for judge in judges if judge.name in names]
        for _ in judge_open(phase, group, _read(phase, batches, done), done, cache, journal):
            pass


def _read(phase: Phase, batches: Iterator[AssignedTask], done: dict[str, set[str]]) -> Iterator[list[Pair]]:
    """The candidates of each batch; which of its requests a judge has judged is noted."""
    requests, at = batches_of(phase, 1), 0
    for places, beside in batches:
        for judge, ids in beside["done"].items():
            done[judge].update(ids)
        # mostly a batch stands behind the one before
        if places.start < at:
            requests, at = batches_of(phase, 1), 0
        batch = islice(requests, places.start - at, places.stop - at)
        at = places.stop
        yield [pair for pairs in batch for pair in pairs]


if __name__ == "__main__":
    run_assigned(work)
