"""A run that lies in a folder, opened for a look at what it made."""

from collections.abc import Iterator
from functools import cached_property
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ..config import Recipe
from ..config.recipe_file import load_recipe
from ..errors import RecipeError, StorageError
from ..evaluation.report.checkpoint.provenance import REPORT
from ..evaluation.report.checkpoint.report import JSON, read_report
from ..records import Candidate, Judgement, PreferencePair, SummaryRequest
from ..runfolder.phases import ADAPTER, CANDIDATES, JUDGEMENTS, PAIRS, REQUESTS, RESOLVED, Phase, phases
from ..storage import local_path, read_jsonl
from .results import Candidates, Judgements, Numbers, Pairs

Rows = list[dict[str, Any]]


class Run:
    """What a run made, read when it is asked for; a table is a data frame where pandas is installed, else a list of rows."""

    def __init__(self, folder: Path, recipe: Recipe) -> None:
        self.folder, self.recipe = folder, recipe

    @cached_property
    def candidates(self) -> Any:
        """A row for each candidate of each phase, with the scores of its judges and why some are missing."""
        return _frame([row for phase in self._phases(CANDIDATES) for row in _candidate_rows(phase)])

    @cached_property
    def pairs(self) -> Any:
        """A row for each preference pair that a round was trained on."""
        return _frame(
            [
                {"phase": phase.name, **row}
                for phase in self._phases(PAIRS)
                for row in Pairs(read_jsonl(phase.folder / PAIRS, PreferencePair), {}).rows()
            ]
        )

    @cached_property
    def report(self) -> Any:
        """A row for each number of the report.

        Raises:
            StorageError: there is no report yet.
            DataError: it is not a report of this version.
        """
        if not (self.folder / REPORT / JSON).is_file():
            raise StorageError(f"{self.folder}: has no report yet; the command that began the run goes on with it")
        report = read_report(self.recipe)
        return _frame(Numbers(report.scores, report, self.folder / REPORT).rows())

    @property
    def adapter(self) -> Path | None:
        """Folder of the adapter that the last trained round ended with; None where nothing was trained."""
        trained = [phase.folder / ADAPTER for phase in phases(self.recipe) if (phase.folder / ADAPTER).is_dir()]
        return trained[-1] if trained else None

    def __repr__(self) -> str:
        return f"<run {self.recipe.name} in {self.folder}>"

    def _phases(self, file: str) -> Iterator[Phase]:
        """The phases that have this file, in their order."""
        return (phase for phase in phases(self.recipe) if (phase.folder / file).is_file())


def open_run(folder: str | Path) -> Run:
    """The run that lies in a folder, finished or not, wherever the folder was moved to; nothing is run.

    Raises:
        RecipeError: no run lies there, or its recipe is of another version.
    """
    path = local_path(str(folder))
    if not (path / RESOLVED).is_file():
        nested = [str(file.parent) for file in sorted(path.glob(f"*/{RESOLVED}"))]
        remedy = (
            f"open one of {', '.join(nested)}" if nested else "`evenhand loop RECIPE` or evenhand.run(RECIPE) makes one"
        )
        raise RecipeError(f"{folder}: no run lies there, which would have {RESOLVED}; {remedy}")
    return Run(path, load_recipe(path / RESOLVED).model_copy(update={"output": path}))


def _candidate_rows(phase: Phase) -> Rows:
    requests = read_jsonl(phase.folder / REQUESTS, SummaryRequest)
    candidates = Candidates(read_jsonl(phase.folder / CANDIDATES, Candidate), requests, phase.recipe)
    file = phase.folder / JUDGEMENTS
    judgements = Judgements(read_jsonl(file, Judgement) if file.is_file() else (), candidates, phase.recipe)
    return [
        {"phase": phase.name, **row, **{key: score for key, score in of_judges.items() if key not in row}}
        for row, of_judges in zip(candidates.rows(), judgements.rows(), strict=True)
    ]


def _frame(rows: Rows) -> Any:
    """The rows as a data frame where pandas is installed."""
    if find_spec("pandas") is None:
        return rows
    return import_module("pandas").DataFrame(rows)
