"""What a part finds, row by row, and what becomes of it. Written after each row: a part that is stopped leaves what it had."""

import logging
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ...errors import EvenhandError, MissingExtra
from ...extras import installed_versions
from ...runfolder.stages import RECORDED
from ...storage import write_json
from ..report import machine

log = logging.getLogger(__name__)

PASSED, FAILED, NOT_HERE = "passed", "failed", "not here"
# 77 is what test harnesses take for "skipped"
CODES = {PASSED: 0, FAILED: 1, NOT_HERE: 77}
# how evenhand, libraries and kernels refuse; one row's refusal ends no other row
REFUSALS = (
    EvenhandError, ArithmeticError, AssertionError, AttributeError, LookupError, OSError, RuntimeError, TypeError, ValueError,
)  # fmt: skip


class NotHere(Exception):
    """This machine cannot do it; the text says why."""


class Rows:
    """What a part found."""

    def __init__(self, path: Path, part: str, *, is_tiny: bool) -> None:
        self.path, self._head = path, {"part": part, "tiny": is_tiny}
        self.rows: list[dict[str, Any]] = []

    @property
    def state(self) -> str:
        """Failed if any row is, "not here" if all are."""
        states = {row["state"] for row in self.rows}
        return FAILED if FAILED in states or not states else PASSED if PASSED in states else NOT_HERE

    def check(self, name: str, work: Callable[[], Mapping[str, Any]]) -> None:
        """Add a row: the figures that `work` returns. It raises `NotHere`, or whatever is wrong."""
        found: dict[str, Any]
        try:
            found = {"state": PASSED, **work()}
        except (NotHere, MissingExtra) as reason:
            found = {"state": NOT_HERE, "reason": str(reason)}
        except REFUSALS as error:
            log.exception("%s", name)
            first = next(iter(str(error).splitlines()), "")
            found = {"state": FAILED, "reason": f"{type(error).__name__}: {first}"}
        self.rows.append({"name": name, **found})
        log.info("%s: %s %s", name, found["state"], found.get("reason", ""))
        self.write()

    def write(self) -> None:
        """Write what there is."""
        made_with = {"machine": machine(), "versions": installed_versions(RECORDED)}
        write_json(self.path, self._head | {"state": self.state, "rows": self.rows} | made_with)
