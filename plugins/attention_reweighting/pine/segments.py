"""Prompts whose passages are segments: how they are laid out, and how they become tokens.

    target   the passages of the side that is asked for are the segments; the other sides' stand before them, under their label
    all      the passages of all sides are the segments, each with its side's name before it; of a request for all sides, without

Every segment ends with a line break, so that any order of them gives a prompt of the same form. Each part is tokenised by itself;
the chat template's own words belong to prefix and suffix.
"""

from dataclasses import dataclass
from typing import Any

from ....config import Recipe
from ....generate.backend import Ask
from ....generate.chat import chat_text, defused
from ....generate.requests import (
    heading,
    lines_of,
    mixed_documents,
    prompt_around,
    sides_of,
    template_sections,
)
from ....prompts import fence
from ....records import Message, SummaryRequest
from ....text import fold
from ..sections import AttentionReweightingSection

# stands for the segments while the chat template is filled; of a private area of Unicode
MARK = "\ue0ee\ue0ff"


@dataclass(frozen=True)
class PromptParts:
    """A prompt in tokens: what stands before the segments, the segments, what stands after them."""

    prefix: tuple[int, ...]
    segments: tuple[tuple[int, ...], ...]
    # at least one token
    suffix: tuple[int, ...]

    @property
    def token_ids(self) -> tuple[int, ...]:
        """All tokens in order."""
        return (*self.prefix, *(token for segment in self.segments for token in segment), *self.suffix)


@dataclass(frozen=True)
class SegmentedAsk(Ask):
    """An ask whose last message has segments, one directly after another."""

    segments: tuple[str, ...] = ()
    # place of the first segment in the last message's text
    start: int = 0
    # True for the control: the very same tokens as one segment, which is ordinary attention
    is_joined: bool = False


def segmented_prompt(
    request: SummaryRequest, recipe: Recipe, options: AttentionReweightingSection
) -> tuple[tuple[Message, ...], tuple[str, ...], int]:
    """The chat that asks for the request, its segments, and the place of the first of them in the last message.

    Raises:
        RecipeError: the task's template has not one place for the documents.
    """
    before, after = prompt_around(request, recipe.corpus, recipe.task)
    sections = template_sections(recipe.task)
    if request.perspective is None:
        # which document is of which side is not said
        segments = tuple(f"- {fold(document.text)}\n" for document in mixed_documents(request.document_set))
    elif options.mode == "all":
        segments = tuple(
            f"{heading(side, recipe.task)}: {line}\n"
            for side in _sides(request, recipe)
            for line in _lines(request, recipe, side)
        )
    else:
        other_sides = [side for side in _sides(request, recipe) if side != request.side]
        blocks = [
            "\n".join([f"{heading(side, recipe.task)}:", *_lines(request, recipe, side)]) + "\n\n"
            for side in other_sides
        ]
        before += fence("".join([*blocks, f"{heading(request.side, recipe.task)}:\n"]), sections)
        segments = tuple(f"{line}\n" for line in _lines(request, recipe, request.side))
    segments = _segments_of(fence("".join(segments), sections))
    # the last line break belongs to the last segment, and what follows it begins with one of the template's
    content = before + "".join(segments) + after.removeprefix("\n")
    return (*request.prompt[:-1], Message(role="user", content=content)), segments, len(before)


def _sides(request: SummaryRequest, recipe: Recipe) -> tuple[str, ...]:
    return sides_of(request.document_set, recipe.corpus)


def _lines(request: SummaryRequest, recipe: Recipe, side: str) -> list[str]:
    return lines_of(request.document_set, side, recipe.corpus, recipe.task)


def read_parts(tokenizer: Any, ask: Ask) -> PromptParts:
    """The ask's prompt in tokens, in its parts; an ask without segments has only a prefix and a suffix."""
    *turns, last = ask.prompt
    if not isinstance(ask, SegmentedAsk):
        ask = SegmentedAsk(ask.prompt, ask.sampling, ask.seed, start=len(last.content))
    segments, start = ask.segments, ask.start
    before, after = last.content[:start], last.content[start + sum(map(len, segments)) :]
    marked = defused(tokenizer, _unmarked(before)) + MARK + defused(tokenizer, _unmarked(after))
    chat = [{"role": turn.role, "content": defused(tokenizer, _unmarked(turn.content))} for turn in turns]
    chat.append({"role": last.role, "content": marked})
    text = chat_text(tokenizer, chat)
    prefix, _, suffix = text.partition(MARK)
    special = tokenizer.chat_template is None
    tokens = tuple(_tokens(tokenizer, segment) for segment in _segments_of(defused(tokenizer, "".join(segments))))
    if ask.is_joined:
        tokens = (tuple(token for segment in tokens for token in segment),)
    return PromptParts(
        prefix=tuple(tokenizer(prefix, add_special_tokens=special)["input_ids"]),
        segments=tokens,
        suffix=_tokens(tokenizer, suffix),
    )


def _segments_of(text: str) -> tuple[str, ...]:
    """The segments of a text, each a line; what guards a text sees all, so that two cannot forge what each alone may not."""
    return tuple(f"{line}\n" for line in text.split("\n")[:-1])


def _unmarked(text: str) -> str:
    # without all of its first characters: taking whole marks out could leave one that stood around another
    return text.replace(MARK[0], "")


def _tokens(tokenizer: Any, text: str) -> tuple[int, ...]:
    return tuple(tokenizer(text, add_special_tokens=False)["input_ids"])
