"""Asking a language model until its reply can be read, a few times at most.

Repeating a greedy call repeats its failure, so attempts after the first have another seed and some temperature. Source:
specification of the seed paper, section 7.3.
"""

from collections.abc import Callable, Sequence
from typing import Protocol

from ..generate.backend import TOO_LONG, Ask, Reply
from ..records import Message, Sampling
from .asking import Rounds
from .judge import JudgeInput, Verdict

# what the replies about an input say so far; without a score it is asked about again
Reader = Callable[[JudgeInput, Sequence[str]], Verdict]


class Asker(Protocol):
    """A judge that asks a language model about one input at a time."""

    def prompt(self, each: JudgeInput) -> tuple[Message, ...]:
        """The chat about one input."""
        ...

    def seed(self, each: JudgeInput, attempt: int) -> int:
        """The seed of an attempt, counted from 1."""
        ...


def until_read(asker: Asker, inputs: Sequence[JudgeInput], attempts: Sequence[Sampling], read: Reader) -> Rounds:
    """Ask about each input until its replies are read, at most once with each of these samplings."""
    texts: list[list[str]] = [[] for _ in inputs]
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
                texts[i].append(reply.text)
                verdicts[i] = read(inputs[i], texts[i])
        # one that was refused would be refused again
        pending = [i for i in pending if verdicts[i].score is None and len(texts[i]) == attempt]
    return [verdicts[i] for i in range(len(inputs))]


def refused(reply: Reply, attempts: int) -> Verdict:
    """The verdict on an input about which the model could not be asked."""
    return Verdict(None, TOO_LONG if reply.reason == TOO_LONG else "no reply from the model", reply.error, attempts)
