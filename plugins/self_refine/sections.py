"""What a recipe says of self-refine."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import ClassVar

from pydantic import Field

from ...config.methods import MethodSection, StepFields
from ...config.section import Section
from ...records import is_none


class SelfRefinePrompts(Section):
    """Files with the whole prompt of a step, in place of the shipped words."""

    # with {summary}, and {task} or {documents}
    feedback: str | None = None
    # with {summary}, {feedback}, and {task} or {documents}
    refine: str | None = None


class SelfRefineSection(MethodSection):
    """A summary, then rounds of feedback and revision."""

    # what its prompts quote of the turns before
    steps: ClassVar[Mapping[str, StepFields]] = MappingProxyType(
        {
            "feedback": StepFields(frozenset({"summary"}), (("summary",),)),
            "refine": StepFields(frozenset({"summary", "feedback"}), (("summary",), ("feedback",))),
        }
    )

    # rounds after the first summary
    rounds: int = Field(default=3, ge=1)
    # most tokens of a feedback; summaries have the plan's max_tokens
    feedback_tokens: int = Field(default=512, ge=1)
    # prompts of the user's own
    prompts: SelfRefinePrompts | None = Field(default=None, exclude_if=is_none)
