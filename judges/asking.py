"""Judges that ask a language model, asked together.

Such a judge states its asks in rounds and says what the replies mean; how the asks reach the engine is settled here. The asks
of all judges on one model go into one call, in the order of their texts. So prompts that begin alike stand side by side at every
level, source, then rubric, then summary, and what they share is run once.
"""

from collections.abc import Generator, Sequence
from dataclasses import replace
from typing import Protocol, runtime_checkable

from ..generate.backend import Ask, Backend, Reply, Usage
from .judge import Judge, JudgeInput, Verdict
from .shared import Lazy

# gives the asks of a round, gets their replies, and returns one verdict for each input
Rounds = Generator[list[Ask], list[Reply], list[Verdict]]


@runtime_checkable
class AskingJudge(Judge, Protocol):
    """A judge that asks a language model; judges of equal `loads` are asked together."""

    # signature of the model that it asks
    model: str
    backend: Lazy[Backend]

    def rounds(self, inputs: Sequence[JudgeInput]) -> Rounds:
        """The asks about these inputs, round by round, and in the end one verdict for each input, in order."""
        ...


def by_model(judges: Sequence[Judge]) -> list[list[Judge]]:
    """The judges in groups that hold one model together, or none, in order of first appearance."""
    groups: dict[str, list[Judge]] = {}
    for each in judges:
        groups.setdefault(each.loads, []).append(each)
    return list(groups.values())


def companies(judges: Sequence[Judge]) -> list[list[Judge]]:
    """Judges of one model in the companies that `score_together` takes: those that ask it together, every other alone."""
    asking = [each for each in judges if isinstance(each, AskingJudge)]
    alone = [[each] for each in judges if each not in asking]
    return [list(asking), *alone] if asking else alone


def score_together(work: Sequence[tuple[Judge, Sequence[JudgeInput]]]) -> tuple[list[list[Verdict]], Usage]:
    """The verdicts of each judge on its inputs, in order, and what the prompts took, when the judges asked a language model.

    Args:
        work: the judges of one company, each with its inputs; one without inputs is not asked. Those that ask a language
            model ask the first one's, which is the same.
    """
    asking = [(judge, inputs) for judge, inputs in work if isinstance(judge, AskingJudge)]
    if not asking:
        return [judge.score(inputs) if inputs else [] for judge, inputs in work], Usage()
    assert len(asking) == len(work), "one company holds one kind of judges"
    return ask_together(asking[0][0].backend, [judge.rounds(inputs) for judge, inputs in asking])


def ask_together(backend: Lazy[Backend], conversations: Sequence[Rounds]) -> tuple[list[list[Verdict]], Usage]:
    """Run the conversations in step: the verdicts of each, and what their prompts took.

    The asks of a round go to the backend in one call; equal ones are asked once. A backend that nobody asks is not loaded.
    """
    used, rounds = Usage(), in_step(conversations)
    replies: list[Reply] | None = None
    while True:
        try:
            asks = next(rounds) if replies is None else rounds.send(replies)
        except StopIteration as end:
            return end.value, used
        found = _complete(backend, asks, used)
        replies = [found[ask] for ask in asks]


def in_step(conversations: Sequence[Rounds]) -> Generator[list[Ask], list[Reply], list[list[Verdict]]]:
    """The conversations as one: the asks of a round together, and the verdicts of each in the end."""
    verdicts: dict[int, list[Verdict]] = {}
    replies: dict[int, list[Reply] | None] = dict.fromkeys(range(len(conversations)))
    while replies:
        asks: dict[int, list[Ask]] = {}
        for place, got in replies.items():
            try:
                asks[place] = next(conversations[place]) if got is None else conversations[place].send(got)
            except StopIteration as end:
                verdicts[place] = end.value
        if not asks:
            break
        found = iter((yield [ask for mine in asks.values() for ask in mine]))
        replies = {place: [next(found) for _ in mine] for place, mine in asks.items()}
    return [verdicts[place] for place in range(len(conversations))]


def _complete(backend: Lazy[Backend], asks: Sequence[Ask], used: Usage) -> dict[Ask, Reply]:
    distinct = sorted(dict.fromkeys(asks), key=lambda ask: [message.content for message in ask.prompt])
    if not distinct:
        return {}
    engine = backend.get()
    before = replace(engine.usage)
    replies = engine.complete(distinct)
    used.add(engine.usage.prompt_tokens - before.prompt_tokens, engine.usage.prefilled_tokens - before.prefilled_tokens)
    return dict(zip(distinct, replies, strict=True))
