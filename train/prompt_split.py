"""The prompt of others' pairs apart from the answers, and both as turns of a chat."""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import takewhile
from typing import Annotated, Literal

from pydantic import Discriminator, Field, Tag

from ..errors import DataError
from ..records import Message, Text
from .dialogues import APART, REMEDY, conversation, dialogue, prompt_dialogue, refuse_dialogue, refuse_unparted

Conversation = Annotated[tuple[Message, ...], Field(min_length=1)]


def _kind(content: object) -> str | None:
    return "text" if isinstance(content, str) else "conversation" if isinstance(content, list | tuple) else None


# told apart before they are looked at, so that a mistake is said of the one that is meant
Said = Annotated[
    Annotated[Text, Tag("text")] | Annotated[Conversation, Tag("conversation")],
    Discriminator(
        _kind, custom_error_type="said", custom_error_message="Should be a text or a list of role and content"
    ),
]
NO_PROMPT = "has no prompt: chosen and rejected begin with no common word; give the prompt as 'prompt'"
# what becomes of others' texts
Form = Literal["chat", "plain"]


def turns_apart(prompt: Said, answers: Mapping[str, Said], texts: Form) -> tuple[Said, list[Said]]:
    """The prompt as turns, where it is a dialogue up to where the assistant answers, and the answers alone.

    Raises:
        DataError: prompt or answers can be read in two ways.
    """
    spoken = [text for text in (prompt, *answers.values()) if isinstance(text, str)]
    if texts == "plain" and len(spoken) == 1 + len(answers):
        return prompt, list(answers.values())
    talk = None
    if isinstance(prompt, str):
        with _named("prompt"):
            talk = prompt_dialogue(prompt, spoken[1:])
        if talk is not None:
            alone = dict(answers)
            for name, answer in answers.items():
                if isinstance(answer, str):
                    with _named(name):
                        alone[name] = talk.answer(answer, prompt)
            prompt, answers = conversation(talk.turns), alone
    turns = role_turns("user", prompt)
    # a conversation that begins with what was asked
    answers = {
        name: answer[len(turns) :]
        if not isinstance(answer, str) and len(answer) > len(turns) and answer[: len(turns)] == turns
        else answer
        for name, answer in answers.items()
    }
    _refuse_dialogues(prompt, answers)
    return prompt, list(answers.values())


def _refuse_dialogues(prompt: Said, answers: Mapping[str, Said]) -> None:
    """Refuse turns that hold further turns of a dialogue.

    Raises:
        DataError: one does.
    """
    for name, content in {"prompt": prompt, **answers}.items():
        remedy = REMEDY if isinstance(content, str) else APART
        for turn in role_turns("user" if name == "prompt" else "assistant", content):
            with _named(name):
                refuse_dialogue(turn.content, is_answer=turn.role == "assistant", remedy=remedy)


@contextmanager
def _named(name: str) -> Iterator[None]:
    """Errors say what they are about."""
    try:
        yield
    except DataError as error:
        raise DataError(f"{name} {error}") from error


def prompted(chosen: Said, rejected: Said, texts: Form) -> tuple[Said, Said, Said]:
    """The prompt that both begin with, and what each goes on with.

    Raises:
        DataError: they begin with nothing in common, or are chats that a template of some model has rendered.
    """
    are_texts = isinstance(chosen, str) or isinstance(rejected, str)
    if are_texts and texts == "plain":
        return _prompted_by_characters(str(chosen), str(rejected))
    talks = [dialogue(str(chosen)), dialogue(str(rejected))] if are_texts else []
    if None in talks and talks != [None, None]:
        raise DataError(f"only one of chosen and rejected is a dialogue; {REMEDY}")
    prompt: Said
    if talks == [None, None]:
        prompt, chosen, rejected = _prompted_by_words(str(chosen), str(rejected))
    else:
        if talks:
            chosen, rejected = (conversation(talk.turns) for talk in talks if talk is not None)
        n = n_common(chosen, rejected)
        prompt, chosen, rejected = chosen[:n], chosen[n:], rejected[n:]
    _refuse_dialogues(prompt, {"chosen": chosen, "rejected": rejected})
    return prompt, chosen, rejected


def _prompted_by_words(chosen: str, rejected: str) -> tuple[str, str, str]:
    # the prompt ends where a word does
    shared = chosen[: n_common(chosen, rejected)]
    # from behind: a search for its end begins anew at each letter of a text without blanks
    shared = shared[: len(shared) - len(next(iter(re.findall(r"\A\S*", shared[::-1]))))]
    if not shared.strip():
        raise DataError(NO_PROMPT)
    refuse_unparted(chosen)
    return shared.strip(), chosen[len(shared) :].strip(), rejected[len(shared) :].strip()


def _prompted_by_characters(chosen: str, rejected: str) -> tuple[str, str, str]:
    """As stock TRL parts them: where the first characters differ, before a space that stands there."""
    n = n_common(chosen, rejected)
    n -= chosen[:n].endswith(" ")
    if not chosen[:n].strip():
        raise DataError(NO_PROMPT)
    return chosen[:n], chosen[n:], rejected[n:]


def n_common(first: Sequence[object], second: Sequence[object]) -> int:
    """How many items both begin with."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(first, second, strict=False)))


def role_turns(role: Literal["user", "assistant"], content: Said) -> tuple[Message, ...]:
    """A text as the one turn of a role; a conversation as it is."""
    return (Message(role=role, content=content),) if isinstance(content, str) else content
