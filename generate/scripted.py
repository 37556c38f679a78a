"""A backend without a model: replies come from a function of the ask. For tests, dry studies and demonstrations."""

import re
from collections.abc import Callable, Sequence
from time import sleep
from typing import Any

from ..storage import digest
from ..text import sentences
from .backend import Ask, Reply, too_long

Script = Callable[[Ask], str]

ASKED_OPENING = re.compile(r'starts with "([^"]+)"')


def copy_a_sentence(ask: Ask) -> str:
    """A sentence of the prompt, chosen by the seed, put behind the opening that the prompt asks for (three times in four).

    With choices, one of them.
    """
    if ask.choices:
        return ask.choices[ask.seed % len(ask.choices)]
    prompt = ask.prompt[-1].content
    found = [s for line in prompt.splitlines()[1:-1] for s in sentences(line)] or [prompt]
    sentence = found[ask.seed % len(found)]
    opening = ASKED_OPENING.search(prompt)
    if opening is None or ask.seed % 4 == 0:
        return sentence
    return f"{opening.group(1)} says that {sentence[:1].lower()}{sentence[1:]}"


class ScriptedBackend:
    """Answers every ask with `script(ask)`; words stand for tokens."""

    def __init__(self, script: Script = copy_a_sentence, *, max_model_len: int = 4096, seconds_per_batch: float = 0.0):
        self.signature = f"scripted:{script.__name__}"
        self._script = script
        self._max_model_len = max_model_len
        self._seconds = seconds_per_batch

    def complete(self, asks: Sequence[Ask]) -> list[Reply]:
        """One reply for each ask, after `seconds_per_batch`."""
        sleep(self._seconds)
        return [self._reply(ask) for ask in asks]

    def _reply(self, ask: Ask) -> Reply:
        prompt = [word for message in ask.prompt for word in message.content.split()]
        common: dict[str, Any] = {"n_prompt_tokens": len(prompt), "prompt_digest": digest(prompt)}
        reason = too_long(len(prompt), ask, self._max_model_len)
        if reason:
            return Reply(text="", finish_reason="failed", error=reason, **common)
        text = self._script(ask)
        certain = {choice: float(choice == text) for choice in ask.choices}
        return Reply(text=text, finish_reason="stop", choice_probabilities=certain, **common)

    def close(self) -> None:
        """Nothing to give back."""
