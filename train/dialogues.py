"""Dialogues that others wrote into one text, as turns: hh-rlhf's "Human: ... Assistant: ..." and its like.

A text is taken for a dialogue where it begins with a speaker's name ("### Instruction:" may stand behind an introduction), and
where the other speaker's stands further on. Any other, a prompt that quotes a dialogue for example, is a text.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

from ..errors import DataError
from ..records import Message
from ..storage import shortened

# "Human:", "### Instruction:", "**User**:"
NAME = r"(?:#+[ \t]*|\*\*)?(?:{names})(?:\*\*)?[ \t]*:(?:\*\*)?"
ASKING = NAME.format(names="human|user|instruction|prompter")
ANSWERING = NAME.format(names="assistant|response|ai|bot|gpt|model|chatbot")
SYSTEM = re.compile(r"\s*" + NAME.format(names="system"), re.IGNORECASE)
# where a name begins a line, or a word
LINE, WORD = r"(?:\A|\n)[ \t]*", r"(?:\A|\s)"
# the first speaker; before a heading, or behind a system's name, others' words may stand
FIRST = re.compile(r"\s*" + ASKING, re.IGNORECASE)
LATER_FIRST, HEADING = (re.compile(LINE + before + ASKING, re.IGNORECASE) for before in ("", "(?=#)"))
OPEN = re.compile(WORD + ANSWERING + r"\s*\Z", re.IGNORECASE)
# chats that were rendered with some model's template
RENDERED = re.compile(r"<\|[^\s|<>]+\|>|\[/?INST\]|<(?:start|end)_of_turn>|<</?SYS>>")


Role = Literal["system", "user", "assistant"]


class Turn(NamedTuple):
    """What one of the speakers says."""

    role: Role
    content: str


def dialogue(text: str) -> tuple[Turn, ...] | None:
    """The turns of a text that is a dialogue; None of one that is not. The last turn's content may be empty.

    Raises:
        DataError: the speakers do not take turns.
    """
    system = SYSTEM.match(text)
    first = LATER_FIRST.search(text, system.end()) if system else FIRST.match(text) or HEADING.search(text)
    if first is None:
        return None
    # where names stand at the beginning of lines, those inside a line are words
    answers = (re.search(place + ANSWERING, text[first.end() :], re.IGNORECASE) for place in (LINE, WORD))
    answer = next(filter(None, answers), None)
    if answer is None:
        return None
    place = LINE if answer[0].startswith("\n") else WORD
    roles: dict[str, Role] = {first[0].strip(): "user", answer[0].strip(): "assistant"}
    names = list(re.compile(place + "(?:" + "|".join(map(re.escape, roles)) + ")").finditer(text, first.start()))
    ends = [name.start() for name in names[1:]] + [len(text)]
    turns = [
        Turn(roles[name[0].strip()], text[name.end() : end].strip()) for name, end in zip(names, ends, strict=True)
    ]
    if any(turn.role != ("user", "assistant")[number % 2] for number, turn in enumerate(turns)):
        raise DataError(
            f"is a dialogue in one text, whose {' and '.join(map(shortened, roles))} do not take turns; write conversations "
            "(lists of role and content)"
        )
    before = text[system.end() if system else 0 : first.start()].strip()
    return (*([Turn("system", before)] if before else []), *turns)


def is_open(text: str) -> bool:
    """Whether a text ends with the name of the speaker who answers."""
    return OPEN.search(text) is not None


def conversation(turns: Sequence[Turn]) -> tuple[Message, ...]:
    """The turns as a conversation of chats, without the empty one that is to be answered."""
    return tuple(Message(role=turn.role, content=turn.content) for turn in turns if turn.content)


def rendered(text: str) -> Iterator[str]:
    """Marks of chat templates, of whatever model, in a text."""
    yield from (mark[0] for mark in RENDERED.finditer(text))
