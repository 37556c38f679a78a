"""Jobs on their way into SLURM's queue: all of them or none, and none twice."""

import contextlib
import os
import re
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from pydantic import BaseModel, ValidationError

from ...errors import EvenhandError, StorageError
from ...runfolder.processes import hold, refuse_held
from ...storage import read_text, write_json
from ...text.mistakes import explain
from .slurm import Scripts, SlurmJob

# file in the folder of job scripts that names the jobs which were submitted
SUBMITTED = "submitted.json"
# seconds that SLURM's programs have to answer
PATIENCE_SECONDS = 120
# what they say where the controller, or its key, is out of reach, and what to look at then
UNREACHED = re.compile(
    "unable to contact|connect failure|timed out|could not establish|authentication error|munge", re.IGNORECASE
)
ANSWERS = (
    "Does `sinfo` answer here? The machine needs its cluster's slurm.conf (SLURM_CONF names another) and munge, and slurmctld "
    "must be up; then give the same command again"
)


class SchedulerError(EvenhandError):
    """SLURM is not there, or refuses a job."""

    exit_code = 1


class SubmittedJobs(BaseModel):
    """The jobs that were submitted last, in their order."""

    ids: list[str] = []


class Queued(NamedTuple):
    """A job that SLURM has."""

    job: SlurmJob
    id: str


def submit(scripts: Scripts) -> list[Queued]:
    """Submit the jobs; none of them runs before all of them are queued and written down.

    Raises:
        SchedulerError: SLURM is not there, refuses a job, after which none is left in its queue, or still has jobs of this run.
        StorageError: a file cannot be read or written.
    """
    refuse_held(scripts.recipe.output)
    queued: list[Queued] = []
    with hold(scripts.folder):
        path = scripts.folder / SUBMITTED
        refuse_queued(path)
        scripts.write()
        try:
            for job, script in zip(scripts.jobs, scripts.paths(), strict=True):
                waits = f"--dependency=afterok:{queued[-1].id}" if queued else "--hold"
                output = _ask("sbatch", "--parsable", "--kill-on-invalid-dep=yes", waits, str(script))
                queued.append(Queued(job, output.strip().partition(";")[0]))
                write_json(path, SubmittedJobs(ids=[entry.id for entry in queued]).model_dump())
            _ask("scontrol", "release", queued[0].id)
        except BaseException:
            # Ctrl-C, too. Where SLURM does not answer, the file names what is left, and the first of them is held
            if queued:
                with contextlib.suppress(SchedulerError):
                    _ask("scancel", *(entry.id for entry in queued))
            raise
    return queued


def refuse_queued(path: Path) -> None:
    """Refuse to submit what is in the queue already: two jobs in one run folder would refuse each other.

    Raises:
        SchedulerError: SLURM still has jobs of the file, or does not answer.
        StorageError: the file cannot be read, or is none.
    """
    if not path.exists():
        return
    try:
        ids = SubmittedJobs.model_validate_json(read_text(path)).ids
    except ValidationError as error:
        raise StorageError(f"{path}: does not name jobs ({explain(error)}); delete it when none is queued") from error
    if jobs := still_queued(ids):
        raise SchedulerError(
            f"{path.parent.parent}: SLURM still has jobs of this run: {', '.join(jobs)}. Wait for them (squeue --me), or, "
            f"also where the first is held since its submission was interrupted, take them out: scancel {' '.join(jobs)}"
        )


def still_queued(ids: Iterable[str]) -> list[str]:
    """The ids of the jobs that SLURM still has, waiting or at work.

    Raises:
        SchedulerError: it does not answer.
    """
    # not asked one by one: of a job that it has forgotten SLURM says nothing but that the number is wrong
    queued = set(_ask("squeue", "--me", "--all", "--noheader", "--format=%F").split())
    return [job_id for job_id in ids if job_id in queued]


def _ask(*command: str) -> str:
    """What one of SLURM's programs says."""
    try:
        done = subprocess.run(
            command,
            env=own_environment(os.environ),
            capture_output=True,
            text=True,
            timeout=PATIENCE_SECONDS,
            check=False,
        )
    except OSError as error:
        raise SchedulerError(
            f"{command[0]} cannot be started ({error.strerror}): SLURM's programs are where its jobs are submitted from; give "
            "the command there. Without --submit it writes the scripts alone"
        ) from error
    except subprocess.TimeoutExpired as error:
        raise SchedulerError(f"{command[0]} has not answered for {PATIENCE_SECONDS} seconds. {ANSWERS}") from error
    if done.returncode:
        message = done.stderr.strip()
        remedy = f". {ANSWERS}" if UNREACHED.search(message) else ""
        raise SchedulerError(f"{command[0]} ended with exit code {done.returncode}: {message}{remedy}")
    return done.stdout


def own_environment(variables: Mapping[str, str]) -> dict[str, str]:
    """Variables without those of a job that the command is given in, which its own jobs would take for theirs."""
    of_a_job = ("SLURM_", "SBATCH_ARRAY", "SQUEUE_")
    return {name: value for name, value in variables.items() if name == "SLURM_CONF" or not name.startswith(of_a_job)}
