"""A backend without a model: replies come from a function of the ask. For tests, dry studies and demonstrations."""

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from time import sleep
from typing import Any

from ..text import sentences
from ..text.digests import digest
from .backend import Ask, Prompt, Reply, Usage, read_prompts, tokens_digest, too_long

Script = Callable[[Ask], str]

# prompts that are read once for all candidates that are asked of them
PROMPTS_KEPT = 64
# words whose numbers are kept: most words of a prompt are in others, too
WORDS_KEPT = 1 << 16

ASKED_OPENING = re.compile(r'[Bb]egins? with "([^"]+)"')


def copy_a_sentence(ask: Ask) -> str:
    """One of the choices, or a sentence of the prompt's documents, chosen by the seed.

    Three times in four the sentence is put behind the opening that the prompt asks for.
    """
    if ask.choices:
        return ask.choices[ask.seed % len(ask.choices)]
    prompt = ask.prompt[-1].content
    candidates = _sentences(prompt) or (prompt,)
    sentence = candidates[ask.seed % len(candidates)]
    opening = ASKED_OPENING.search(prompt)
    if opening is None or ask.seed % 4 == 0:
        return sentence
    return f"{opening.group(1)} says that {sentence[:1].lower()}{sentence[1:]}"


@lru_cache(maxsize=PROMPTS_KEPT)
def _sentences(prompt: str) -> tuple[str, ...]:
    """The sentences of a prompt's documents that say something."""
    return tuple(s for line in prompt.splitlines()[1:-1] for s in sentences(line) if len(s.split()) > 3)


@lru_cache(maxsize=PROMPTS_KEPT)
def _counted(messages: tuple[str, ...]) -> Prompt:
    """A prompt whose tokens are its words."""
    token_ids = tuple(_token(word) for message in messages for word in message.split())
    return Prompt(token_ids, tokens_digest(token_ids))


@lru_cache(maxsize=WORDS_KEPT)
def _token(word: str) -> int:
    return int(digest(word, 8), 16)


class ScriptedBackend:
    """Answers every ask with `script(ask)`.

    Args:
        script: the reply to an ask.
        max_model_len: longest prompt plus answer in tokens.
        tokenizer: makes prompts into tokens, so that their digests are those of a real backend; None counts words.
        seconds_per_batch: how long a batch takes.
    """

    def __init__(
        self,
        script: Script = copy_a_sentence,
        *,
        max_model_len: int = 4096,
        tokenizer: Any = None,
        seconds_per_batch: float = 0.0,
    ) -> None:
        self.signature = f"scripted:{script.__name__}"
        self.usage = Usage()
        self._script = script
        self._max_model_len = max_model_len
        self._tokenizer = tokenizer
        self._seconds = seconds_per_batch

    def complete(self, asks: Sequence[Ask]) -> list[Reply]:
        """One reply for each ask, after `seconds_per_batch`."""
        sleep(self._seconds)
        return [self._reply(ask) for ask in asks]

    def _reply(self, ask: Ask) -> Reply:
        if self._tokenizer is not None:
            (prompt,) = read_prompts(self._tokenizer, [ask])
        else:
            prompt = _counted(tuple(message.content for message in ask.prompt))
        if refused := too_long(prompt, ask, self._max_model_len):
            return refused
        n = len(prompt.token_ids)
        text = self._script(ask)
        self.usage.add(n, n)
        return Reply(
            text=text,
            finish_reason="stop",
            n_prompt_tokens=n,
            prompt_digest=prompt.digest,
            choice_probabilities={choice: float(choice == text) for choice in ask.choices},
        )

    def close(self) -> None:
        """Nothing to give back."""
