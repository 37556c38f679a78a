"""Preference data that others made: pairs as TRL reads them, and ranked lists; what they do not say of their origin stays empty.

| keys of a line | what it is |
| --- | --- |
| `prompt`, `chosen`, `rejected` | TRL's pairs with an explicit prompt |
| `chosen`, `rejected` | TRL's pairs with an implicit prompt: what both begin with |
| `prompt`, `completions: [{rank, completion}]` | a ranked list, rank 1 the best; every two of unlike rank are a pair |

Each of them is a text or a conversation (a list of `role` and `content`). A prompt that is a text is asked as a user's turn, in
the model's chat template, as evenhand's own prompts are. `score_chosen` and `score_rejected` become the rewards, where they are
given.
"""

from collections.abc import Iterator, Sequence
from itertools import combinations
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, ConfigDict, Field, model_validator

from ..errors import DataError
from ..records import Message, PreferencePair, Record, Text
from ..storage import NotJsonError, digest, iter_lines, parse_given_line, parse_json

Conversation = Annotated[tuple[Message, ...], Field(min_length=1)]
Said = Text | Conversation
# keys that a pair of evenhand's own has and others' have not
OWN = {"request_id", "chosen_id", "margin"}


def _unlike_scores(given: "GivenPair") -> "GivenPair":
    if (given.score_chosen is None) != (given.score_rejected is None):
        raise ValueError("has one of score_chosen and score_rejected; give both or none")
    if (
        given.score_chosen is not None
        and given.score_rejected is not None
        and given.score_chosen <= given.score_rejected
    ):
        raise ValueError(
            f"score_chosen {given.score_chosen:g} is not above score_rejected {given.score_rejected:g}; leave the line out"
        )
    return given


class GivenPair(Record):
    """A pair as TRL reads it; other columns are passed over."""

    model_config = ConfigDict(extra="ignore")

    prompt: Said | None = None
    chosen: Said
    rejected: Said
    score_chosen: float | None = None
    score_rejected: float | None = None

    _scores = model_validator(mode="after")(_unlike_scores)


class Ranked(Record):
    """A completion and its place, 1 the best; several may share one."""

    rank: int = Field(ge=1)
    completion: Said


def _two(completions: tuple[Ranked, ...]) -> tuple[Ranked, ...]:
    if len({each.rank for each in completions}) < 2:
        raise ValueError("needs completions of at least two ranks, or there is nothing to prefer")
    return completions


class GivenRanks(Record):
    """A ranked list; other columns are passed over."""

    model_config = ConfigDict(extra="ignore")

    prompt: Said
    completions: Annotated[tuple[Ranked, ...], AfterValidator(_two)]


def read_pairs(path: Path) -> tuple[list[tuple[int, PreferencePair]], list[tuple[int, str]]]:
    """The pairs of a file, evenhand's own or others', and what is wrong with its other lines, each with its line's number.

    Raises:
        StorageError: the file cannot be read.
    """
    pairs: list[tuple[int, PreferencePair]] = []
    mistakes: list[tuple[int, str]] = []
    for number, line in iter_lines(path):
        try:
            pairs += [(number, pair) for pair in _of_line(line)]
        except (DataError, ValueError) as error:
            mistakes.append((number, str(error)))
    return pairs, mistakes


def _of_line(line: str) -> Iterator[PreferencePair]:
    try:
        keys = set(parse_json(line))
    except (NotJsonError, TypeError):
        # said in the words of a line that should be a pair
        keys = OWN
    if "completions" in keys:
        yield from _of_ranks(parse_given_line(line, GivenRanks))
    elif keys & OWN or not {"chosen", "rejected"} <= keys:
        yield parse_given_line(line, PreferencePair)
    else:
        yield _of_pair(parse_given_line(line, GivenPair))


def _of_pair(given: GivenPair) -> PreferencePair:
    if given.prompt is not None:
        prompt, chosen, rejected = _asked(given.prompt), _replied(given.chosen), _replied(given.rejected)
    elif isinstance(given.chosen, str) or isinstance(given.rejected, str):
        prompt, chosen, rejected = _parted(str(given.chosen), str(given.rejected))
    else:
        n = sum(1 for _ in _common(given.chosen, given.rejected))
        prompt, chosen, rejected = given.chosen[:n], given.chosen[n:], given.rejected[n:]
    rewards = (1.0, 0.0) if given.score_chosen is None else (given.score_chosen, given.score_rejected or 0.0)
    return _pair(prompt, (chosen, rejected), rewards)


def _of_ranks(given: GivenRanks) -> Iterator[PreferencePair]:
    prompt = _asked(given.prompt)
    for two in combinations(given.completions, 2):
        better, worse = sorted(two, key=lambda each: each.rank)
        if better.rank < worse.rank:
            texts = (_replied(better.completion), _replied(worse.completion))
            yield _pair(prompt, texts, (-float(better.rank), -float(worse.rank)))


def _asked(said: str | Sequence[Message]) -> Sequence[Message]:
    return (Message(role="user", content=said),) if isinstance(said, str) else said


def _replied(said: str | Sequence[Message]) -> Sequence[Message]:
    return (Message(role="assistant", content=said),) if isinstance(said, str) else said


def _parted(chosen: str, rejected: str) -> tuple[Sequence[Message], Sequence[Message], Sequence[Message]]:
    """Two texts without what both begin with, which is their prompt; it ends where a word does."""
    n = sum(1 for _ in _common(chosen, rejected))
    while n and not chosen[n - 1].isspace():
        n -= 1
    if not chosen[:n].strip():
        raise DataError("has no prompt: chosen and rejected begin with no common word; give the prompt as 'prompt'")
    return _asked(chosen[:n].strip()), _replied(chosen[n:].strip()), _replied(rejected[n:].strip())


def _common(first: Sequence[Any], second: Sequence[Any]) -> Iterator[Any]:
    for one, other in zip(first, second, strict=False):
        if one != other:
            return
        yield one


def _pair(
    prompt: Sequence[Message], texts: tuple[Sequence[Message], Sequence[Message]], rewards: tuple[float, float]
) -> PreferencePair:
    """A pair without origin: its ids follow from its texts, so that pairs of one prompt are trained together."""
    chosen, rejected = texts
    request = digest([turn.model_dump() for turn in prompt])
    names = [digest([request, [turn.model_dump() for turn in text]]) for text in texts]
    return PreferencePair(
        prompt=tuple(prompt),
        chosen=tuple(chosen),
        rejected=tuple(rejected),
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
