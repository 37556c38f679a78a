"""Asking a language model until its reply can be read, a few times at most.

A reply that ran into its length was not finished, and what stands in it may be the beginning of another verdict ("1. The source
argues"): it is never read. Repeating a greedy call repeats its failure, so attempts after the first have another seed and some
temperature. Source: docs/papers.md#ri-attempts.
"""

from collections.abc import Callable, Sequence
from typing import Protocol

from ..generate.backend import TOO_LONG, Ask, Reply
from ..records import Message, Sampling
from ..storage import canonical_json
from .asking import Rounds
from .judge import JudgeInput, Verdict

# the score that the replies about an input give so far, where one that was cut off is ""; None: it is asked about again
Reader = Callable[[JudgeInput, Sequence[str]], float | None]
# why there is no score, by the last reply
UNREADABLE = "unreadable reply"
CUT_OFF = "reply cut off"


class Asker(Protocol):
    """A judge that asks a language model about one input at a time."""

    def prompt(self, each: JudgeInput) -> tuple[Message, ...]:
        """The chat about one input."""
        ...

    def seed(self, each: JudgeInput, attempt: int) -> int:
        """The seed of an attempt, counted from 1."""
        ...


def until_read(asker: Asker, inputs: Sequence[JudgeInput], attempts: Sequence[Sampling], read: Reader) -> Rounds:
    """Ask about each input until its replies are read, at most once with each of these samplings.

    A verdict's `raw` is the reply, or a JSON list of several.
    """
    replied: list[list[Reply]] = [[] for _ in inputs]
    verdicts: dict[int, Verdict] = {}
    pending = list(range(len(inputs)))
    for attempt, sampling in enumerate(attempts, start=1):
        if not pending:
            break
        replies = yield [Ask(asker.prompt(inputs[i]), sampling, asker.seed(inputs[i], attempt)) for i in pending]
        for i, reply in zip(pending, replies, strict=True):
            if reply.finish_reason == "failed":
                verdicts[i] = refused(reply, attempt)
            else:
                replied[i].append(reply)
                verdicts[i] = _verdict(inputs[i], replied[i], read)
        # one that was refused would be refused again
        pending = [i for i in pending if verdicts[i].score is None and len(replied[i]) == attempt]
    return [verdicts[i] for i in range(len(inputs))]


def _verdict(each: JudgeInput, replies: Sequence[Reply], read: Reader) -> Verdict:
    is_cut = [reply.finish_reason == "length" for reply in replies]
    score = read(each, ["" if cut else reply.text for cut, reply in zip(is_cut, replies, strict=True)])
    texts = [reply.text for reply in replies]
    raw = texts[0] if len(texts) == 1 else canonical_json(texts)
    reason = CUT_OFF if is_cut[-1] else UNREADABLE
    return Verdict(score, reason if score is None else None, raw, len(replies))


def refused(reply: Reply, attempts: int) -> Verdict:
    """The verdict on an input about which the model could not be asked."""
    return Verdict(None, TOO_LONG if reply.reason == TOO_LONG else "no reply from the model", reply.error, attempts)
