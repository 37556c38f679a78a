"""Options of a library that a recipe passes on as they stand."""

import json
from typing import Annotated, Any

from pydantic import AfterValidator


def _json_can_hold(values: dict[str, Any]) -> dict[str, Any]:
    for key, value in values.items():
        try:
            json.dumps(value, allow_nan=False)
        except (TypeError, ValueError) as error:
            raise ValueError(
                f"{key} is {value!r}, which JSON cannot hold; write a plain number, text or list"
            ) from error
    return values


# options of a library that are passed on as they stand
Keywords = Annotated[dict[str, Any], AfterValidator(_json_can_hold)]
