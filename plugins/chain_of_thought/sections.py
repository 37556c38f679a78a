"""What a recipe says of chain of thought."""

from pydantic import Field

from ...config.methods import MethodSection


class ChainOfThoughtSection(MethodSection):
    """Key points, a summary of them, a critique, a revision."""

    # most tokens of the key points and of the critique; summaries have the plan's max_tokens
    thought_tokens: int = Field(default=256, ge=1)
