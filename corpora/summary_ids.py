"""Which set an entry of summaries is of, by an id under one of the usual keys or the named one."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ..errors import DataError
from ..records import DocumentSet
from ..text import one_spelling, repeated, some_of, spelling_key
from ..text.shown import shortened
from .cells import cell_text, lost_digits
from .summary_columns import NAME_ID
from .summary_order import ALL, naming_column

# keys that may hold a set's id; the first one whose value is a known id counts
ID_KEYS = ("set_id", "set", "entity_id", "request_id", "id")


class Targets(NamedTuple):
    """What a command's summaries are of, as its messages call it, and what it needs of them."""

    one: str = "document set"
    many: str = "document sets"
    # whose ids they have
    owners: str = "documents"
    # keys that may hold an id
    keys: tuple[str, ...] = ID_KEYS
    # whether a summary may be of one side
    by_side: bool = False


SETS = Targets()


class Known(NamedTuple):
    """What entries may call their sets."""

    # a name -> what the summary is called
    names: Mapping[str, str]
    # what spellings of a name share -> the name
    spellings: Mapping[str, str]


def known_names(sets: Mapping[str, DocumentSet], *, by_topic: bool) -> Known:
    """What entries may call the sets: by their ids, and `by_topic` by a topic that one of them has alone."""
    topics = [documents.topic for documents in sets.values()]
    several = {*repeated(topics), ""}
    topic_names = {
        documents.topic: name for name, documents in sets.items() if by_topic and documents.topic not in several
    }
    names = topic_names | {name: name for name in sets}
    return Known(names, {spelling_key(name): name for name in names})


def refuse_ids(
    source: str,
    records: Sequence[Mapping[str, Any]],
    sets: Mapping[str, DocumentSet],
    keys: Sequence[str],
    singular: str,
) -> None:
    """Refuse ids of which the last digits are lost, or of which none is a set's where another column has them.

    Raises:
        DataError: one mistake, however many entries have it.
    """
    for key in keys:
        if lost := lost_digits(record.get(key) for record in records):
            raise DataError(f"{source}: {key!r} holds {lost}")
    if len(records) < 2 or any(name in sets for record in records for name in _ids_in(record, keys)):
        return
    if (column := naming_column(records, sets)) and column not in keys:
        known = " and ".join(repr(key) for key in keys if any(key in record for record in records))
        raise DataError(
            f"{source}: {known} holds no id of a {singular}, and {column!r} does; say so: "
            f"{NAME_ID.replace('COLUMN', column)}"
        )


def _ids_in(record: Mapping[str, Any], keys: Sequence[str]) -> list[str]:
    """What may be the id of an entry's set; a request of all documents is called SET/all."""
    # true and false are whole numbers to Python
    values = [record[key] for key in keys if isinstance(record.get(key), str | int | float)]
    ids = [
        cell_text(value)
        for value in values
        if not isinstance(value, bool) and (not isinstance(value, float) or value.is_integer())
    ]
    return [form for name in ids for form in dict.fromkeys((name, name.removesuffix(f"/{ALL}")))]


def id_of(entry: Any, known: Known, keys: Sequence[str], targets: Targets = SETS) -> str:
    """The id of an entry's set.

    Raises:
        UnlikeIdError: it differs from one of the documents' by what is hard to see.
        DataError: there is none, or it is of no set.
    """
    id_cells = {key: entry[key] for key in keys if key in entry} if isinstance(entry, Mapping) else {}
    if not id_cells:
        raise DataError(f'{shortened(entry)} has no id, but other entries do; write {{"id": ..., "summary": ...}}')
    ids = _ids_in(entry, keys)
    if not ids:
        key, value = next(iter(id_cells.items()))
        raise DataError(f"{key!r} is {shortened(value)}; an id is a text or a whole number")
    for name in ids:
        if name in known.names:
            return known.names[name]
    for name in ids:
        if (near := known.spellings.get(spelling_key(name))) is not None:
            raise UnlikeIdError(name, near, known.names[near])
    example = next(iter(known.names.values()), None)
    like = f"there are no {targets.many}" if example is None else f"the {targets.owners}' ids are like {example!r}"
    raise DataError(f"no {targets.one} has the id {shortened(ids[0])}; {like}")


class UnlikeIdError(DataError):
    """An id differs from one of the documents' by capitals or by what nobody sees."""

    def __init__(self, spelling: str, near: str, name: str) -> None:
        # what looks the same is shown by its characters
        show = ascii if one_spelling(spelling) == one_spelling(near) else shortened
        super().__init__(f"{show(spelling)} for {show(near)}")
        self.name = name


def unlike_ids(source: str, pairs: Sequence[str], owners: str = SETS.owners) -> str:
    """The one mistake of all ids that are so, of which each `pair` is what an `UnlikeIdError` says."""
    return (
        f"{source}: ids differ from the {owners}' only by capitals, white space, characters that nobody sees or how letters with "
        f"accents are written: {some_of(pairs)}; write them as the {owners} have them"
    )
