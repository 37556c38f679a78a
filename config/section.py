"""The base of all recipe sections, and of those that describe a judge."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Self

from pydantic import BaseModel, ConfigDict, model_validator

# bytes of a file's name and of a path on Linux; what is longer is an error of the system wherever it is looked for
LONGEST_NAME = 255
LONGEST_PATH = 4095
# the texts of recipes that are no names
SENTENCES = ("instruction",)

if TYPE_CHECKING:
    from .model import LanguageModel

# what splits texts into sentences: our own rules, or NLTK's Punkt, which the metrics' authors used, for published numbers
SplitterName = Literal["sentencex", "nltk"]
# import names of the optional libraries that each needs
SPLITTER_LIBRARIES: dict[str, tuple[str, ...]] = {"sentencex": (), "nltk": ("nltk",)}


class Section(BaseModel):
    """Base of all recipe sections: immutable, unknown keys refused, and so are .inf and .nan."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    @model_validator(mode="after")
    def _names_can_be_files(self) -> Self:
        """Most texts of a recipe are names, and many of those may be files; the others are no worse for being short."""
        for key, value in self:
            if isinstance(value, str | Path) and key not in SENTENCES:
                path = os.fsencode(value)
                if max(map(len, path.split(b"/"))) > LONGEST_NAME or len(path) > LONGEST_PATH:
                    raise ValueError(
                        f"{key} is longer than a file's name or path can be ({LONGEST_NAME} and {LONGEST_PATH:,} bytes)"
                    )
        return self


class NeedySection(Section):
    """Base of the sections of judges and of their parts: each says what must be there before it can score."""

    @property
    def libraries(self) -> tuple[str, ...]:
        """Import names of the libraries that it needs besides those of its language models."""
        return ()

    @property
    def models(self) -> dict[str, str]:
        """Key below the section -> model that it loads, other than language models."""
        return {}

    @property
    def language_models(self) -> "dict[str, LanguageModel]":
        """Key below the section, "" for the section itself -> language model that it asks."""
        return {}


class JudgeSection(NeedySection):
    """What all judges share."""

    # text the summary is compared with: the side's documents, the other sides' documents, or the side's listed key points
    against: Literal["source", "opposing", "key_points"] = "source"


def refuse_without_effect(section: Section, keys: Sequence[str], has_effect: bool, when: str) -> None:
    """Refuse options that differ from their default and that nothing reads."""
    fields = type(section).model_fields
    idle = [key for key in keys if not has_effect and getattr(section, key) != fields[key].default]
    if idle:
        raise ValueError(f"no effect of {' and '.join(idle)} except {when}; leave it out")
