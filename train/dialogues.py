"""Dialogues that others wrote into one text, as turns: hh-rlhf's "Human: ... Assistant: ..." and its like.

A text is taken for a dialogue where it begins with a speaker's name, and where the other speaker's stands further on. Any other,
a prompt that quotes a dialogue for example, is a text.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

from ..errors import DataError
from ..records import Message
from ..storage import shortened

ASKING = ("human", "user", "instruction", "prompter")
ANSWERING = ("assistant", "response", "ai", "bot", "gpt", "model", "chatbot")
# "Human:", "### Instruction:", "**User**:"
NAME = r"(?:#+[ \t]*|\*\*)?(?P<name>{names})(?:\*\*)?[ \t]*:(?:\*\*)?"
FIRST = re.compile(r"\s*" + NAME.format(names="|".join(ASKING)), re.IGNORECASE)
ANSWER = NAME.format(names="|".join(ANSWERING))
# chats that were rendered with some model's template
RENDERED = re.compile(r"<\|[^\s|<>]+\|>|\[/?INST\]|<(?:start|end)_of_turn>|<</?SYS>>")


class Turn(NamedTuple):
    """What one of the two says."""

    role: Literal["user", "assistant"]
    content: str


def dialogue(text: str) -> tuple[Turn, ...] | None:
    """The turns of a text that is a dialogue; None of one that is not. The last turn's content may be empty.

    Raises:
        DataError: the speakers do not take turns.
    """
    first = FIRST.match(text)
    if first is None:
        return None
    # where names stand at the beginning of lines, those inside a line are words
    answer = next(
        (
            found
            for where in (r"\n\s*", r"\s")
            if (found := re.search(where + ANSWER, text[first.end() :], re.IGNORECASE))
        ),
        None,
    )
    if answer is None:
        return None
    where = r"(?:\A|\n)\s*" if answer[0].lstrip(" \t").startswith("\n") else r"(?:\A|\s)\s*"
    names = {_written(first): "user", _written(answer): "assistant"}
    border = re.compile(where + "(?:" + "|".join(re.escape(name) for name in names) + ")")
    found = list(border.finditer(text))
    ends = [each.start() for each in found[1:]] + [len(text)]
    turns = [
        Turn(names[each[0].strip()], text[each.end() : end].strip()) for each, end in zip(found, ends, strict=True)
    ]
    if [turn.role for turn in turns] != [("user", "assistant")[place % 2] for place in range(len(turns))]:
        raise DataError(
            f"is a dialogue in one text, whose {' and '.join(map(shortened, names))} do not take turns; write conversations "
            "(lists of role and content)"
        )
    return tuple(turns)


def _written(found: re.Match[str]) -> str:
    return found[0].strip()


def conversation(turns: Sequence[Turn]) -> tuple[Message, ...]:
    """The turns as a conversation of chats, without the empty one that is to be answered."""
    return tuple(Message(role=turn.role, content=turn.content) for turn in turns if turn.content)


def rendered(text: str) -> Iterator[str]:
    """Marks of chat templates, of whatever model, in a text."""
    yield from (found[0] for found in RENDERED.finditer(text))
