"""The base of all recipe sections, and of those that describe a judge."""

from typing import Literal

from pydantic import BaseModel, ConfigDict


class Section(BaseModel):
    """Base of all recipe sections: immutable, unknown keys refused, and so are .inf and .nan."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class JudgeSection(Section):
    """What all judges share."""

    # text the summary is compared with: the side's documents, the other sides' documents, or the side's listed key points
    against: Literal["source", "opposing", "key_points"] = "source"
