"""Where a constrained answer is read: at the token that tells the choices apart.

A choice is not always one token. After a prompt, vocabularies of SentencePiece (Llama 2, Mistral, Mixtral) write "3" as "▁" and
"3", and some chat templates put more before an answer: a line break, an empty train of thought. So the template is filled with
each choice as the answer. What all these answers begin with is given to the model as the beginning of its own, and the token that
comes next is read.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from ..errors import ModelError
from ..records import Message
from .backend import Ask, prompt_tokens

# white space as some vocabularies write it
BLANK = " \t\r\n\u2581\u0120"
# letters of a line that is a choice, with what may stand around it
MOST_WRITTEN = 80
# what may stand around a choice that is written alone
BEFORE, AFTER = rf"[{BLANK}\"'`*_#(\[{{<$]*", rf"[{BLANK}.!,;:)\]}}>\"'`*_$]*"
NAMED = r"(?:(?:the|my|final|overall)\s+)*(?:score|rating|grade|coverage|faithfulness|answer|verdict)\b"
LABEL = rf"(?:{NAMED}[\s\"'`*_]*(?:is\b|of\b|:|=)?)?"
# where an answer begins does not depend on what was asked
QUESTION = Message(role="user", content="?")


def written_choice(text: str, choices: Sequence[str]) -> str | None:
    """The choice that a text is: alone on its first line, in marks, behind its name, or as a share of the last one (4/5).

    A text that begins with a choice and goes on ("3 key points", "1. The summary") is none.
    """
    lines = text.strip(BLANK).splitlines()
    names = "|".join(map(re.escape, sorted(choices, key=len, reverse=True)))
    share = rf"(?:\s*(?:/|out\s+of)\s*{re.escape(choices[-1])})?"
    if not lines or len(lines[0]) > MOST_WRITTEN:
        return None
    found = re.fullmatch(rf"{BEFORE}{LABEL}{BEFORE}({names}){share}({AFTER})", lines[0], re.IGNORECASE)
    if found is None or (len(lines) > 1 and found[2].strip() in {".", ")"}):
        # a number with a full stop, and more below it, may begin a list
        return None
    return next((choice for choice in choices if choice.lower() == found[1].lower()), None)


@dataclass(frozen=True)
class Reading:
    """How the answer to a prompt is read; both are empty where any answer will do."""

    # tokens that all choices begin with: they follow the prompt
    opening: tuple[int, ...] = ()
    # the token after them that means each choice
    ids: tuple[int, ...] = ()


def read_answers(tokenizer: Any, asks: Sequence[Ask]) -> list[Reading]:
    """How the answer to each ask is read.

    Raises:
        ModelError: choices do not differ in one token.
    """
    readings = {choices: reading(tokenizer, choices) for choices in {ask.choices for ask in asks}}
    return [readings[ask.choices] for ask in asks]


def reading(tokenizer: Any, choices: Sequence[str]) -> Reading:
    """Where one of these choices stands in an answer, and which token each of them is there; the tokenizer alone knows.

    Raises:
        ModelError: no single token tells the choices apart, or the chat template does not show where an answer begins.
    """
    if not choices:
        return Reading()
    answers = [_answer(tokenizer, choice) for choice in choices]
    # (places, choices); None where an answer has ended
    places = list(zip_longest(*answers))
    n = next((i for i, tokens in enumerate(places) if len(set(tokens)) > 1), len(places) - 1)
    ids = [token for token in places[n] if token is not None and places[n].count(token) == 1]
    if len(ids) < len(choices):
        alike = [repr(choice) for choice, token in zip(choices, places[n], strict=True) if token not in ids]
        raise ModelError(
            f"answers {', '.join(alike)} cannot be distinguished by one token of this model, because one begins like "
            f"the other; use scoring: greedy with it, where the judge has that, or another model"
        )
    return Reading(tuple(answers[0][:n]), tuple(ids))


def _answer(tokenizer: Any, choice: str) -> tuple[int, ...]:
    """The tokens of an answer, and what the template puts behind it."""
    prompt = prompt_tokens(tokenizer, (QUESTION,))
    answered = prompt_tokens(tokenizer, (QUESTION, Message(role="assistant", content=choice)))
    if answered[: len(prompt)] == prompt:
        return tuple(answered[len(prompt) :])
    if tokenizer.decode(answered).startswith(tokenizer.decode(prompt) + choice):
        # the same text, cut into other tokens before the answer: two line breaks may be one token only where a text ends
        return tuple(tokenizer.encode(choice, add_special_tokens=False))
    raise ModelError(
        "the chat template of this model writes an answer elsewhere than it asks for one (it lets the model think first?), so "
        "the probabilities of its answers cannot be read; use scoring: thought or greedy with it, where the judge has them, or "
        "another model"
    )
