"""The day on which a run began, in its folder: chat templates are given it as long as the run goes on."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date, datetime
from pathlib import Path

from ..errors import StorageError
from ..models.dates import RunDate, dated, template_date
from ..storage import make_folder, read_text, write_text

DATE = "date.txt"
# where stages leave their files
WORK = ("receipts/*", "round-*/*", "evaluation/*/*")


def run_date(output: Path) -> RunDate:
    """The day of the run in a folder, or of the one that would begin there now: that of the command which it is a part of.

    A folder that was begun before runs had a date has the day of its first file, which no signature names: what is done there
    stays done.

    Raises:
        StorageError: the file of the date cannot be read, or holds none.
    """
    path = output / DATE
    if path.is_file():
        try:
            return RunDate(date.fromisoformat(read_text(path).strip()))
        except ValueError as error:
            raise StorageError(f"{path}: {error}; write the day on which the run began, such as 2026-11-28") from error
    begun = [file.stat().st_mtime for pattern in WORK for file in output.glob(pattern) if file.is_file()]
    if begun:
        return RunDate(datetime.fromtimestamp(min(begun)).astimezone().date(), is_signed=False)
    return RunDate(template_date().day)


@contextmanager
def dated_run(output: Path) -> Iterator[None]:
    """Give chat templates the day of the run, which begins today unless it has begun.

    The folder must be held.

    Raises:
        StorageError: as of `run_date`, or the file cannot be written.
    """
    run_day = run_date(output)
    if run_day.is_signed and not (output / DATE).exists():
        make_folder(output)
        write_text(output / DATE, f"{run_day.day.isoformat()}\n")
    with dated(run_day):
        yield
