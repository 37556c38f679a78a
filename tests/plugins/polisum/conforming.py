"""What of this plug-in is held to what every thing of its kind must do: see tests/conformance.py."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

from bad_input.good_files import Given, imported, written

from evenhand.plugins.polisum.importer import ReleasedItem, passages_of


def import_record_of(given: dict[str, Any]) -> dict[str, Any]:
    return asdict(passages_of(ReleasedItem.model_validate(given["record"])))


OPERATIONS = {"import_record": import_record_of}


def _import_polisum(folder: Path) -> Given:
    left, right = ["The ferry is cheap.", "Nurses need it."], ["The ferry is dear."]
    prompt = "Summarise one side.\n\nLeft:\n" + "\n".join(left) + "\n\nRight:\n" + "\n".join(right)
    items = [
        {"topic": "The Ferry", "stance": side, "input": prompt, "document": "\n".join(text)}
        for side, text in (("left", left), ("right", right))
    ]
    path = written(folder / "dev.json", items)
    return imported(folder, path, "json", "polisum", path)


FILES = {
    "polisum": _import_polisum,
}
