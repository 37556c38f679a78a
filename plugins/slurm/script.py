"""Words of job scripts: the one place where a value becomes text that bash or sbatch reads.

sbatch reads its own lines itself, and takes a backslash for an escape inside quotes too, which bash does not. What no quotes
can hold, a line break or another control character, is refused before a script is written.
"""

import re
import shlex
from collections.abc import Iterable, Mapping, Sequence

from ...config.section import control_character
from ...errors import RecipeError
from ...text.mistakes import listed

# folder of job scripts in the run folder, and of what jobs say there
SLURM, LOGS = "slurm", "logs"
# an option of sbatch with its value, if any, as it stands in a script
OPTION = re.compile(r"(--[a-z][a-z-]*)(=.+)?|(-[A-Za-z])\S*")
# another one in the same argument; GPUs by another name
SECOND, GPUS = re.compile(r"\s--[a-z]"), re.compile(r"--(gres|tres-per-(task|node))=(.*\W)?gpu\b")
# option that the scripts or `submit` set, or without which jobs would not be these -> what to write instead
OWN = {
    **dict.fromkeys(("--array", "-a"), "--shards N says how many tasks there are"),
    **dict.fromkeys(("--nodes", "-N"), "write --nodes N without --sbatch"),
    **dict.fromkeys(
        ("--gpus", "-G", "--gpus-per-node", "--gpus-per-task", "--gpus-per-socket"),
        "write --gpus-per-node N without --sbatch",
    ),
    **dict.fromkeys(
        ("--ntasks", "-n", "--ntasks-per-node", "--ntasks-per-core", "--ntasks-per-gpu", "--ntasks-per-socket"),
        "a node has one task, which starts a process for each GPU",
    ),
    **dict.fromkeys(("--output", "-o", "--error", "-e", "--open-mode"), f"what jobs say lies in OUTPUT/{SLURM}/{LOGS}"),
    **dict.fromkeys(("--job-name", "-J"), "jobs have the names of their steps"),
    **dict.fromkeys(("--chdir", "-D"), "jobs work where the command is given"),
    **dict.fromkeys(
        ("--dependency", "-d", "--kill-on-invalid-dep", "--hold", "-H"), "each job waits for the one before it"
    ),
    **dict.fromkeys(("--clusters", "-M"), "jobs are submitted to the cluster of this machine; give the command there"),
    **dict.fromkeys(("--requeue", "--no-requeue"), "jobs are queued again, and go on"),
    **dict.fromkeys(
        (
            "--parsable",
            "--quiet",
            "-Q",
            "--test-only",
            "--wait",
            "-W",
            "--wrap",
            "--help",
            "-h",
            "--usage",
            "--version",
            "-V",
        ),
        "what sbatch answers is read: --submit",
    ),
}
# a program whose name bash cannot take for a keyword, an assignment or a command of its own
PROGRAM = re.compile(r"[A-Za-z0-9_.+-]*/[A-Za-z0-9_./+-]*|srun")


def refuse_words(words: Mapping[str, Iterable[str]]) -> None:
    """Refuse words that cannot stand in a script.

    Args:
        words: by the key or option that they come from.

    Raises:
        RecipeError: one has a line break, another control character, or bytes that are no text; all are listed.
    """
    wrong = [
        f"{place}: {word!r} has {character}, which a job script cannot hold; write a name without it"
        for place, texts in words.items()
        for word in texts
        if (character := control_character(word))
    ]
    if wrong:
        raise RecipeError(listed(wrong))


def refuse_options(options: Iterable[str]) -> None:
    """Refuse options of sbatch that are none, or would undo what the scripts rest on.

    Raises:
        RecipeError: which those are; all are listed.
    """
    mistakes = []
    for option in options:
        match = OPTION.fullmatch(option)
        if character := control_character(option):
            mistakes.append(f"--sbatch {option!r}: contains {character}, which a job script cannot hold; leave it out")
        elif match is None or SECOND.search(option):
            mistakes.append(
                f"--sbatch {option!r}: is not one option of sbatch; write --name=value, such as --partition=gpu, each behind "
                "its own --sbatch"
            )
        elif GPUS.match(option):
            mistakes.append(f"--sbatch {option!r}: asks for GPUs; write --gpus-per-node N without --sbatch")
        else:
            # sbatch takes the beginning of a name for the name
            name = match[1] or match[3]
            evenhand_key = next((key for key in OWN if key == name or (match[1] and key.startswith(name))), None)
            mistakes += (
                [f"--sbatch {option!r}: {evenhand_key} is set by evenhand: {OWN[evenhand_key]}"] if evenhand_key else []
            )
    if mistakes:
        raise RecipeError(listed(mistakes))


def option_line(option: str) -> str:
    """The line of a script that gives sbatch an option, as one word."""
    # a backslash outside of quotes, and nothing else there, is the same to sbatch and to a shell
    return "#SBATCH " + "\\\\".join(map(shlex.quote, option.split("\\")))


def command_line(words: Sequence[str]) -> str:
    """The line of a script that runs a command with exactly these words."""
    program, *arguments = words
    name = program if PROGRAM.fullmatch(program) else "'" + program.replace("'", "'\"'\"'") + "'"
    return " ".join([name, *map(shlex.quote, arguments)])
