"""What `evenhand judges train-encoder` leaves in a model's folder, so that nobody tries the model on what it knows."""

from typing import Any

from pydantic import NonNegativeInt, PositiveInt, ValidationError

from ..errors import DataError
from ..records import Record
from ..storage import local_path, read_json
from ..text.mistakes import explain

RESULT = "training.json"


class ToldApart(Record):
    """Share of the held triples of a kind whose near claim scores above the far one, before training and after."""

    kind: str
    triples: PositiveInt
    before: float
    after: float


class TrainedEncoder(Record):
    """What a folder of a trained encoder says of it; `training.json`."""

    base: str
    form: str
    # learned from, or held to stop by: none of them is unseen
    topics: tuple[str, ...]
    # marks of their articles and topics, as controlled sets have them, and of those that the base was trained on before
    seen: tuple[str, ...]
    left_out: tuple[str, ...]
    learned: NonNegativeInt
    figures: tuple[ToldApart, ...]
    plan: dict[str, Any]
    # of the triples
    data: str
    versions: dict[str, str]


def read_trained(model: str) -> TrainedEncoder | None:
    """What a model's folder says of its training; None for a model that `evenhand judges train-encoder` did not write.

    Raises:
        DataError: it did, but the file was changed or is of another version: what the model was trained on is unknown.
    """
    path = local_path(model) / RESULT
    if not path.is_file():
        return None
    record = read_json(path)
    try:
        return TrainedEncoder.model_validate(record)
    except ValidationError as error:
        # others have files of this name
        if not isinstance(record, dict) or not record.keys() >= {"base", "seen", "left_out"}:
            return None
        raise DataError(
            f"{path}: does not say what the model was trained on, as this version of evenhand does: {explain(error)}; train it "
            "again with evenhand judges train-encoder"
        ) from error
