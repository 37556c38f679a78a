"""What becomes of an input whose prompt is longer than the judge's model takes: an error, no score, or a shorter source.

Only the backend knows how many tokens a prompt has, so a source is shortened after it was refused, by as many words as the
excess amounts to, and asked about again; a few rounds are enough. Source: docs/papers.md#ri-overflow.
"""

import heapq
import json
import logging
import math
import re
from collections.abc import Callable, Generator, Sequence
from dataclasses import replace
from typing import Any, Literal

from ..errors import JudgeError
from ..generate.backend import TOO_LONG, Ask, Reply
from ..records import Message
from ..text.digests import canonical_json
from .asking import Rounds
from .judge import JudgeInput, Verdict

log = logging.getLogger(__name__)

Overflow = Literal["skip", "truncate", "error"]
# key of a verdict's `raw` that says by how many words its source was cut
CUT_WORDS = "cut_words"
# key of a verdict's `raw` that says in how many comparisons the source was cut
CUT_PAIRS = "cut"
# what such a `raw` has for keys besides others: of a shortened prompt, of an extract, of a matrix of support, of
# evidence on units, of shares by a model, of comparisons of two
CUT_SHAPES = (
    {CUT_WORDS, "reply"},
    {CUT_WORDS, "words"},
    {CUT_PAIRS, "best"},
    {CUT_PAIRS, "units"},
    {CUT_PAIRS, "due"},
    {CUT_PAIRS, "ties"},
)

WORD = re.compile(r"\S+")


def shortened(text: str, n_words: int) -> str:
    """The text with `n_words` words less: each time the last word of the passage (line) that is then the longest.

    Of passages equally long the last gives way. A passage that loses all of its words goes with its line.
    """
    lines = text.split("\n")
    ends = [[word.end() for word in WORD.finditer(line)] for line in lines]
    kept = [len(of_line) for of_line in ends]
    # the longest line, of equals the last, stands first
    order = [(-n, -i) for i, n in enumerate(kept)]
    heapq.heapify(order)
    for _ in range(min(n_words, sum(kept))):
        n, i = order[0]
        kept[-i] -= 1
        heapq.heapreplace(order, (n + 1, i))
    shortened_lines = [
        line[: of_line[n - 1]] if n else ""
        for line, of_line, n in zip(lines, ends, kept, strict=True)
        if n or not of_line
    ]
    return "\n".join(shortened_lines).strip()


def within_length(
    ask: Callable[[Sequence[JudgeInput]], Rounds],
    prompt: Callable[[JudgeInput], tuple[Message, ...]],
    inputs: Sequence[JudgeInput],
    policy: Overflow,
    most_tokens: int,
) -> Rounds:
    """The rounds that ask about these inputs, and about shortened ones where the policy is to truncate.

    Args:
        ask: the rounds without a policy.
        prompt: the chat about one input.
        inputs: what is judged.
        policy: "skip" leaves a refused input unscored; "truncate" shortens its source and flags the verdict: its `raw` is a JSON
            object with the number of words cut and what `raw` was; "error" stops the run.
        most_tokens: room for the prompt, the answer's tokens taken off.

    Raises:
        JudgeError: the policy is "error" and a prompt was refused for its length; all such candidates are named.
    """
    now = list(inputs)
    lengths: dict[tuple[Message, ...], int] = {}
    verdicts = yield from _noting(ask(now), lengths)
    refused = [i for i, verdict in enumerate(verdicts) if verdict.unscored == TOO_LONG]
    if refused and policy == "error":
        named = ", ".join(f"{inputs[i].candidate_id} ({verdicts[i].raw})" for i in refused[:5])
        raise JudgeError(
            f"{len(refused)} of {len(inputs)} prompts are too long for the judge's model: {named}; raise "
            "backend.max_model_len, or write overflow: skip or overflow: truncate"
        )
    while policy == "truncate" and refused:
        for i in refused:
            chat = prompt(now[i])
            words_per_token = sum(len(message.content.split()) for message in chat) / lengths[chat]
            excess = math.ceil((lengths[chat] - most_tokens) * min(1.0, words_per_token))
            now[i] = replace(now[i], reference=shortened(now[i].reference, max(1, excess)))
        # a source without a word left is not asked about: the rest of the prompt alone is too long
        again = [i for i in refused if now[i].reference]
        found = yield from _noting(ask([now[i] for i in again]), lengths)
        verdicts = [*verdicts]
        for i, verdict in zip(again, found, strict=True):
            verdicts[i] = verdict
        refused = [i for i in again if verdicts[i].unscored == TOO_LONG]
    return [_flagged(*row) for row in zip(inputs, now, verdicts, strict=True)]


def _noting(
    rounds: Rounds, lengths: dict[tuple[Message, ...], int]
) -> Generator[list[Ask], list[Reply], list[Verdict]]:
    """The rounds as they are; the tokens of prompts that are refused for their length are noted."""
    replies: list[Reply] | None = None
    while True:
        try:
            asks = next(rounds) if replies is None else rounds.send(replies)
        except StopIteration as end:
            verdicts: list[Verdict] = end.value
            return verdicts
        replies = yield asks
        for ask, reply in zip(asks, replies, strict=True):
            if reply.reason == TOO_LONG:
                lengths[ask.prompt] = reply.n_prompt_tokens


def _flagged(judge_input: JudgeInput, judged: JudgeInput, verdict: Verdict) -> Verdict:
    n_cut = len(judge_input.reference.split()) - len(judged.reference.split())
    if not n_cut or verdict.score is None:
        return verdict
    log.warning(
        "candidate %s: the source was cut by %d words to fit the judge's model", judge_input.candidate_id, n_cut
    )
    return replace(verdict, raw=canonical_json({CUT_WORDS: n_cut, "reply": verdict.raw}))


def was_cut(raw: str | None) -> bool:
    """Whether a score's `raw` says that its source was cut to fit, whichever judge wrote it."""
    flags = flags_of(raw).keys()
    return any(shape <= flags for shape in CUT_SHAPES)


def cut_words(raw: str | None) -> int:
    """By how many words a score's `raw` says that its source was cut; 0 when it was not."""
    n: int = flags_of(raw).get(CUT_WORDS, 0) if was_cut(raw) else 0
    return n


def flags_of(raw: str | None) -> dict[str, Any]:
    """The JSON object that a judge wrote as `raw`; {} for anything else, such as a model's reply as it stands."""
    if not raw or raw[0] != "{":
        return {}
    try:
        flags = json.loads(raw)
        # a model may reply with an object of these keys, but hardly in this form
        return flags if isinstance(flags, dict) and canonical_json(flags) == raw else {}
    except (RecursionError, ValueError):
        return {}
