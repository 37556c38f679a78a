"""The vectors of the seed paper's specification, section 17: one test a case, named by its id.

`EVENHAND_VECTORS`, one or more JSON files separated by colons, takes the place of the project's copy.
"""

import json
import math
import os
from pathlib import Path
from typing import Any

import pytest
from spec.operations import FIXTURES, OPERATIONS, plain

from evenhand.errors import EvenhandError

OURS = Path(__file__).parent / "vectors" / "core.json"


def read_cases() -> list[Any]:
    """The cases of all files, each with its tolerance."""
    files = [Path(name) for name in os.environ.get("EVENHAND_VECTORS", "").split(":") if name] or [OURS]
    return [
        pytest.param(case, case.get("tol", vectors["default_tol"]), id=case["id"])
        for file in files
        for vectors in [json.loads(file.read_text(encoding="utf-8"))]
        for case in vectors["cases"]
    ]


def differences(found: Any, expected: Any, tolerance: float, place: str = "") -> list[str]:
    """Where `found` is not what was expected; keys that nothing is said about may have any value."""
    if isinstance(expected, dict):
        if not isinstance(found, dict) or not expected.keys() <= found.keys():
            return [f"{place}: {found!r} has not the keys {sorted(expected)}"]
        return [d for key, each in expected.items() for d in differences(found[key], each, tolerance, f"{place}.{key}")]
    if isinstance(expected, list):
        if not isinstance(found, list) or len(found) != len(expected):
            return [f"{place}: {found!r} is not {expected!r}"]
        pairs = zip(found, expected, strict=True)
        return [d for i, (f, e) in enumerate(pairs) for d in differences(f, e, tolerance, f"{place}[{i}]")]
    if is_number(expected) and is_number(found):
        same = math.isclose(found, expected, rel_tol=0.0, abs_tol=tolerance)
    else:
        same = type(found) is type(expected) and found == expected
    return [] if same else [f"{place}: {found!r} is not {expected!r} (tolerance {tolerance})"]


def is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


@pytest.mark.parametrize(("case", "tolerance"), read_cases())
def test_vector(case: dict[str, Any], tolerance: float, request: pytest.FixtureRequest) -> None:
    assert case["op"] in OPERATIONS, f"operation {case['op']!r} is not known"
    fixtures = [request.getfixturevalue(name) for name in FIXTURES.get(case["op"], ())]
    code = case["expect"].get("error")
    if code is not None:
        with pytest.raises(EvenhandError, match=f"^{code}\\b"):
            OPERATIONS[case["op"]](case["input"], *fixtures)
        return
    found = plain(OPERATIONS[case["op"]](case["input"], *fixtures))
    assert not differences(found, case["expect"], tolerance)


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        ({"a": 1.0}, {"a": 1.1}),
        ({"a": None}, {"a": 0.0}),
        ({"a": 0.0}, {"a": None}),
        ({"a": True}, {"a": 1}),
        ({"a": [1, 2]}, {"a": [2, 1]}),
        ({"a": [1]}, {"a": [1, 2]}),
        ({}, {"a": None}),
        ({"a": float("nan")}, {"a": 1.0}),
    ],
)
def test_runner_sees_a_difference(found: Any, expected: Any) -> None:
    assert differences(found, expected, 1e-6)


def test_runner_knows_every_operation_of_the_projects_copy() -> None:
    assert {case["op"] for case in json.loads(OURS.read_text(encoding="utf-8"))["cases"]} == set(OPERATIONS)
