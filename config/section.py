"""The base of all recipe sections, and what is said of a key before any work."""

import os
import re
import unicodedata
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, NamedTuple, Self, Union, get_args, get_origin

from pydantic import BaseModel, ConfigDict, model_validator

from ..storage import no_disk
from ..text import did_you_mean
from ..text.shown import shortened

# bytes of a file's name and of a path on Linux; what is longer is an error of the system wherever it is looked for
LONGEST_NAME = 255
LONGEST_PATH = 4095
# the texts of recipes that are no names
SENTENCES = ("instruction", "means")
# the texts that name a file, a program, a model or a run, besides paths
NAMES = frozenset(("name", "path", "python", "template", "accelerate_config", "model", "revision", "encoder", "input"))


class Section(BaseModel):
    """Base of all recipe sections: immutable, unknown keys refused, and so are .inf and .nan."""

    # what is given may be a secret in the wrong place, and libraries print errors unchanged
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, hide_input_in_errors=True)

    @model_validator(mode="before")
    @classmethod
    def _has_no_truth_for_a_number(cls, values: Any) -> Any:
        # pydantic takes true for 1
        fields = cls.model_fields
        wrong = [
            f"{key} needs a number, got {str(value).lower()}"
            for key, value in (values.items() if isinstance(values, dict) else ())
            if isinstance(value, bool) and key in fields and is_number(fields[key].annotation)
        ]
        if wrong:
            raise ValueError("; ".join(wrong))
        return values

    @model_validator(mode="after")
    def _is_sound(self) -> Self:
        # most texts of a recipe are names, and many of those may be files; the others are no worse for being short
        for key, value in self:
            if isinstance(value, Path) and (mistake := no_disk(value)):
                raise ValueError(f"{key} {mistake}")
            if isinstance(value, str | Path) and key not in SENTENCES:
                path = os.fsencode(value)
                if max(map(len, path.split(b"/"))) > LONGEST_NAME or len(path) > LONGEST_PATH:
                    raise ValueError(
                        f"{key} is longer than a file's name or path can be ({LONGEST_NAME} and {LONGEST_PATH:,} bytes)"
                    )
            if (isinstance(value, Path) or (key in NAMES and isinstance(value, str))) and (
                character := control_character(str(value))
            ):
                raise ValueError(f"{key} is a name and has {character}: {str(value)!r}; write one without it")
        self.refuse()
        return self

    @classmethod
    def further_sections(cls) -> "dict[str, type[Section]]":
        """Key -> section of what may stand here besides the fields: options that packages bring."""
        return {}

    def refuse(self) -> None:
        """Refuse keys that do not fit together, whatever their types.

        Raises:
            ValueError: something does not.
        """


def is_number(annotation: Any) -> bool:
    """Whether a key of this type takes a number, and not true and false."""
    while get_origin(annotation) is Annotated:
        annotation = get_args(annotation)[0]
    kinds = get_args(annotation) if get_origin(annotation) in {Union, UnionType} else (annotation,)
    plain = {get_args(kind)[0] if get_origin(kind) is Annotated else kind for kind in kinds}
    return bool not in plain and not plain.isdisjoint({int, float})


def control_character(text: str) -> str:
    """What a name has that no file, job or message should be called, in words; "" where it has nothing of the kind."""
    for character in text:
        category = unicodedata.category(character)
        if character in "\n\r\x0b\x0c\x85" or category in {"Zl", "Zp"}:
            return "a line break"
        if category == "Cc":
            return f"a control character, {character!r}"
        if category == "Cs":
            return "bytes that are no UTF-8"
    return ""


class Check(NamedTuple):
    """One thing that can be wrong before any work: what is looked at, and how."""

    # key of the recipe that a mistake is reported under, unless its text begins with one
    key: str
    # raises an EvenhandError when something is wrong
    run: Callable[[], object]
    # whether it looks at this machine, and not at the recipe and its corpus alone
    is_here: bool = False


def refuse_fields(key: str, text: str, known: Sequence[str], needed: str) -> None:
    """Refuse a line of a list that lacks the field it is for, or asks for one that nothing fills.

    Raises:
        ValueError: it does.
    """
    fields = re.findall(r"\{([a-z_]+)\}", text)
    if unknown := [name for name in fields if name not in known]:
        raise ValueError(f"{key} asks for {{{unknown[0]}}}; its fields are {', '.join(known)}")
    if needed not in fields:
        raise ValueError(f"{key} has no field {{{needed}}}, so the model would not see it; add it")


def refuse_without_effect(section: Section, keys: Sequence[str], has_effect: bool, when: str) -> None:
    """Refuse options that differ from their default and that nothing reads."""
    fields = type(section).model_fields
    idle = [key for key in keys if not has_effect and getattr(section, key) != fields[key].default]
    if idle:
        raise ValueError(f"no effect of {' and '.join(idle)} except {when}; leave it out")


def one_of(noun: str, name: str, names: Collection[str]) -> str:
    """The name, which must be one of these.

    Raises:
        ValueError: it is not; the nearest and all of them are told.
    """
    if name not in names:
        raise ValueError(
            f"there is no {noun} {shortened(name)}{did_you_mean(name, names)} {noun.capitalize()}s are {', '.join(names)}."
        )
    return name
