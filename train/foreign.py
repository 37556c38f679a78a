"""Preference data that others made: pairs as TRL reads them, and ranked lists; what they do not say of their origin stays empty.

| keys of a line | what it is |
| --- | --- |
| `prompt`, `chosen`, `rejected` | TRL's pairs with an explicit prompt |
| `chosen`, `rejected` | TRL's pairs with an implicit prompt: what both begin with |
| `prompt`, `completions: [{rank, completion}]` | a ranked list, rank 1 the best; every two of unlike rank are a pair |

Each of them is a text or a conversation (a list of `role` and `content`). A prompt that is a text is asked as a user's turn, in
the model's chat template, as evenhand's own prompts are; a dialogue in one text becomes its turns (see `dialogues`). With
`train.texts: plain` texts are trained as stock TRL trains them, without a template. `score_chosen` and `score_rejected` become
the rewards, where they are given.
"""

import re
from collections.abc import Iterator
from itertools import combinations
from operator import itemgetter
from pathlib import Path

from pydantic import ConfigDict, Field, ValidationError, field_validator, model_validator

from ..errors import DataError
from ..records import PreferencePair, Record
from ..storage import iter_lines, parse_given_line
from ..text import some_of
from ..text.digests import digest
from ..text.json_text import NotJsonError, parse_json
from ..text.mistakes import explain
from ..text.shown import shortened
from .dialogues import written_out
from .prompt_split import Form, Said, prompted, role_turns, turns_apart

# how an error names a record that contradicts itself
WHOLE = "'record'"
# how an error names what a text may be; no file has such keys
KINDS = re.compile(r"\.(?:text|conversation)(?=[.'])")
# keys that a pair of evenhand's own has and others' have not
OWN = {"request_id", "chosen_id", "margin"}


class TextPair(PreferencePair):
    """A pair of texts that are trained as they are; its one turn each is no turn of a chat."""


class GivenPair(Record):
    """A pair as TRL reads it; other columns are passed over."""

    model_config = ConfigDict(extra="ignore")

    prompt: Said | None = None
    chosen: Said
    rejected: Said
    score_chosen: float | None = None
    score_rejected: float | None = None

    @model_validator(mode="after")
    def _scores_are_in_order(self) -> "GivenPair":
        chosen, rejected = self.score_chosen, self.score_rejected
        if (chosen is None) != (rejected is None):
            raise ValueError("has one of score_chosen and score_rejected; give both or none")
        if chosen is not None and rejected is not None and chosen <= rejected:
            raise ValueError(f"score_chosen {chosen:g} is not above score_rejected {rejected:g}; leave the line out")
        return self

    def pairs(self, texts: Form) -> Iterator[PreferencePair]:
        """The one pair that this is."""
        answers = {"chosen": self.chosen, "rejected": self.rejected}
        _refuse_written(texts, prompt=self.prompt, **answers)
        if self.prompt is None:
            prompt, chosen, rejected = prompted(self.chosen, self.rejected, texts)
        else:
            prompt, (chosen, rejected) = turns_apart(self.prompt, answers, texts)
        rewards = (1.0, 0.0) if self.score_chosen is None else (self.score_chosen, self.score_rejected or 0.0)
        yield _pair(prompt, (chosen, rejected), rewards, texts)


class RankedCompletion(Record):
    """A completion and its place, 1 the best; several may share one."""

    rank: int = Field(ge=1)
    completion: Said


class GivenRanks(Record):
    """A ranked list; other columns are passed over."""

    model_config = ConfigDict(extra="ignore")

    prompt: Said
    completions: tuple[RankedCompletion, ...]

    @field_validator("completions")
    @classmethod
    def _ranks_differ(cls, completions: tuple[RankedCompletion, ...]) -> tuple[RankedCompletion, ...]:
        if len({completion.rank for completion in completions}) < 2:
            raise ValueError("needs completions of at least two ranks, or there is nothing to prefer")
        return completions

    def pairs(self, texts: Form) -> Iterator[PreferencePair]:
        """Every two completions of unlike rank."""
        named = {f"completions[{number}]": completion.completion for number, completion in enumerate(self.completions)}
        _refuse_written(texts, prompt=self.prompt, **named)
        prompt, answers = turns_apart(self.prompt, named, texts)
        ranked = zip((completion.rank for completion in self.completions), answers, strict=True)
        for two in combinations(ranked, 2):
            (best, better), (worst, worse) = sorted(two, key=itemgetter(0))
            if best < worst:
                yield _pair(prompt, (better, worse), (-float(best), -float(worst)), texts)


def _refuse_written(texts: Form, **values: Said | None) -> None:
    """Refuse conversations that a table had as texts, where a text would become a turn."""
    for name, value in values.items():
        if texts == "chat" and isinstance(value, str) and (beginning := written_out(value)):
            raise DataError(
                f"{name} begins with {beginning!r}: a conversation that was written as text; write the list itself, or train "
                "texts as they are: train.texts: plain"
            )


def read_pairs(path: Path, texts: Form = "chat") -> tuple[list[tuple[int, PreferencePair]], list[tuple[int, str]]]:
    """The pairs of a file, evenhand's own or others', and what is wrong with its other lines, each with its line's number.

    Args:
        path: the file.
        texts: what becomes of others' texts: turns of a chat, or texts as they are.

    Raises:
        StorageError: the file cannot be read.
    """
    pairs: list[tuple[int, PreferencePair]] = []
    mistakes: list[tuple[int, str]] = []
    for number, line in iter_lines(path):
        try:
            pairs += [(number, pair) for pair in _of_line(line, texts)]
        except (DataError, ValueError) as error:
            mistakes.append((number, KINDS.sub("", str(error))))
    return pairs, mistakes


def _of_line(line: str, texts: Form) -> Iterator[PreferencePair]:
    try:
        row = parse_json(line)
    except NotJsonError:
        row = None
    # what is no object is told in the words of a line that should be a pair
    keys = set(row) if isinstance(row, dict) else OWN
    if "completions" in keys:
        yield from parse_given_line(line, GivenRanks).pairs(texts)
    elif keys & OWN:
        yield parse_given_line(line, PreferencePair)
    elif {"chosen", "rejected"} <= keys:
        yield from parse_given_line(line, GivenPair).pairs(texts)
    else:
        names = some_of([*map(shortened, sorted(keys))]) or "(none)"
        alone = "; a completion with a label is preferred to nothing" if {"completion", "label"} <= keys else ""
        raise DataError(
            f"has the keys {names}, which make no pair{alone}; write prompt, chosen and rejected, or chosen and rejected that "
            "begin with the prompt, or prompt and completions (a list of rank and completion), each a text or a conversation"
        )


def _pair(prompt: Said, answers: tuple[Said, Said], rewards: tuple[float, float], texts: Form) -> PreferencePair:
    """A pair without origin: its ids follow from its texts, so that pairs of one prompt are trained together.

    Raises:
        DataError: both texts are the same, or a conversation has the wrong roles.
    """
    turns = role_turns("user", prompt)
    chosen, rejected = (role_turns("assistant", text) for text in answers)
    request = digest([turn.model_dump() for turn in turns])
    names = [digest([request, [turn.model_dump() for turn in text]]) for text in (chosen, rejected)]
    is_plain = texts == "plain" and all(isinstance(text, str) for text in (prompt, *answers))
    try:
        return (TextPair if is_plain else PreferencePair)(
            prompt=turns,
            chosen=chosen,
            rejected=rejected,
            request_id=request,
            set_id=request,
            side="",
            chosen_id=names[0],
            rejected_id=names[1],
            chosen_reward=rewards[0],
            rejected_reward=rewards[1],
            margin=rewards[0] - rewards[1],
            prompt_digest="",
        )
    except ValidationError as error:
        raise DataError(f"{explain(error).removeprefix(f'{WHOLE}: ')}; mend the line, or leave it out") from error
