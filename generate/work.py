"""An ask on its way through a model: how the model reads it, and what it has written so far."""

from collections.abc import Sequence
from typing import Any

from .answers import Reading, read_answers
from .backend import Ask, Prompt, Reply, read_prompts, too_long


class ReplyInProgress:
    """An ask, and the reply to it as it is written."""

    def __init__(self, ask: Ask, prompt: Prompt, reading: Reading) -> None:
        self.ask = ask
        self.prompt = prompt
        self.reading = reading
        # what the model is given: the prompt, and what its answer begins with
        self.given = prompt.token_ids + reading.opening
        self.ids: list[int] = []
        self.logps = 0.0
        self.finish_reason = ""
        self.probabilities: dict[str, float] = {}

    def too_long(self, max_model_len: int) -> Reply | None:
        """The reply when the ask does not fit, None when it does."""
        return too_long(self.prompt, self.ask, max_model_len, len(self.reading.opening))

    def take(self, token: int, logp: float, end_ids: set[int]) -> None:
        """Add the next token, unless the reply has ended."""
        if self.finish_reason:
            return
        self.ids.append(token)
        self.logps += logp
        if token in end_ids and not self.ask.choices:
            self.finish_reason = "stop"
        elif self.ask.choices or len(self.ids) == self.ask.sampling.max_tokens:
            self.finish_reason = "length"

    def reply(self, tokenizer: Any) -> Reply:
        """The reply, which has ended."""
        text_ids = self.ids[:-1] if self.finish_reason == "stop" else self.ids
        return Reply(
            text=tokenizer.decode(text_ids, skip_special_tokens=True),
            finish_reason=self.finish_reason,
            n_prompt_tokens=len(self.prompt.token_ids),
            prompt_digest=self.prompt.digest,
            token_ids=tuple(self.ids),
            logps=self.logps,
            choice_probabilities=self.probabilities,
            begins_in_thought=self.prompt.opens_thought,
        )


def read_asks(tokenizer: Any, asks: Sequence[Ask]) -> list[ReplyInProgress]:
    """Each ask as the model reads it.

    Raises:
        ModelError: as `read_answers`.
    """
    return list(map(ReplyInProgress, asks, read_prompts(tokenizer, asks), read_answers(tokenizer, asks)))
