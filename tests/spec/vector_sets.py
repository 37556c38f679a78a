"""The files of vectors, of four kinds: how each is told from the others, and how its cases are read."""

import json
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from conformance import PLUGINS, of_plugins
from spec import groups_operations, operations

from evenhand.errors import EvenhandError

FOLDER = Path(__file__).parent / "vectors"
# those of the core, and those that plug-ins bring
OURS = (*sorted(FOLDER.glob("*.json")), *sorted(PLUGINS.rglob("vectors.json")))
# texts that stand for what JSON cannot write
SPECIAL = {"NaN": None, "Infinity": math.inf}
# what a case of the groups requires -> the need that it is, see tests/needs.py
NEEDS = dict.fromkeys(("nltk_pipeline", "punkt", "vader_lexicon"), "nltk")
# expectations of the groups that leave open what an undefined number is
ABSENT = {"value_minus_overall"}
ONE_WHEN_UNDEFINED = {"pow_chosen", "pow_rejected"}
UNORDERED = "value_mean_shortfall_in_first_seen_order"


@dataclass(frozen=True)
class Case:
    """A case in the form that the runner knows."""

    id: str
    op: str
    operations: dict[str, Callable[..., Any]]
    given: dict[str, Any]
    expected: Any
    tolerance: float
    # what has to be raised instead, and how its message begins
    raises: tuple[type[Exception], str] | None = None
    # fixtures of pytest that the operation takes
    fixtures: tuple[str, ...] = ()
    # names of tests/needs.py
    needs: tuple[str, ...] = ()
    # skips the case when a package that it requires is absent
    require: Callable[[], None] = field(default=lambda: None)


def read_file(path: Path) -> list[Case]:
    """The cases of a file of any of the four kinds."""
    vectors = json.loads(path.read_text(encoding="utf-8"))
    read = READERS.get(vectors.get("spec") or vectors.get("title") or str(vectors.get("schema")).partition("/")[0])
    if read is None:
        raise ValueError(f"{path}: holds vectors of a kind that is not known")
    return [read(case, vectors) for case in vectors["cases"]]


def _core(case: dict[str, Any], vectors: dict[str, Any]) -> Case:
    code = case["expect"].get("error")
    return Case(
        id=case["id"],
        op=case["op"],
        operations=operations.OPERATIONS,
        given=case["input"],
        expected=case["expect"],
        tolerance=case.get("tol", vectors["default_tol"]),
        raises=(EvenhandError, rf"^{code}\b") if code is not None else None,
        fixtures=tuple(operations.FIXTURES.get(case["op"], ())),
    )


def _group_fairness(case: dict[str, Any], vectors: dict[str, Any]) -> Case:
    tolerances = vectors["absolute_tolerance"]
    return Case(
        id=case["id"],
        op=case["op"],
        operations=groups_operations.OPERATIONS,
        given=case["inputs"],
        expected=_answer("", case["expected"], {}),
        tolerance=tolerances.get(case["op"], tolerances["default"]),
        fixtures=groups_operations.FIXTURES.get(case["op"], ()),
        needs=tuple(NEEDS[name] for name in case.get("requires", ())),
    )


READERS = {
    "evenhand-core-vectors": _core,
    "Group-fairness test vectors": _group_fairness,
    **of_plugins("VECTORS"),
}


def read_special(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: read_special(each) for key, each in value.items()}
    if isinstance(value, list):
        return [read_special(each) for each in value]
    return SPECIAL.get(value, value) if isinstance(value, str) else value


def _answer(key: str, expected: Any, beside: dict[str, Any]) -> Any:
    """What evenhand answers where the file gives the released answer or none."""
    if isinstance(expected, dict):
        return {name: _answer(name, each, expected) for name, each in expected.items()}
    if key in ABSENT:
        return [each if n else None for each, n in zip(expected, beside["value_count"], strict=True)]
    if key in ONE_WHEN_UNDEFINED:
        return [1.0 if each is None else each for each in expected]
    return sorted(expected) if key == UNORDERED else expected
