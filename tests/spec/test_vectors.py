"""Test vectors of the papers' measures (docs/papers.md): one test a case, named by its id.

`EVENHAND_VECTORS`, one or more JSON files separated by colons, takes the place of the project's copies.
"""

import math
import os
from pathlib import Path
from typing import Any

import pytest
from spec.operations import plain
from spec.vector_sets import FOLDER, OURS, Case, read_file


def files() -> list[Path]:
    """The files that are run.

    Raises:
        ValueError: the variable is set and names no file, or something that is none.
    """
    named = os.environ.get("EVENHAND_VECTORS")
    if named is None or named == "":
        return [*OURS]
    found = [Path(name) for name in named.split(":") if name]
    if not found:
        raise ValueError(f"EVENHAND_VECTORS is {named!r} and names no file; give JSON files with colons between them")
    wrong = [f"{path} is {'a folder' if path.is_dir() else 'not there'}" for path in found if not path.is_file()]
    if wrong:
        raise ValueError(f"EVENHAND_VECTORS: {', '.join(wrong)}; give JSON files with colons between them")
    return found


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


@pytest.mark.parametrize(
    "case",
    [
        pytest.param(case, id=case.id, marks=pytest.mark.needs(*case.needs) if case.needs else ())
        for file in files()
        for case in read_file(file)
    ],
)
def test_vector(case: Case, request: pytest.FixtureRequest) -> None:
    assert case.op in case.operations, f"operation {case.op!r} is not known"
    case.require()
    operation = case.operations[case.op]
    fixtures = [request.getfixturevalue(name) for name in case.fixtures]
    if case.raises is not None:
        error, message = case.raises
        with pytest.raises(error, match=message or None):
            operation(case.given, *fixtures)
        return
    assert not differences(plain(operation(case.given, *fixtures)), case.expected, case.tolerance)


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


def test_every_operation_has_vectors_in_the_projects_copies() -> None:
    cases = [case for path in OURS for case in read_file(path)]
    assert {case.op for case in cases} == {op for case in cases for op in case.operations}


def test_variable_that_names_no_file_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVENHAND_VECTORS", ":")
    with pytest.raises(ValueError, match="names no file"):
        files()


def test_variable_that_names_a_folder_or_nothing_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVENHAND_VECTORS", f"{FOLDER}:{FOLDER / 'none.json'}")
    with pytest.raises(ValueError, match=r"vectors is a folder, \S*none.json is not there; give JSON files"):
        files()
