"""What of this plug-in is held to what every thing of its kind must do: see tests/conformance.py."""

from typing import Any


def read_case(*case: Any) -> Any:
    import opinion_operations

    return opinion_operations.read_case(*case)


VECTORS = {"opinion-bias": read_case}
