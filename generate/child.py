"""A replica of generation: `python -m evenhand.generate.child ASSIGNMENT...`; see `replicas`."""

from collections.abc import Iterator, Sequence

from ..config.recipe_file import load_recipe
from ..runfolder.assignments import Assignment, run_assigned
from ..runfolder.phases import open_phase
from ..runfolder.replicas import AssignedTask
from .batches import JournalContents, JournalLine
from .rounds import Round
from .stage import generate_stage, make_batches, phase_requests


def work(assignment: Assignment, _: Sequence[str], batches: Iterator[AssignedTask]) -> None:
    """Generate."""
    phase = open_phase(load_recipe(assignment.recipe), assignment.phase)
    with assignment.held(phase.recipe):
        requests = phase_requests(phase)
        journal = assignment.journal(generate_stage(phase, requests), JournalLine)
        contents = JournalContents([journal], requests.sides())
        make_batches(phase, requests, _not_done(batches, contents), journal, contents)


def _not_done(batches: Iterator[AssignedTask], contents: JournalContents) -> Iterator[range]:
    for places, beside in batches:
        # the replica before this one may have finished it, and died before it could say so
        if places.start not in contents.done:
            contents.take(map(Round.model_validate, beside["rounds"]))
            yield places


if __name__ == "__main__":
    run_assigned(work)
