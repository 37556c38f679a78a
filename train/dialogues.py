"""Dialogues that others wrote into one text, as turns: hh-rlhf's "Human: ... Assistant: ..." and its like.

A text is taken for a dialogue where it begins with a speaker's name, and where the other speaker's stands further on. An
introduction may stand before "### Instruction:", before Vicuna's "USER:", and before any prompt that ends with the name of who
answers. Any other, a prompt that quotes a dialogue for example, is a text. So is a form, "System: Windows" above "User: many":
without the name of who answers, here or in the answers, "System:" and "User:" are turns only where the system's words are a
sentence or a paragraph. What can be read in two ways is refused.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, NamedTuple

from ..errors import DataError
from ..records import Message
from ..text import some_of
from ..text.chat_marks import RENDERED
from ..text.shown import shortened

# "Human:", "### Instruction:", "**User**:"
NAME = r"(?:#+[ \t]*|\*\*)?(?:{names})(?:\*\*)?[ \t]*[:\uff1a](?:\*\*)?"
ASKING = NAME.format(names="human|user|instruction|prompter")
ANSWERING = NAME.format(names="assistant|response|ai|bot|gpt|model|chatbot")
SYSTEM = re.compile(r"\s*" + NAME.format(names="system"), re.IGNORECASE)
# where a name begins a line, or a word; behind an answer Vicuna writes the end of a text
LINE, WORD = r"(?:\A|\n)[ \t]*", r"(?:\A|\s|</s>)"
# the first speaker; before a heading, or behind a system's name, others' words may stand
FIRST = re.compile(r"\s*" + ASKING, re.IGNORECASE)
LATER_FIRST, HEADING = (re.compile(LINE + before + ASKING, re.IGNORECASE) for before in ("", "(?=#)"))
VICUNA = re.compile(r"(?<=\s)USER:")
OPEN = re.compile(WORD + ANSWERING + r"\s*\Z", re.IGNORECASE)
ANSWER, LATER_ANSWER = (re.compile(place + ANSWERING, re.IGNORECASE) for place in (r"\s*", LINE))
# names that are no words of forms ("User: Bob", "Model: Fiesta") and so begin turns wherever lines begin with them
SURE = re.compile(r"\s*(?:###|\**(?:human|prompter|assistant|chatbot)\b)", re.IGNORECASE)
# the end of a sentence, or of a paragraph
SENTENCE = re.compile(r"[.!?\u3002\uff01\uff1f][\"'\u201d\u2019)]?\s*\Z|\n[ \t]*\Z")
# a further turn of whatever dialogue
NEXT = re.compile(
    r"\n[ \t]*\n[ \t]*(?:(?=#)" + ASKING + r"|(?:\*\*)?(?:human|prompter)(?:\*\*)?[ \t]*[:\uff1a])", re.IGNORECASE
)
# the same marks as an element of HTML, which has both
ENDED = re.compile(r"</s>\s*\Z")
# what a list of turns begins with where a table of texts has it: as JSON, or as Python shows it
WRITTEN = re.compile(r"\s*(\[\s*\{\s*(['\"])(?:role|content|from|value)\2\s*:)")
# who speaks there: other lists of objects are texts like any other
SPEAKER = re.compile(r"(['\"])(?:role|from)\1\s*:\s*(['\"])(?:system|user|human|assistant|gpt|tool)\2")
APART = "give each turn its own role and content, or leave the line out"
REMEDY = "write conversations (lists of role and content), or train texts as they are: train.texts: plain"


Role = Literal["system", "user", "assistant"]


class DialogueTurn(NamedTuple):
    """What one of the speakers says."""

    role: Role
    content: str


@dataclass(frozen=True)
class Dialogue:
    """The turns of a dialogue in one text, and where another would begin."""

    turns: tuple[DialogueTurn, ...]
    # the names of both, as they are spelt; the answering one's is "" where it does not stand in the text
    asking: str
    answering: str
    # where names stand: LINE or WORD
    place: str

    @property
    def is_sure(self) -> bool:
        """Whether the names are those of speakers alone."""
        return any(SURE.match(name) for name in (self.asking, self.answering))

    def answer(self, text: str, prompt: str) -> str:
        """The answer alone, of a text that may repeat the whole prompt or the name of who answers.

        Raises:
            DataError: it goes on with another turn.
        """
        bare = text.lstrip()
        if bare.startswith(prompt.strip()):
            bare = text = bare[len(prompt.strip()) :].lstrip()
        name = ANSWER.match(bare)
        if name and self.answering in ("", name[0].strip()):
            text = bare[name.end() :].lstrip()
        names = "|".join(re.escape(speaker) for speaker in (self.asking, self.answering) if speaker)
        if further := re.search(f"{self.place}(?:{names})", text) or NEXT.search(text):
            raise DataError(f"goes on with another turn, {shortened(further[0].strip())}; cut it there, or {REMEDY}")
        return text


def dialogue(text: str) -> Dialogue | None:
    """The turns of a text that is a dialogue; None of one that is not. The last turn's content may be empty.

    Raises:
        DataError: the speakers do not take turns.
    """
    start, first = _beginning(text)
    if first is None:
        return None
    # where names stand at the beginning of lines, those inside a line are words
    answers = (re.search(place + ANSWERING, text[first.end() :], re.IGNORECASE) for place in (LINE, WORD))
    answer = next(filter(None, answers), None)
    if answer is None:
        return None
    place = LINE if answer[0].startswith("\n") else WORD
    asking, answering = first[0].strip(), answer[0].strip().removeprefix("</s>")
    roles: dict[str, Role] = {asking: "user", answering: "assistant"}
    name = re.compile(f"{place}({'|'.join(map(re.escape, roles))})")
    names = [first, *name.finditer(text, first.end())]
    ends = [match.start() for match in names[1:]] + [len(text)]
    turns = [
        DialogueTurn(roles[match[0].strip().removeprefix("</s>")], text[match.end() : end].strip())
        for match, end in zip(names, ends, strict=True)
    ]
    if any(turn.role != ("user", "assistant")[number % 2] for number, turn in enumerate(turns)):
        raise DataError(
            f"is a dialogue in one text, whose {' and '.join(map(shortened, roles))} do not take turns; {REMEDY}"
        )
    return Dialogue((*_system(text[start : first.start()]), *turns), asking, answering, place)


def prompt_dialogue(text: str, answers: Sequence[str]) -> Dialogue | None:
    """The dialogue up to where the assistant answers that a prompt is, read beside its answers; None of any other text.

    Raises:
        DataError: it can be read in two ways.
    """
    try:
        talk = dialogue(text)
    except DataError:
        if _ending(text) or _is_sure(text):
            raise
        return None
    if talk is None:
        return _unanswered(text, answers)
    last = talk.turns[-1]
    if last.role == "user" or not last.content:
        return talk
    # a dialogue that is quoted ends with what is asked about it; hh-rlhf's begins with empty lines
    if talk.is_sure and text.startswith("\n"):
        raise DataError(f"ends inside an answer, {shortened(last.content)}; {REMEDY}")
    return None


def _unanswered(text: str, answers: Sequence[str]) -> Dialogue | None:
    """A prompt without one of the two names, as a dialogue of what is asked."""
    start, first = _beginning(text)
    end = _ending(text)
    if end and end[0].startswith("\n") and SURE.match(end[0]):
        raise DataError(f"ends with the name of who answers, and has none of who asks; {REMEDY}")
    named = [ANSWER.match(answer) is not None for answer in answers]
    has_system = first is not None and start > 0 and _instructs(text[start : first.start()], first[0])
    is_told = first is not None and (has_system or text.startswith("\n") or first[0].lstrip().startswith("#"))
    if first is None or not (is_told or any(named)):
        return None
    if any(named) and not all(named):
        raise DataError(
            f"begins with {shortened(first[0].strip())}, and only some of its answers with a name; {REMEDY}"
        )
    turn = DialogueTurn("user", text[first.end() :].strip())
    return Dialogue((*_system(text[start : first.start()]), turn), first[0].strip(), "", LINE)


def _instructs(words: str, name: str) -> bool:
    """Whether words behind "System:" tell an assistant what to do: a sentence does, a form's word ("Windows") does not."""
    return bool(SURE.match(name) or SENTENCE.search(words))


def refuse_dialogue(text: str, *, is_answer: bool, remedy: str) -> None:
    """Refuse a text in which speakers take turns though it should be one turn: one that quotes a dialogue is let through.

    Raises:
        DataError: it is such a text.
    """
    if not is_answer:
        if _ending(text) and dialogue(text) is not None:
            raise DataError(f"is a dialogue in one turn; {remedy}")
        return
    talk = dialogue(text) if _is_sure(text) else None
    further = NEXT.search(text) or _quoted(text)
    if talk or further or (SURE.match(text) and ANSWER.match(text)):
        name = talk.asking if talk else further[0].strip() if further else text.strip().partition("\n")[0]
        raise DataError(f"has turns of a dialogue in one text, {shortened(name)}; {remedy}")


def refuse_unparted(text: str) -> None:
    """Refuse a text with names of speakers that has no other mark of where its prompt ends.

    Raises:
        DataError: it has marks of some chat template, or names of both speakers.
    """
    if marks := list(rendered(text)):
        raise DataError(
            f"is a chat in one text, with marks of a chat template ({some_of(list(dict.fromkeys(marks)))}); {REMEDY}"
        )
    if name := _quoted(text):
        raise DataError(f"has a dialogue behind an introduction, from {shortened(name[0].strip())} on; {REMEDY}")


# many pairs have one prompt, whose whole text is searched
@lru_cache(1024)
def _beginning(text: str) -> tuple[int, re.Match[str] | None]:
    """Where a system's words begin, and the name that the first turn begins with; None of a text that begins with none."""
    if system := SYSTEM.match(text):
        return system.end(), LATER_FIRST.search(text, system.end())
    first = FIRST.match(text) or HEADING.search(text)
    if first is None and (vicuna := VICUNA.search(text)) and re.search(r"\sASSISTANT:", text[vicuna.end() :]):
        first = vicuna
    if first is None and (end := _ending(text)) and SURE.match(text, end.start()):
        first = LATER_FIRST.search(text)
    return 0, first


@lru_cache(1024)
def _ending(text: str) -> re.Match[str] | None:
    """The name of who answers, where a text ends with it."""
    return OPEN.search(text)


def _system(before: str) -> list[DialogueTurn]:
    return [DialogueTurn("system", before.strip())] if before.strip() else []


def _quoted(text: str) -> re.Match[str] | None:
    """The first of two lines that begin with the names of both speakers, one of them a name for sure."""
    first = LATER_FIRST.search(text)
    answer = LATER_ANSWER.search(text, first.end()) if first else None
    return first if first and answer and (SURE.match(first[0]) or SURE.match(answer[0])) else None


def _is_sure(text: str) -> bool:
    return SURE.match(text) is not None or _quoted(text) is not None


def conversation(turns: Sequence[DialogueTurn]) -> tuple[Message, ...]:
    """The turns as a conversation of chats, without the empty one that is to be answered."""
    return tuple(Message(role=turn.role, content=turn.content) for turn in turns if turn.content)


def written_out(text: str) -> str | None:
    """What a conversation that was written as text begins with; None for any other text.

    >>> written_out('[{"role": "user", "content": "Hello"}]')
    '[{"role":'
    """
    found = WRITTEN.match(text)
    return found[1] if found and SPEAKER.search(text) else None


def rendered(text: str) -> Iterator[str]:
    """Marks of chat templates, of whatever model, in a text."""
    yield from (mark[0] for mark in RENDERED.finditer(text))
    if "<s>" not in text and (end := ENDED.search(text)):
        yield end[0].strip()
