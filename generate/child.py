"""A replica of generation: `python -m evenhand.generate.child RECIPE PHASE KEY SHARD PART`; see `apart`."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

from ..config.recipe_file import load_recipe
from ..errors import StorageError
from ..runfolder import replicas
from ..runfolder.journal import Journal
from ..runfolder.phases import hold_run, open_phase
from ..runfolder.processes import failure_path
from ..runfolder.shards import read_shard
from .backends import open_backend_of
from .batches import Kept, Line
from .rounds import Round
from .stage import asker, generate_stage, phase_requests


def main(arguments: Sequence[str]) -> int:
    """Generate; the exit code."""
    recipe, name, key, written, part = arguments
    shard = read_shard(written)

    def work(batches: Iterator[replicas.Batch]) -> None:
        phase = open_phase(load_recipe(Path(recipe)), name)
        with hold_run(phase.recipe, shard):
            requests = phase_requests(phase)
            stage = generate_stage(phase, requests)
            if stage.key != key:
                raise StorageError(
                    f"{phase.folder}: the recipe, the corpus or the model changed while candidates were made; the same command "
                    "begins anew"
                )
            journal = Journal(stage.journal_path(shard.part(part)), Line)
            kept = Kept([journal], requests)
            ask = asker(phase, journal, kept)
            with closing(open_backend_of(phase)) as backend:
                for batch in batches:
                    # the replica before this one may have finished it, and died before it could say so
                    if batch.places.start not in kept.done:
                        kept.take(map(Round.model_validate, batch.beside["rounds"]))
                        journal.append([ask(backend, requests[batch.places.start : batch.places.stop])])

    return replicas.be_replica(work, failure_path(Path(recipe).parent / name, f"generate.{part}"))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
