"""Preference pairs as token ids: the very tokens that generation saw and made.

The prompt is tokenised by the function that generation uses, and must give the same tokens. Summaries are trained on as they were
generated, and the tokens must say what the text says; only those whose text was cleaned, and others' pairs, are tokenised here,
and end with the token that ends a turn in the chat template. Texts that others made may spell no mark of a turn.
"""

import logging
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any, Literal

from ..errors import DataError, UnfitModelError
from ..generate.backend import prompt_tokens, tokens_digest
from ..generate.chat import defused
from ..generate.turns import turns_of
from ..records import LeftOut, PairFairness, PreferencePair
from ..text.mistakes import listed_lines
from ..text.shown import shortened
from .dialogues import REMEDY, rendered
from .foreign import TextPair, read_pairs
from .prompt_split import Form, n_common

log = logging.getLogger(__name__)

TOO_LONG = "longer than trainer.max_length"
# others' pairs
SIDELESS = "without a side"
SAME = "chosen and rejected have the same tokens"


@dataclass(frozen=True)
class TokenPair:
    """A pair in tokens."""

    side: str
    prompt_ids: list[int]
    chosen_ids: list[int]
    rejected_ids: list[int]
    weight: float = 1.0
    fairness: PairFairness | None = None
    set_id: str = ""

    @property
    def length(self) -> int:
        """Tokens of prompt and longer summary."""
        return len(self.prompt_ids) + max(len(self.chosen_ids), len(self.rejected_ids))

    @property
    def columns(self) -> dict[str, list[int]]:
        """The columns that TRL's collator reads."""
        return {"prompt_ids": self.prompt_ids, "chosen_ids": self.chosen_ids, "rejected_ids": self.rejected_ids}


@dataclass(frozen=True)
class TrainingPairs:
    """The rows to train on, and what became of the others."""

    rows: tuple[TokenPair, ...]
    # pairs in the file, by side
    n_by_side: dict[str, int]
    # pairs left out
    left_out: tuple[LeftOut, ...]

    @property
    def n_tokens(self) -> int:
        """Tokens of one epoch: the prompt counts twice, once before each summary."""
        return sum(2 * len(row.prompt_ids) + len(row.chosen_ids) + len(row.rejected_ids) for row in self.rows)

    @property
    def kept(self) -> dict[str, int]:
        """Rows by side."""
        return dict(Counter(row.side for row in self.rows))


def read_rows(path: Path, tokenizer: Any, texts: Form = "chat") -> list[TokenPair]:
    """The pairs of a file in tokens, in its order.

    Args:
        path: a file of preference pairs, evenhand's own or as others write them; see `foreign`.
        tokenizer: the policy's.
        texts: whether others' texts are asked and answered in the chat template, or "plain", as TRL trains them.

    Raises:
        DataError: lines are not pairs, contradict themselves, or have other tokens than this tokenizer makes; all are listed.
        ModelError: the tokenizer has no end token.
    """
    pairs, mistakes = read_pairs(path, texts)
    tokens = _Tokens(tokenizer)
    mistakes += [(line, mistake) for line, pair in pairs for mistake in tokens.mistakes(pair)]
    mistakes += _changed_on_the_way(pairs)
    if mistakes:
        raise DataError(listed_lines(path, mistakes))
    others = ((line, pair) for line, pair in pairs if not pair.prompt_digest)
    warn_of_space(
        str(path), "line", ((line, "\n".join(f"{m.role} {m.content}" for m in pair.prompt)) for line, pair in others)
    )
    return [tokens.row(pair) for _, pair in pairs]


def warn_of_space(place: str, unit: str, prompts: Iterable[tuple[int, str]]) -> None:
    """Warn of prompts that white space alone tells apart: they share nothing.

    Args:
        place: where they stand, for the message.
        unit: what is numbered there, "line" or "row".
        prompts: number and text of each.
    """
    first_of: dict[str, tuple[int, str]] = {}
    twins = []
    for number, text in prompts:
        first, known = first_of.setdefault(" ".join(text.split()), (number, text))
        if text != known:
            twins.append((first, number))
    if twins:
        log.warning(
            "%s: prompts of %d %ss differ from an earlier %s's by white space alone (the first: %ss %d and %d) and share nothing "
            "with it; strip them alike", place, len(twins), unit, unit, unit, *twins[0],
        )  # fmt: skip


def _changed_on_the_way(pairs: Sequence[tuple[int, PreferencePair]]) -> Iterator[tuple[int, str]]:
    """Lines on which a request or one of its candidates is not what an earlier line has under the same id."""
    seen: dict[tuple[str, str], tuple[int, object]] = {}
    for line, pair in pairs:
        for subject, content in (
            ("it", pair.prompt),
            (f"its candidate {pair.chosen_id!r}", pair.chosen_text),
            (f"its candidate {pair.rejected_id!r}", pair.rejected_text),
        ):
            first, known = seen.setdefault((pair.request_id, subject), (line, content))
            if content != known:
                yield (
                    line,
                    f"request {pair.request_id!r}: {subject} has another text than on line {first}; one id names one text",
                )


def build_examples(rows: Sequence[TokenPair], max_length: int, excess: Literal["raise", "drop"]) -> TrainingPairs:
    """The rows to train on, in their order.

    Pairs whose two summaries have the same tokens teach nothing and are left out, counted.

    Args:
        rows: at least one.
        max_length: most tokens of prompt and summary together.
        excess: what happens to longer pairs; "drop" leaves them out and counts them.

    Raises:
        DataError: a pair is too long and `excess` is "raise", or nothing is left.
    """
    reasons = [SAME if r.chosen_ids == r.rejected_ids else TOO_LONG if r.length > max_length else None for r in rows]
    long = [row for row, why in zip(rows, reasons, strict=True) if why == TOO_LONG]
    if long and excess == "raise":
        sides = ", ".join(
            f"{side or SIDELESS}: {count}" for side, count in sorted(Counter(row.side for row in long).items())
        )
        raise DataError(
            f"{len(long)} of {len(rows)} pairs are longer than trainer.max_length {max_length} ({sides}; longest "
            f"{max(row.length for row in long)} tokens); raise trainer.max_length, or write train.excess_length_strategy: drop "
            "to leave them out, which favours the sides with shorter documents"
        )
    examples = TrainingPairs(
        rows=tuple(row for row, why in zip(rows, reasons, strict=True) if why is None),
        n_by_side=dict(Counter(row.side for row in rows)),
        left_out=LeftOut.rows(
            ("side", "reason"),
            Counter((row.side, why) for row, why in zip(rows, reasons, strict=True) if why is not None),
            stage="train",
            what="pair",
        ),
    )
    if not examples.rows:
        why = ", ".join(f"{row.reason} ({row.side or SIDELESS} {row.count})" for row in examples.left_out)
        raise DataError(
            f"none of {len(rows)} pairs can be trained on: {why}; raise trainer.max_length, or make other pairs"
        )
    return examples


class _Tokens:
    """A tokenizer's reading of pairs; prompts and summaries that stand in several are read once."""

    def __init__(self, tokenizer: Any) -> None:
        self.tokenizer = tokenizer
        self.turns = turns_of(tokenizer)
        self.prompt = cache(partial(prompt_tokens, tokenizer))
        self.spelt, self.cleaned, self.answer = cache(self.turns.spelt), cache(self._cleaned), cache(self._answer)
        self.decoded = cache(lambda ids: str(tokenizer.decode(list(ids), skip_special_tokens=True)))

    def row(self, pair: PreferencePair) -> TokenPair:
        """The pair in tokens."""
        if isinstance(pair, TextPair):
            return TokenPair(pair.side, *self._plain(pair), pair.weight, set_id=pair.set_id)
        encode = self.cleaned if pair.prompt_digest else self.answer
        return TokenPair(
            pair.side,
            self.prompt(pair.prompt),
            list(pair.chosen_token_ids) or encode(pair.chosen_text),
            list(pair.rejected_token_ids) or encode(pair.rejected_text),
            pair.weight,
            pair.fairness,
            pair.set_id,
        )

    def mistakes(self, pair: PreferencePair) -> Iterator[str]:
        """What the pair says of its tokens and this tokenizer does not, and what it says that no text may."""
        if isinstance(pair, TextPair):
            if not self._plain(pair)[0]:
                yield "the prompt shares no token with the prompt and its summaries; write a longer one"
            return
        if not pair.prompt_digest:
            yield from self._spelt(pair)
        try:
            prompt_digest = tokens_digest(self.prompt(pair.prompt))
        except UnfitModelError as error:
            yield f"prompt: {error}"
            prompt_digest = pair.prompt_digest
        # a pair that others made says nothing of its tokens
        if pair.prompt_digest and prompt_digest != pair.prompt_digest:
            yield (
                f"request {pair.request_id!r}: training would see other tokens than generation did (digest {prompt_digest}, the "
                f"pair says {pair.prompt_digest!r}); train the model that generated, with the same tokenizer and chat template, "
                "or generate again"
            )
        for name, ids, text in (
            ("chosen_token_ids", pair.chosen_token_ids, pair.chosen_text),
            ("rejected_token_ids", pair.rejected_token_ids, pair.rejected_text),
        ):
            if not ids:
                continue
            if max(ids) >= len(self.tokenizer):
                yield f"{name}: {max(ids)} is not a token of the model, which has {len(self.tokenizer)}"
            elif not self._say(ids, text):
                yield (
                    f"{name} say {shortened(self.decoded(ids))} and the text is {shortened(text)}; leave the tokens out, and the "
                    "text is tokenised"
                )

    def _say(self, ids: tuple[int, ...], text: str) -> bool:
        """Whether tokens as they were drawn are this text; the end that was drawn with them is none of it."""
        spoken = [ids, ids[:-1]] if self.turns.is_end(ids[-1]) else [ids]
        return letters(text) in (letters(self.decoded(tokens)) for tokens in spoken)

    def _spelt(self, pair: PreferencePair) -> Iterator[str]:
        """Marks of turns that others' texts spell, but for the end of a turn where a summary ends."""
        texts = [("prompt", turn.content) for turn in pair.prompt]
        texts += [
            (name, self.turns.without_ends(text))
            for name, text in (("chosen", pair.chosen_text), ("rejected", pair.rejected_text))
        ]
        for name, text in texts:
            if (mark := self.spelt(text)) is not None:
                yield (
                    f"{name} spells {mark!r}, which is a mark of the model's own turns and no text; write a conversation (a list "
                    "of role and content), or leave the line out"
                )
            elif (mark := next(rendered(text), None)) is not None:
                yield f"{name} spells {mark!r}, which is a mark of some other model's turns and no text; {REMEDY}"
            elif not text.strip():
                yield f"{name} is empty; mend the line, or leave it out"

    def _plain(self, pair: TextPair) -> tuple[list[int], list[int], list[int]]:
        """Prompt, chosen and rejected as stock TRL tokenises texts: joined, and cut where they part from the prompt."""
        end, prompt = self.turns.end_of_text, pair.prompt[0].content
        sequences = [
            self._ids(prompt + text + ("" if text.endswith(end) else end))
            for text in (pair.chosen_text, pair.rejected_text)
        ]
        alone = self._ids(prompt)
        n_prompt = min(n_common(alone, ids) for ids in sequences)
        return alone[:n_prompt], sequences[0][n_prompt:], sequences[1][n_prompt:]

    def _ids(self, text: str) -> list[int]:
        return list(self.tokenizer(text)["input_ids"])

    def _cleaned(self, text: str) -> list[int]:
        """Tokens of a summary of our own model whose text was cleaned."""
        text = self.turns.without_ends(text)
        # no text ends its turn and begins another
        return self.turns.alone(text if self.spelt(text) is None else defused(self.tokenizer, text))

    def _answer(self, text: str) -> list[int]:
        """Tokens of a summary that others wrote: those of stock TRL, which renders the whole chat, up to the end of the turn."""
        return self.turns.answer(self.turns.without_ends(text))


def letters(text: str) -> str:
    """A text without what programs decode in different ways: white space, and bytes that are not a whole character."""
    return "".join(text.replace("\ufffd", "").split())
