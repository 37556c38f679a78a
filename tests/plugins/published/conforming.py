"""What of this plug-in is held to what every thing of its kind must do: see tests/conformance.py."""

from typing import Any

from evenhand.plugins.published.bounds import greedy_equal_coverage

Given = dict[str, Any]


def greedy_of(given: Given) -> Given:
    found = {}
    for bound in ("lower", "upper"):
        result = greedy_equal_coverage(given["coverage"], given["labels"], given["max_sentences"], bound)
        found[bound] = {"selected": list(result.selected), "trace": list(result.trace), "ec": result.last}
    return found


OPERATIONS = {"greedy_bounds": greedy_of}
