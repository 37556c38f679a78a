"""What stands around the turns of a chat, in tokens: the one that ends an answer, and those that no text may spell.

Nothing is listed: a probing chat is rendered with the tokenizer's own chat template. The template, not `eos_token`, says how a
turn ends: Gemma's end with <end_of_turn>, and its end token is <eos>.
"""

import logging
from dataclasses import dataclass, field
from typing import Any

from ..errors import UnfitModelError
from ..text import fold, has_words
from .chat import CHATS, PROBE, PROBES, in_template, marks_of, probed, special_tokens

log = logging.getLogger(__name__)

NO_END = "the tokenizer has no end token, so a summary's end cannot be learnt; set eos_token in tokenizer_config.json"


@dataclass(frozen=True)
class Turns:
    """The marks of a tokenizer's chat format."""

    tokenizer: Any = field(repr=False)
    # token that ends an assistant's turn; None where neither the chat template nor the tokenizer has one
    end: int | None
    # what the chat template writes behind an assistant's answer, without white space around it
    behind: str
    # tokens that were added to the vocabulary and are no white space
    added: frozenset[int]
    # tokens that are the model's and no text's: special ones, and those that the chat template writes
    control: frozenset[int]
    # marks that the chat template writes in ordinary tokens: "[/INST]", "### Response:"
    written: tuple[str, ...]

    def is_end(self, token: int) -> bool:
        """Whether a token that was drawn last is no part of the answer, special or not."""
        piece = str(self.tokenizer.decode([token])).strip()
        return token in self.added or bool(piece and self.behind.startswith(piece))

    def without_ends(self, text: str) -> str:
        """The text without the ends of a turn that it spells at its own end."""
        bare, ends = text.rstrip(), self._ends
        if not bare.endswith(ends):
            return text
        while bare.endswith(ends):
            bare = bare.removesuffix(next(end for end in ends if bare.endswith(end))).rstrip()
        return bare

    def spelt(self, text: str) -> str | None:
        """A mark of turns that the text has, and that would be read as one; None without one."""
        tokens = self.tokenizer(text, add_special_tokens=False)["input_ids"]
        read = next((str(self.tokenizer.decode([token])) for token in tokens if token in self.control), None)
        return read or next((mark for mark in self.written if mark in text), None)

    def alone(self, text: str) -> list[int]:
        """The tokens of an answer by itself, with its end.

        Raises:
            UnfitModelError: neither the chat template nor the tokenizer has an end.
        """
        if self.end is None:
            raise UnfitModelError(NO_END)
        return [*self.tokenizer(text, add_special_tokens=False)["input_ids"], self.end]

    def answer(self, text: str) -> list[int]:
        """The tokens of an answer with its end, as the chat template has them behind its opening of the turn.

        A text by itself may have others: SentencePiece begins it with a space. It is taken by itself where the template changes
        the text, opens the turn otherwise, or writes no end.

        Raises:
            UnfitModelError: neither the chat template nor the tokenizer has an end.
        """
        if self.tokenizer.chat_template and self.behind:
            asked = {"role": "user", "content": PROBES[1]}
            options = {"tokenize": True, "return_dict": True}
            opened = list(in_template(self.tokenizer, [asked], **options)["input_ids"])
            turns = [asked, {"role": "assistant", "content": text}]
            whole = list(in_template(self.tokenizer, turns, add_generation_prompt=False, **options)["input_ids"])
            rest = whole[len(opened) :]
            if whole[: len(opened)] == opened and self.end in rest:
                answer = rest[: rest.index(self.end)]
                if fold(str(self.tokenizer.decode(answer))) == fold(text):
                    return [*answer, self.end]
        return self.alone(text)

    @property
    def end_of_text(self) -> str:
        """What ends a text that is no chat.

        Raises:
            UnfitModelError: the tokenizer has no end token.
        """
        if self.tokenizer.eos_token is None:
            raise UnfitModelError(NO_END)
        return str(self.tokenizer.eos_token)

    @property
    def _ends(self) -> tuple[str, ...]:
        names = [self.tokenizer.eos_token, "" if self.end is None else str(self.tokenizer.decode([self.end]))]
        return tuple(name.strip() for name in names if name and name.strip())


def turns_of(tokenizer: Any) -> Turns:
    """The marks of this tokenizer's chat format."""
    added = frozenset(
        number for number, token in tokenizer.added_tokens_decoder.items() if str(token).strip("\u2581\t\n\r ")
    )
    behind = _behind_an_answer(tokenizer)
    ends = _ends(tokenizer, behind, added)
    if behind and not ends:
        log.warning(
            "the chat template of %r ends an answer with %r, which is no token: texts that are tokenised for training end with "
            "eos_token %r instead",
            tokenizer.name_or_path,
            behind,
            tokenizer.eos_token,
        )
    special = special_tokens(tokenizer)
    around = probed(tokenizer) if tokenizer.chat_template else ""
    parts = PROBE.split(around)
    # a system's own text stands before the first message, and has words
    written = marks_of("\n".join(parts[1:]).splitlines(), special)[0] | {
        mark for mark in marks_of("\n".join(parts).splitlines(), special)[0] if len(mark.split()) == 1
    }
    in_chat = tokenizer(around, add_special_tokens=False)["input_ids"]
    control = {*tokenizer.convert_tokens_to_ids(sorted(special)), *(added & {*in_chat}), *ends[:1]}
    return Turns(
        tokenizer,
        ends[0] if ends else tokenizer.eos_token_id,
        behind,
        added,
        # what a tokenizer does not know is a text's
        frozenset(control - {tokenizer.unk_token_id, None}),
        tuple(sorted(written)),
    )


def _behind_an_answer(tokenizer: Any) -> str:
    """What the chat template writes behind the last answer of a chat; "" without a template, or one that takes no answer."""
    for chat in CHATS[:2] if tokenizer.chat_template else ():
        try:
            text = in_template(tokenizer, chat[:-1], tokenize=False, add_generation_prompt=False)
        except UnfitModelError:
            continue
        _, probe, behind = str(text).rpartition(PROBES[2])
        return behind.strip() if probe else ""
    return ""


def _ends(tokenizer: Any, behind: str, added: frozenset[int]) -> list[int]:
    """The tokens of what stands behind an answer that end it; [] where it has none."""
    if not has_words(behind):
        return []
    tokens = tokenizer(behind, add_special_tokens=False)["input_ids"]
    # an end may stand in the vocabulary like any word
    return [token for token in tokens if token in added] or [
        token for token in tokens if str(tokenizer.decode([token])).strip() == behind.split(maxsplit=1)[0]
    ]
