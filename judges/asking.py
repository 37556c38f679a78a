"""Judges that ask a language model, asked together.

Such a judge states its asks in rounds and says what the replies mean; how the asks reach the engine is settled here. The asks
of all judges on one model go into one call, in the order of their texts. So prompts that begin alike stand side by side at every
level, source, then rubric, then summary, and what they share is run once.

Where a reply cannot be read, a judge asks again, a few times at most. A reply that ran into its length was not finished, and
what stands in it may be the beginning of another verdict ("1. The source argues"): it is never read. Repeating a greedy call
repeats its failure, so attempts after the first have another seed and some temperature. Source: docs/papers.md#ri-attempts.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Sequence
from dataclasses import replace
from typing import Protocol, runtime_checkable

from ..config.needs import Against, ModelJudgeSection
from ..generate.backend import TOO_LONG, Ask, Backend, Reply, Usage
from ..generate.backends import backend_signature
from ..records import Message, Sampling
from ..text.digests import canonical_json, digest
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
    for judge in judges:
        groups.setdefault(judge.loads, []).append(judge)
    return list(groups.values())


def companies(judges: Sequence[Judge]) -> list[list[Judge]]:
    """Judges of one model in the companies that `score_together` takes: those that ask it together, every other alone."""
    asking = [judge for judge in judges if isinstance(judge, AskingJudge)]
    alone = [[judge] for judge in judges if judge not in asking]
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
        distinct = sorted(dict.fromkeys(asks), key=lambda ask: [message.content for message in ask.prompt])
        found: dict[Ask, Reply] = {}
        if distinct:
            engine = backend.get()
            before = replace(engine.usage)
            found = dict(zip(distinct, engine.complete(distinct), strict=True))
            used.add_used(engine.usage.since(before))
        replies = [found[ask] for ask in asks]


def in_step(conversations: Sequence[Rounds]) -> Generator[list[Ask], list[Reply], list[list[Verdict]]]:
    """The conversations as one: the asks of a round together, and the verdicts of each in the end."""
    verdicts: dict[int, list[Verdict]] = {}
    replies: dict[int, list[Reply] | None] = dict.fromkeys(range(len(conversations)))
    while replies:
        asks: dict[int, list[Ask]] = {}
        for place, answers in replies.items():
            try:
                asks[place] = next(conversations[place]) if answers is None else conversations[place].send(answers)
            except StopIteration as end:
                verdicts[place] = end.value
        if not asks:
            break
        found = iter((yield [ask for own_asks in asks.values() for ask in own_asks]))
        replies = {place: [next(found) for _ in own_asks] for place, own_asks in asks.items()}
    return [verdicts[place] for place in range(len(conversations))]


# the score that the replies about an input give so far, where one that was cut off is ""; None: it is asked about again
Reader = Callable[[JudgeInput, Sequence[str]], float | None]
# why there is no score, by the last reply
UNREADABLE = "unreadable reply"
CUT_OFF = "reply cut off"


class LanguageModelJudge(ABC):
    """What judges that ask a language model have in common.

    Args:
        name: what the recipe calls it.
        options: its section.
        backend: what runs its model.
    """

    signature: str

    def __init__(self, name: str, options: ModelJudgeSection, backend: Lazy[Backend]) -> None:
        self.name = name
        self.against: Against | None = options.against
        self.loads = backend.loads
        self.requests_per_batch = options.backend.requests_per_batch
        # whether a server is asked, whose answers are kept as they come, and which is asked for many at once
        self.is_served = options.backend.server is not None
        self.model = backend_signature(options.backend, options.model, options.model.adapter)
        self.backend = backend

    @abstractmethod
    def rounds(self, inputs: Sequence[JudgeInput]) -> Rounds:
        """The asks about these inputs, round by round, and in the end one verdict for each input, in order."""

    def score(self, inputs: Sequence[JudgeInput]) -> list[Verdict]:
        """One verdict for each input, in order."""
        verdicts, _ = ask_together(self.backend, [self.rounds(inputs)])
        return verdicts[0]

    def seed(self, judge_input: JudgeInput, attempt: int) -> int:
        """A seed that depends on what is judged and on nothing else, so that a cached score is the one asked for."""
        return int(digest([self.signature, judge_input.reference, judge_input.text, attempt], length=8), 16)

    def close(self) -> None:
        """Give the model's memory back."""
        self.backend.close()


class Asker(Protocol):
    """What asks a language model about one input at a time."""

    def prompt(self, judge_input: JudgeInput) -> tuple[Message, ...]:
        """The chat about one input."""
        ...

    def seed(self, judge_input: JudgeInput, attempt: int) -> int:
        """The seed of an attempt, counted from 1."""
        ...


def samplings(n: int, most_tokens: int) -> list[Sampling]:
    """Samplings of so many attempts; after the first with a temperature, since repeating a greedy call repeats its failure."""
    return [Sampling(temperature=0.7 if later else 0.0, max_tokens=most_tokens) for later in range(n)]


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


def _verdict(judge_input: JudgeInput, replies: Sequence[Reply], read: Reader) -> Verdict:
    is_cut = [reply.finish_reason == "length" for reply in replies]
    score = read(judge_input, ["" if cut else reply.text for cut, reply in zip(is_cut, replies, strict=True)])
    texts = [reply.text for reply in replies]
    raw = texts[0] if len(texts) == 1 else canonical_json(texts)
    reason = CUT_OFF if is_cut[-1] else UNREADABLE
    return Verdict(score, reason if score is None else None, raw, len(replies))


def refused(reply: Reply, attempts: int) -> Verdict:
    """The verdict on an input about which the model could not be asked."""
    return Verdict(None, TOO_LONG if reply.reason == TOO_LONG else "no reply from the model", reply.error, attempts)
