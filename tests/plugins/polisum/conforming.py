"""What of this plug-in is held to what every thing of its kind must do: see tests/conformance.py."""

from dataclasses import asdict
from typing import Any

from evenhand.plugins.polisum.importer import ReleasedItem, passages_of

Given = dict[str, Any]


def import_record_of(given: Given) -> Given:
    return asdict(passages_of(ReleasedItem.model_validate(given["record"])))


OPERATIONS = {"import_record": import_record_of}
