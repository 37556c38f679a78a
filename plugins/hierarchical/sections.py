"""What a recipe says of hierarchical summaries."""

from typing import ClassVar

from pydantic import Field

from ...config.methods import MethodSection


class HierarchicalSection(MethodSection):
    """Summaries of parts of the documents, and the summary of those."""

    lays_out_anew: ClassVar[bool] = True

    # documents of one side that are summarised together: 1 gives each document the same room; None, which needs task.scope: all,
    # gives it to each side
    per_part: int | None = Field(default=1, ge=1)
    # most tokens of a part's summary; the last one has the plan's max_tokens
    part_tokens: int = Field(default=64, ge=1)

    def scope_mistake(self, scope: str) -> str | None:
        """A single part, whose summary would be summarised."""
        if scope == "side" and self.per_part is None:
            return (
                "hierarchical.per_part null makes a part of each side, and with task.scope: side there is one; write a number of "
                "documents, or task.scope: all"
            )
        return None
