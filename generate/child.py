"""A replica of generation: `python -m evenhand.generate.child ASSIGNMENT...`; see `apart`."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import closing

from ..config.recipe_file import load_recipe
from ..runfolder import replicas
from ..runfolder.assignments import Assignment
from ..runfolder.phases import open_phase
from .backends import open_backend_of
from .batches import JournalContents, JournalLine
from .rounds import Round
from .stage import asker, generate_stage, phase_requests


def main(arguments: Sequence[str]) -> int:
    """Generate; the exit code."""
    assignment, _ = Assignment.read(arguments)

    def work(batches: Iterator[replicas.AssignedTask]) -> None:
        phase = open_phase(load_recipe(assignment.recipe), assignment.phase)
        with assignment.held(phase.recipe):
            requests = phase_requests(phase)
            journal = assignment.journal(generate_stage(phase, requests), JournalLine)
            contents = JournalContents([journal], requests.sides())
            ask = asker(phase, journal, contents)
            with closing(open_backend_of(phase)) as backend:
                for batch in batches:
                    # the replica before this one may have finished it, and died before it could say so
                    if batch.places.start not in contents.done:
                        contents.take(map(Round.model_validate, batch.beside["rounds"]))
                        journal.append([ask(backend, requests[batch.places.start : batch.places.stop])])

    return replicas.be_replica(work, assignment.failure)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
