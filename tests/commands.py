"""Commands, run in this process or in one of their own."""

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from click.testing import Result
from typer.testing import CliRunner

from evenhand.cli.app import app
from evenhand.errors import EvenhandError


@dataclass(frozen=True)
class Done:
    """Exit code of a command, and its output."""

    returncode: int
    stdout: str
    stderr: str


def invoked(*arguments: object, **environment: str) -> Result:
    """The result of a command; its error is raised."""
    done = CliRunner().invoke(app, [*map(str, arguments)], env=environment)
    if done.exception and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done


def ended(*arguments: object, **environment: str) -> Done:
    """The end of a command; a refusal is what it writes to stderr."""
    done = CliRunner().invoke(app, [*map(str, arguments)], env={"COLUMNS": "100", **environment})
    if isinstance(done.exception, EvenhandError):
        return Done(done.exception.exit_code, done.stdout, str(done.exception))
    if done.exception and not isinstance(done.exception, SystemExit):
        raise done.exception
    return Done(done.exit_code, done.stdout, done.stderr)


def started(*arguments: object, cwd: Path | None = None, **environment: str) -> "subprocess.CompletedProcess[str]":
    """A command in a process of its own, 100 columns wide, after its end; nobody answers its questions."""
    return subprocess.run(
        [sys.executable, "-m", "evenhand", *map(str, arguments)],
        env={**os.environ, "COLUMNS": "100", "NO_COLOR": "1", **environment},
        cwd=cwd, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
    )  # fmt: skip
