"""A process of its own for a function of the user's: `python -m evenhand.runfolder.python_code FAILURE FILE DIGEST FUNCTION`.

It is a `LocalWorker` as a replica's is: a line of JSON is a call, and its answer another. What the function prints goes to
standard error. A call that takes too long ends the process with all that it started; the next call starts another.
"""

import hashlib
import inspect
import json
import os
import signal
import subprocess
import sys
import threading
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType
from typing import Any

from ..config.python_code import MOST_CODE, CodeFile
from ..errors import EvenhandError, JudgeError, RecipeError
from ..storage import read_bytes
from ..text import did_you_mean, some_of
from .own_functions import MOST_TEXT, Answer, CallForm, Refused, answers, calling
from .workers import Command, LocalWorker, as_child

# seconds that a file has to be imported
START_SECONDS = 120.0
# calls in a row that end the process, until no other is started
MOST_IN_A_ROW = 3
# seconds that a process has to end when it says nothing more
CLOSED_SECONDS = 2.0


class CodeProcess(LocalWorker):
    """A process in which calls of a function are made, one after another; the first call starts it.

    Args:
        code: the function.
        forms: in which it may be called.
        owner: whose it is, as errors begin: "judge 'mine'".
        error: what is raised where it cannot work.
    """

    def __init__(
        self, code: CodeFile, forms: Sequence[CallForm], owner: str, error: type[EvenhandError] = JudgeError
    ) -> None:
        super().__init__()
        self._code, self._forms, self._owner, self._error = code, forms, owner, error
        self._folder: TemporaryDirectory[str] | None = None
        self._n_ended = 0
        self.is_batch = False

    def start(self) -> None:
        """Import the file and look at the function, unless that was done.

        Raises:
            RecipeError: it cannot be imported, the function is not there or has other parameters, or nobody asked to run it.
            JudgeError: the process ended or did not come to its end.
        """
        if self._folder is not None:
            return
        self._code.refuse_unasked()
        self._folder = TemporaryDirectory(ignore_cleanup_errors=True)
        failure = Path(self._folder.name) / "failure.json"
        arguments = (
            str(failure),
            str(self._code.file),
            self._code.digest,
            self._code.function,
            json.dumps(self._forms),
        )
        self.begin(Command(("-m", __name__, *arguments), failure))
        answer, is_late = self._timed(None, START_SECONDS)
        if answer is None:
            how = self._end(is_late, START_SECONDS)
            raise self._error(f"{self._owner}: {self._code.file} could not be imported: its process {how}")
        self.is_batch = answer["is_batch"]

    def call(self, rows: Sequence[Any]) -> list[Answer]:
        """What the function says of rows of JSON, in one call of a batch or one call for each.

        Raises:
            JudgeError: the process ended at several calls in a row.
            RecipeError: as of `start`.
        """
        self.start()
        if self.is_batch:
            return self._asked(rows)
        return [answer for row in rows for answer in self._asked([row])]

    def _asked(self, rows: Sequence[Any]) -> list[Answer]:
        self.start()
        answer, is_late = self._timed(json.dumps(rows).encode() + b"\n", self._code.seconds)
        if answer is not None:
            self._n_ended = 0
            return list(answer)
        self._n_ended += 1
        how = self._end(is_late, self._code.seconds)
        if self._n_ended == MOST_IN_A_ROW:
            raise self._error(
                f"{self._owner}: the process of {self._code.label} {how}, at {MOST_IN_A_ROW} calls in a row. What was done "
                "before is kept, and the same command continues; mend the function, or raise `seconds`"
            )
        return [["fault", f"the function's process {how}", None]] * len(rows)

    def _timed(self, message: bytes | None, seconds: float) -> tuple[Any, bool]:
        """The next answer, None when the process ended; and whether it was ended because it took so long."""
        timeout = threading.Event()

        def end() -> None:
            timeout.set()
            self.kill()

        timer = threading.Timer(min(seconds, threading.TIMEOUT_MAX), end)
        timer.daemon = True
        timer.start()
        try:
            answer = self._answer() if message is None or self._tell(message) else None
        finally:
            timer.cancel()
            timer.join()
        if answer is not None and timeout.is_set():
            # it was just in time, and is gone
            self.stop()
        return answer, timeout.is_set()

    def _end(self, is_late: bool, seconds: float) -> str:
        """Leave a process that said nothing more; how it ended.

        Raises:
            EvenhandError: what it refused.
        """
        # one that closed its output may go on
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(CLOSED_SECONDS)
        self.kill()
        try:
            how = self.death().how
        finally:
            self.stop()
        return f"gave no answer within {seconds:g} s" if is_late else how

    def kill(self) -> None:
        """End it at once, with all that it has started."""
        if self._begun is not None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)
        super().kill()

    def stop(self) -> None:
        """End it, if it was started; the next call starts another."""
        self.close()
        if self._folder is not None:
            self._folder.cleanup()
        self._begun = self._folder = None


def imported(file: Path, digest: str, function: str) -> Any:
    """A function from a file of code, if that is still what it was.

    Raises:
        RecipeError: it is not, cannot be imported, or has no such function.
    """
    data = read_bytes(file, MOST_CODE)
    if hashlib.sha256(data).hexdigest() != digest:
        raise RecipeError(
            f"{file}: was changed while the command ran; give the command again, which judges anew by the new code"
        )
    module = ModuleType(f"evenhand_code_{digest[:8]}")
    module.__file__ = str(file)
    sys.modules[module.__name__] = module
    # behind all libraries, so that no file beside it takes the place of one
    sys.path.append(str(file.resolve().parent))
    try:
        exec(compile(data, str(file), "exec"), module.__dict__)  # noqa: S102 (it is what this process is for)
    except SyntaxError as error:
        raise RecipeError(f"{error.filename}:{error.lineno}: is no Python: {error.msg}") from error
    except (Exception, SystemExit) as error:
        lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(file)]
        place = f"{file}:{lines[-1]}" if lines else str(file)
        message = f"{type(error).__name__}: {str(error)[:MOST_TEXT]}"
        raise RecipeError(f"{place}: cannot be imported: {message}{_library(error)}") from error
    if not hasattr(module, function):
        known = [
            name
            for name, member in vars(module).items()
            if inspect.isfunction(member) and member.__module__ == module.__name__
        ]
        has = f" It has {some_of(known)}" if known else ""
        raise RecipeError(f"{file}: has no function {function!r}{did_you_mean(function, known)}{has}")
    return getattr(module, function)


def _library(error: BaseException) -> str:
    if not isinstance(error, ModuleNotFoundError) or not error.name:
        return ""
    return f"; install it into the Python that runs evenhand, {sys.executable}"


def main(arguments: Sequence[str]) -> int:
    """Be the process; the exit code."""
    failure, file, digest, function, forms = arguments
    # all that the function starts ends with it
    os.setpgid(0, 0)

    def work(messages: Iterator[Any], answer: Callable[[Any], object]) -> None:
        label = f"{file}:{function}"
        try:
            call = calling(
                imported(Path(file), digest, function), label, [CallForm(*form) for form in json.loads(forms)]
            )
        except Refused as error:
            raise RecipeError(str(error)) from error
        answer({"is_batch": call.form.is_batch})
        for rows in messages:
            answer(answers(call, rows))

    return as_child(work, Path(failure))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
