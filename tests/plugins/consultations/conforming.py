"""What of this plug-in is held to what every thing of its kind must do: see tests/conformance.py."""

from collections import Counter
from pathlib import Path

from bad_input.good_files import Given, written

from evenhand.plugins.consultations.votes import read_votes

VOTE = {"set_id": "fares", "document": "0", "voter": "1", "group": "town", "vote": 1}


def _votes(folder: Path) -> Given:
    path = written(folder / "votes.jsonl", VOTE, VOTE | {"voter": "2", "group": None, "vote": 0})
    return Given(path, "jsonl", read=lambda: read_votes(path, Counter()))


FILES = {"votes": _votes}
