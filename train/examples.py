"""Preference pairs as token ids: the very tokens that generation saw and made.

The prompt is tokenised by the function that generation uses, and each row asserts that the result is the same. Summaries
are trained on as they were generated; only those whose text was cleaned are tokenised again.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from ..errors import DataError, ModelError
from ..generate.backend import prompt_tokens, tokens_digest
from ..records import Message, PairFairness, PreferencePair
from ..storage import listed

TOO_LONG = "longer than trainer.max_length"
SAME = "chosen and rejected have the same tokens"


@dataclass(frozen=True)
class Row:
    """A pair in tokens."""

    side: str
    prompt_ids: list[int]
    chosen_ids: list[int]
    rejected_ids: list[int]
    weight: float = 1.0
    fairness: PairFairness | None = None

    @property
    def length(self) -> int:
        """Tokens of prompt and longer summary."""
        return len(self.prompt_ids) + max(len(self.chosen_ids), len(self.rejected_ids))

    @property
    def columns(self) -> dict[str, list[int]]:
        """The columns that TRL's collator reads."""
        return {"prompt_ids": self.prompt_ids, "chosen_ids": self.chosen_ids, "rejected_ids": self.rejected_ids}


@dataclass(frozen=True)
class Examples:
    """The rows to train on, and what became of the others."""

    rows: tuple[Row, ...]
    # pairs in the file, by side
    n_by_side: dict[str, int]
    # pairs left out, by (side, reason)
    left_out: dict[tuple[str, str], int]

    @property
    def n_tokens(self) -> int:
        """Tokens of one epoch: the prompt counts twice, once before each summary."""
        return sum(2 * len(row.prompt_ids) + len(row.chosen_ids) + len(row.rejected_ids) for row in self.rows)

    def counts(self) -> dict[str, Any]:
        """Rows in, kept and left out, by side."""
        return {
            "pairs": self.n_by_side,
            "kept": dict(Counter(row.side for row in self.rows)),
            "left_out": [
                {"stage": "train", "side": side, "reason": reason, "count": count}
                for (side, reason), count in sorted(self.left_out.items())
            ],
        }


def build_examples(
    pairs: Sequence[PreferencePair], tokenizer: Any, max_length: int, excess: Literal["raise", "drop"]
) -> Examples:
    """The rows to train on, in the order of the pairs.

    Pairs whose two summaries have the same tokens teach nothing and are left out, counted.

    Args:
        pairs: at least one.
        tokenizer: the policy's.
        max_length: most tokens of prompt and summary together.
        excess: what happens to longer pairs; "drop" leaves them out and counts them.

    Raises:
        DataError: a prompt's tokens are not those of generation, a pair is too long and `excess` is "raise", or nothing
            is left.
    """
    rows = _rows(pairs, tokenizer)
    reasons = [SAME if r.chosen_ids == r.rejected_ids else TOO_LONG if r.length > max_length else None for r in rows]
    if excess == "raise":
        _refuse_long([row for row, why in zip(rows, reasons, strict=True) if why == TOO_LONG], len(rows), max_length)
    examples = Examples(
        rows=tuple(row for row, why in zip(rows, reasons, strict=True) if why is None),
        n_by_side=dict(Counter(row.side for row in rows)),
        left_out=dict(Counter((row.side, why) for row, why in zip(rows, reasons, strict=True) if why is not None)),
    )
    if not examples.rows:
        raise DataError(
            f"none of {len(rows)} pairs can be trained on: {examples.counts()['left_out']}; raise trainer.max_length, "
            "or make other pairs"
        )
    return examples


def _rows(pairs: Sequence[PreferencePair], tokenizer: Any) -> list[Row]:
    prompts: dict[tuple[Message, ...], list[int]] = {}
    rows, strange = [], []
    for pair in pairs:
        if pair.prompt not in prompts:
            prompts[pair.prompt] = prompt_tokens(tokenizer, pair.prompt)
        prompt_ids = prompts[pair.prompt]
        found = tokens_digest(prompt_ids)
        if found != pair.prompt_digest:
            strange.append(
                f"request {pair.request_id!r}: training would see other tokens than generation did (digest {found}, "
                f"the pair says {pair.prompt_digest!r})"
            )
        chosen = _summary_tokens(tokenizer, pair.chosen, pair.chosen_token_ids)
        rejected = _summary_tokens(tokenizer, pair.rejected, pair.rejected_token_ids)
        rows.append(Row(pair.side, prompt_ids, chosen, rejected, pair.weight, pair.fairness))
    if strange:
        remedy = "train the model that generated, with the same tokenizer and chat template, or generate anew"
        raise DataError(f"{listed(list(dict.fromkeys(strange)))}\n{remedy}")
    return rows


def _summary_tokens(tokenizer: Any, turns: Sequence[Message], generated: Sequence[int]) -> list[int]:
    if generated:
        return list(generated)
    if tokenizer.eos_token_id is None:
        raise ModelError(
            "the tokenizer has no end token, so a summary's end cannot be learnt; set eos_token in tokenizer_config.json"
        )
    text = "\n\n".join(turn.content for turn in turns)
    return [*tokenizer(text, add_special_tokens=False)["input_ids"], tokenizer.eos_token_id]


def _refuse_long(rows: Sequence[Row], n: int, max_length: int) -> None:
    if not rows:
        return
    sides = ", ".join(f"{side}: {count}" for side, count in sorted(Counter(row.side for row in rows).items()))
    raise DataError(
        f"{len(rows)} of {n} pairs are longer than trainer.max_length {max_length} ({sides}; longest "
        f"{max(row.length for row in rows)} tokens); raise trainer.max_length, or write train.excess_length_strategy: drop "
        "to leave them out, which favours the sides with shorter documents"
    )
