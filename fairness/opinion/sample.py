"""Invented posts for and against closing a street to cars: something to run the opinion measures and biased batches on."""

from importlib.resources import as_file, files

from ...records import Record, Text
from ...storage import read_jsonl


class SampleUnit(Record):
    """One post."""

    text: Text
    # which side it takes: "for", "against" or "neutral"
    group: Text
    # the one thing it says, as its author meant it
    opinion: Text


def read_sample() -> list[SampleUnit]:
    """36 posts of 14, 14 and 8 of the groups "for", "against" and "neutral", with three, three and one opinions.

    Written for this project; places and people are made up.
    """
    with as_file(files(__package__) / "sample.jsonl") as path:
        return read_jsonl(path, SampleUnit)
