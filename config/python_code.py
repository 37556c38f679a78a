"""Code of the user's own that a recipe names: a function in a file, known by the file's SHA-256.

A recipe that a user names runs the code that it names. A run folder is a result, perhaps somebody else's: code that its
`recipe.yaml` names is run only by a command that was asked to (`--run-code`). What may run stands in the environment, by digest,
so that the processes of a command know it, and a file that changes meanwhile is no longer what was allowed.
"""

import hashlib
import math
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple

from pydantic import Field, StrictFloat

from ..errors import EvenhandError, RecipeError
from ..storage import as_given, local_path, read_bytes
from .layers import RESOLVED
from .methods import MethodSection
from .needs import AnyJudgeSection
from .section import Section

# set for children: SHA-256 of the files whose code may run, or ALL
RUN_CODE, ALL = "EVENHAND_RUN_CODE", "all"
# stands for the file of a function of a running Python
IN_MEMORY = Path("<in memory>")
# bytes of a file of code
MOST_CODE = 1 << 20
# beside one of these `recipe.yaml` is that of a run folder
OF_RUN = (".lock", "manifest.json", "date.txt", "round-00/receipts", "evaluation/base/receipts", "report/receipts")
# folders of a run that a recipe may lie below: RUN/shards/0-of-2, RUN/slurm
MOST_ABOVE = 3


class CodeFile(NamedTuple):
    """A function in a file, as the file was when it was read."""

    file: Path
    function: str
    # SHA-256 of the file
    digest: str
    # that one call may take
    seconds: float

    @property
    def label(self) -> str:
        """The function as messages name it."""
        return f"{self.file}:{self.function}"

    @property
    def may_run(self) -> bool:
        """Whether this command was asked to run it."""
        allowed = os.environ.get(RUN_CODE, "").split(",")
        return self.digest in allowed or ALL in allowed

    def refuse_unasked(self) -> None:
        """Refuse code that this command was not asked to run.

        Raises:
            RecipeError: it was not.
        """
        if not self.may_run:
            raise RecipeError(
                f"{self.label} (SHA-256 {self.digest[:16]}) is code that this command was not asked to run: a run folder's "
                "recipe names it, or the file was changed after the command began. Read the file; then --run-code runs it"
            )


class CodeSection(Section):
    """A function of the user's own."""

    # Python file; a relative path counts from where the command runs, as all paths of a recipe do
    file: Path
    # the function's name in the file
    function: str
    # seconds that one call may take
    seconds: float = Field(default=60.0, gt=0)

    def refuse(self) -> None:
        """A function has a name that Python can have."""
        super().refuse()
        if not self.function.isidentifier():
            raise ValueError(f"function {self.function!r} is no name of a function; write what stands behind `def`")

    def code(self) -> CodeFile:
        """The function, with the digest of its file now.

        Raises:
            RecipeError: the file cannot be read.
        """
        if self.file == IN_MEMORY:
            raise RecipeError(
                f"function {self.function!r} is in the memory of one Python process alone; write it into a file, and name that: "
                '{"kind": "python", "file": ..., "function": ..., ...}'
            )
        path = local_path(self.file)
        try:
            with as_given():
                data = read_bytes(path, MOST_CODE)
        except EvenhandError as error:
            raise RecipeError(str(error)) from error
        return CodeFile(path, self.function, hashlib.sha256(data).hexdigest(), self.seconds)


class PythonJudge(CodeSection, AnyJudgeSection):
    """A function of the user's own that scores a summary, or a batch of them."""

    kind: Literal["python"]
    reads_text = False
    # what the function is given beside the summary; nothing else can be written here
    against: Literal["request"] = "request"
    # which scores are better; null for a count that says nothing of quality
    better: Literal["higher", "lower"] | None
    # lowest and highest score that there can be; null where scores may be anything
    range: tuple[StrictFloat, StrictFloat] | None
    # what a score means and what it is blind to, for readers of reports
    means: str = Field(min_length=1)
    # requests whose candidates are one batch: what a function of batches is given, and what an interruption can lose
    requests_per_batch: int = Field(default=8, ge=1)

    @property
    def scale(self) -> tuple[float, float] | None:
        """Range of the scores as the user says it; None where it is left open."""
        return self.range

    @property
    def bases(self) -> list[str]:
        """The file."""
        return [f"the code {self.file}"]

    def refuse(self) -> None:
        """A range goes up."""
        super().refuse()
        if self.range is not None and not self.range[0] < self.range[1]:
            low, high = self.range
            raise ValueError(
                f"range [{low:g}, {high:g}] does not go up; write [LOWEST, HIGHEST], and which scores are better as "
                "better: higher or lower"
            )

    @property
    def bounds(self) -> tuple[float, float]:
        """The range, without bounds where there is none."""
        return self.range or (-math.inf, math.inf)


class PythonMethodSection(CodeSection, MethodSection):
    """A function of the user's own that says what is asked for a candidate, step by step."""

    @property
    def asks_again(self) -> bool:
        """Whether the method asks more than once, which a function of the user's own may."""
        return True

    def chosen(self) -> dict[str, Any]:
        """The code, wherever it lies."""
        return {"sha256": self.code().digest, "function": self.function}


def code_sections(recipe: Any) -> dict[str, CodeSection]:
    """Key of a recipe -> what it says there of code of the user's own."""
    judges: Mapping[str, Any] = getattr(recipe, "judges", {})
    sections = {f"judges.{name}": section for name, section in judges.items() if isinstance(section, CodeSection)}
    method = getattr(getattr(recipe, "generate", None), "code", None)
    return sections | ({"generate.code": method} if isinstance(method, CodeSection) else {})


def allow(sections: Iterable[CodeSection]) -> None:
    """Let this process and its children run code, as it is now; a file that is not there is told where it is needed."""
    allowed = dict.fromkeys(filter(None, os.environ.get(RUN_CODE, "").split(",")))
    for section in sections:
        try:
            allowed[section.code().digest] = None
        except EvenhandError:
            continue
    if allowed:
        os.environ[RUN_CODE] = ",".join(allowed)


def allow_all() -> None:
    """Let this process and its children run whatever code a recipe names."""
    os.environ[RUN_CODE] = ALL


def is_of_run(path: Path) -> bool:
    """Whether a recipe's file is that of a run folder, or a copy in it."""
    above = path.resolve().parents[:MOST_ABOVE]
    return any((folder / RESOLVED).is_file() and any((folder / name).exists() for name in OF_RUN) for folder in above)


def may_run(recipe: Any) -> bool:
    """Whether a recipe names code, and all of it may run."""
    sections = code_sections(recipe).values()
    return bool(sections) and all(section.code().may_run for section in sections)
