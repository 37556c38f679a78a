"""The vectors of the group-fairness specification: one test a case, named by its id."""

import json
from pathlib import Path
from typing import Any

import pytest
from spec.groups_operations import OPERATIONS
from spec.test_vectors import differences

from evenhand.errors import DataError
from evenhand.fairness.groups.nltk_data import open_nltk
from evenhand.fairness.groups.tokens import RESOURCES

VECTORS = json.loads((Path(__file__).parent / "vectors" / "group_fairness.json").read_text(encoding="utf-8"))
TOLERANCES = VECTORS["absolute_tolerance"]
# what a case requires -> the data of NLTK that it is
RESOURCES_OF = {"nltk_pipeline": RESOURCES, "punkt": ("punkt_tab",), "vader_lexicon": ("vader_lexicon",)}
# expectations that leave open what an undefined number is
ABSENT = {"value_minus_overall"}
NAN_WHEN_RELEASED = {"pow_chosen", "pow_rejected"}


def answer(key: str, expected: Any, beside: dict[str, Any]) -> Any:
    """What evenhand answers where the file gives the released answer or none."""
    if isinstance(expected, dict):
        return {name: answer(name, each, expected) for name, each in expected.items()}
    if key in ABSENT:
        return [each if n else None for each, n in zip(expected, beside["value_count"], strict=True)]
    if key in NAN_WHEN_RELEASED:
        return [1.0 if each is None else each for each in expected]
    return sorted(expected) if key == "value_mean_shortfall_in_first_seen_order" else expected


@pytest.mark.parametrize("case", [pytest.param(case, id=case["id"]) for case in VECTORS["cases"]])
def test_vector(case: dict[str, Any]) -> None:
    for resource in case.get("requires", ()):
        try:
            open_nltk("the vectors", RESOURCES_OF[resource])
        except DataError as error:
            pytest.skip(str(error))
    found = OPERATIONS[case["op"]](case["inputs"])
    tolerance = TOLERANCES.get(case["op"], TOLERANCES["default"])
    assert not differences(found, answer("", case["expected"], {}), tolerance)


def test_operations_are_those_of_the_file() -> None:
    assert {case["op"] for case in VECTORS["cases"]} == set(OPERATIONS)
