"""The vectors of the opinion-bias specification: one test a case, named by its id. "NaN" stands for undefined."""

import json
from pathlib import Path
from typing import Any

import pytest
from spec.operations import plain
from spec.opinion_operations import OPERATIONS
from spec.test_vectors import differences

VECTORS = json.loads((Path(__file__).parent / "vectors" / "opinion_bias.json").read_text(encoding="utf-8"))
RAISED = {"ValueError": ValueError}


def defined(value: Any) -> Any:
    """The value with "NaN" as None."""
    if isinstance(value, dict):
        return {key: defined(each) for key, each in value.items()}
    if isinstance(value, list):
        return [defined(each) for each in value]
    return None if value == "NaN" else value


@pytest.mark.parametrize("case", [pytest.param(case, id=case["id"]) for case in VECTORS["cases"]])
def test_vector(case: dict[str, Any]) -> None:
    assert "requires" not in case, "no case needed a resource when this was written"
    given = case["params"] | case["input"]
    if "raises" in case["expected"]:
        with pytest.raises(RAISED[case["expected"]["raises"]]):
            OPERATIONS[case["op"]](given)
        return
    found = plain(OPERATIONS[case["op"]](given))
    tolerance = case.get("tol", VECTORS["default_tolerance"])
    assert not differences(found, defined(case["expected"]), tolerance)


def test_every_operation_has_a_case():
    assert {case["op"] for case in VECTORS["cases"]} == set(OPERATIONS)
