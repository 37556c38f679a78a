"""The door through which people's ratings come in: packages bring their reader by `evenhand.ratings`."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ....doors import Door, absence
from ....errors import DataError, RecipeError
from ....generate.requests import ALL
from ....records import DocumentSet
from ....text import some_of
from ....text.shown import counted_as

READER = "ratings"


@dataclass(frozen=True)
class RatingsFile:
    """A file of ratings as a command names it."""

    path: Path
    # "faithfulness"; () where the file has a single one
    dimensions: tuple[str, ...] = ()
    # "1..5" or "faithfulness=5..1"
    scales: tuple[str, ...] = ()


class NoRatedTextError(DataError):
    """Ratings name systems that have written nothing yet, and bring no texts."""


@dataclass(frozen=True)
class RatedTexts:
    """The summaries that a file of ratings may be of."""

    documents: Sequence[DocumentSet]
    # social attribute, whose values are sides
    attribute: str
    # system -> SET, or SET/SIDE of a summary of one side -> text; of a system that has written nothing yet {}
    texts: Mapping[str, Mapping[str, str]]


@dataclass(frozen=True)
class SummaryRatings:
    """What people said of summaries on one dimension."""

    dimension: str
    # SET or SET/SIDE, and text -> rater, "" where nobody is named -> score as the file has it
    scores: Mapping[tuple[str, str], Mapping[str, float]]
    # what is to be known of them, a sentence each
    notes: tuple[str, ...]


def rated_name(set_id: str, side: str) -> str:
    """What was summarised, as files of ratings name it: SET, or SET/SIDE."""
    return set_id if side == ALL else f"{set_id}/{side}"


Reader = Callable[[RatingsFile, RatedTexts], SummaryRatings]
READERS: Door[Reader] = Door("ratings", "reader of ratings", callable)


def read_ratings(file: RatingsFile, rated: RatedTexts) -> SummaryRatings:
    """What the file says of the summaries.

    Raises:
        RecipeError: nothing here reads ratings.
        DataError: the file is wrong, of which all mistakes are listed; or it is of none of these summaries.
    """
    if READER not in READERS:
        raise RecipeError(f"--ratings: nothing here reads files of ratings{absence(READER)}")
    ratings = READERS[READER](file, rated)
    keys = {(name, text.strip()) for texts in rated.texts.values() for name, text in texts.items()}
    if all(rated.texts.values()) and keys.isdisjoint(ratings.scores):
        n = len(ratings.scores)
        raise DataError(
            f"{file.path}: none of its {counted_as(n, 'rated texts')} is a summary of {some_of(list(rated.texts))}; rate texts "
            "of these systems, `evenhand human plan` draws them"
        )
    return ratings
