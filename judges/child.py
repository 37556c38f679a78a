"""Judges that hold one model: `python -m evenhand.judges.child ASSIGNMENT... JUDGE...`; see `apart`."""

import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing
from itertools import islice

from ..config.recipe_file import load_recipe
from ..runfolder import replicas
from ..runfolder.assignments import Assignment
from ..runfolder.phases import Phase
from . import open_judges
from .batch import JudgedBatch
from .cache import VerdictCache
from .journals import done_by
from .open_work import Pair, batches_of, judge_open, keep_last
from .stage import judge_stage


def main(arguments: Sequence[str]) -> int:
    """Judge; the exit code."""
    assignment, names = Assignment.read(arguments)

    def work(batches: Iterator[replicas.AssignedTask]) -> None:
        phase = Phase(load_recipe(assignment.recipe), assignment.phase, after_round=None)
        with assignment.held(phase.recipe), closing(VerdictCache()) as cache, ExitStack() as models:
            judges = open_judges({name: phase.recipe.judges[name] for name in phase.judges})
            journal = assignment.journal(judge_stage(phase, judges), JudgedBatch)
            keep_last(phase, [journal], judges, cache)
            done = defaultdict(set, done_by([journal]))
            group = [judge for judge in judges if judge.name in names]
            for each in group:
                models.callback(each.close)
            for pairs, known in _read(phase, batches):
                for judge, ids in known.items():
                    done[judge].update(ids)
                judge_open(phase, group, pairs, done, cache, journal)

    return replicas.be_replica(work, assignment.failure)


def _read(phase: Phase, batches: Iterator[replicas.AssignedTask]) -> Iterator[tuple[list[Pair], dict[str, list[str]]]]:
    """The candidates of each batch, and the requests among them that a judge has judged."""
    requests, at = batches_of(phase, 1), 0
    for places, done_ids in batches:
        # mostly a batch stands behind the one before
        if places.start < at:
            requests, at = batches_of(phase, 1), 0
        batch = islice(requests, places.start - at, places.stop - at)
        at = places.stop
        yield [pair for pairs in batch for pair in pairs], done_ids["done"]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
