"""The base of all recipe sections, and of those that describe a judge."""

from collections.abc import Sequence
from typing import Literal

from pydantic import BaseModel, ConfigDict

# what splits texts into sentences: our own rules, or NLTK's Punkt, which the metrics' authors used, for published numbers
SplitterName = Literal["sentencex", "nltk"]


class Section(BaseModel):
    """Base of all recipe sections: immutable, unknown keys refused, and so are .inf and .nan."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class JudgeSection(Section):
    """What all judges share."""

    # text the summary is compared with: the side's documents, the other sides' documents, or the side's listed key points
    against: Literal["source", "opposing", "key_points"] = "source"


def refuse_without_effect(section: Section, keys: Sequence[str], has_effect: bool, when: str) -> None:
    """Refuse options that differ from their default and that nothing reads."""
    fields = type(section).model_fields
    idle = [key for key in keys if not has_effect and getattr(section, key) != fields[key].default]
    if idle:
        raise ValueError(f"no effect of {' and '.join(idle)} except {when}; leave it out")
