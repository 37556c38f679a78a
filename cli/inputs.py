"""What several verbs read."""

import re
from typing import Annotated

import typer

from ..config import ColumnsSection
from ..text import did_you_mean


def _columns(given: str) -> ColumnsSection:
    """ "set=thread,text=body" as what the columns are called; a comma may stand in a column's name."""
    keys = list(ColumnsSection.model_fields)
    found = {}
    for key, _, name in (part.partition("=") for part in re.split(r",(?=\w+=)", given)):
        if key not in keys or not name:
            near = did_you_mean(key, keys) if key not in keys else "."
            raise typer.BadParameter(
                f"{key!r} names no column{near} Write set=COLUMN,text=COLUMN; what can be named is {', '.join(keys)}."
            )
        found[key] = name
    return ColumnsSection(**found)


Columns = Annotated[
    ColumnsSection | None,
    typer.Option(
        parser=_columns,
        metavar="set=COLUMN,text=COLUMN",
        help="Of a table of documents, what its columns are called; topic, id and split can be named too. Default: set and text.",
    ),
]
