"""A replica of generation: `python -m evenhand.generate.child ASSIGNMENT...`; see `apart`."""

import sys
from collections.abc import Iterator, Sequence

from ..config.recipe_file import load_recipe
from ..runfolder import replicas
from ..runfolder.assignments import Assignment
from ..runfolder.phases import open_phase
from .batches import JournalContents, JournalLine
from .rounds import Round
from .stage import generate_stage, make_batches, phase_requests


def main(arguments: Sequence[str]) -> int:
    """Generate; the exit code."""
    assignment, _ = Assignment.read(arguments)

    def work(batches: Iterator[replicas.AssignedTask]) -> None:
        phase = open_phase(load_recipe(assignment.recipe), assignment.phase)
        with assignment.held(phase.recipe):
            requests = phase_requests(phase)
            journal = assignment.journal(generate_stage(phase, requests), JournalLine)
            contents = JournalContents([journal], requests.sides())
            make_batches(phase, requests, _not_done(batches, contents), journal, contents)

    return replicas.be_replica(work, assignment.failure)


def _not_done(batches: Iterator[replicas.AssignedTask], contents: JournalContents) -> Iterator[range]:
    for places, beside in batches:
        # the replica before this one may have finished it, and died before it could say so
        if places.start not in contents.done:
            contents.take(map(Round.model_validate, beside["rounds"]))
            yield places


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
