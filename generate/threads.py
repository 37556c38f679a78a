"""What methods that ask more than once are made of: threads, one for each candidate, that go forward in rounds.

A round asks for all threads of a batch in one call of the backend, so the engine stays full and what their prompts share is run
once. The prompts of all rounds and methods begin alike, documents first, and end with what was said so far.
Everything said is kept in the thread, so that one run shows what a method's earlier rounds would give.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from ..prompts import NOTHING, PromptTemplate, load_template
from ..records import Message, Sampling, SummaryRequest, Turn
from ..text import fold
from .backend import Ask, Backend, Reply
from .contract import check_output
from .method import Draw, Job, seed_from
from .requests import PROMPTS, capitalised, template_sections

# folder of what every prompt after the request's own begins with
FOLLOW_UP = "follow-up"


@dataclass(frozen=True)
class Made(Reply):
    """The reply that is a candidate, with everything that was said on the way to it, itself included."""

    turns: tuple[Turn, ...] = ()


class Thread:
    """One candidate on its way: a request, a draw of a plan, the draw's seed, and what was said so far."""

    def __init__(self, request: SummaryRequest, draw: Draw, seed: int, sections: frozenset[str]) -> None:
        self.request = request
        self.draw = draw
        self.seed = seed
        # of the template that the request was made with: no answer that is quoted beside it may forge them
        self.sections = sections
        self.turns: list[Turn] = []
        # the reply that is the candidate, as things stand; a failed one ends the thread
        self.result: Reply | None = None

    @property
    def sampling(self) -> Sampling:
        """How the plan draws."""
        return self.draw.plan.sampling

    @property
    def has_failed(self) -> bool:
        """Whether an ask of this thread could not be answered."""
        return self.result is not None and self.result.finish_reason == "failed"

    def summary(self) -> str:
        """The candidate as things stand, cleaned as judges will see it."""
        assert self.result is not None, f"{self.request.id}: nothing was asked yet"
        return quoted_summary(self.request, self.result)

    def made(self) -> Made:
        """The candidate with its turns."""
        assert self.result is not None, f"{self.request.id}: nothing was asked"
        values = {field.name: getattr(self.result, field.name) for field in fields(Reply)}
        return Made(**values, turns=tuple(self.turns))


@dataclass(frozen=True)
class Call:
    """One ask of a round."""

    thread: Thread
    # what is asked for, and of whom; no two calls of a thread have equal round and role
    role: str
    prompt: tuple[Message, ...]
    sampling: Sampling
    # False for what is asked for on the way: a feedback, a critique, another agent's answer
    is_candidate: bool = True
    # True draws with the thread's own seed, so that a first answer is the one that zero-shot gives
    is_first: bool = False


def open_threads(job: Job) -> list[list[Thread]]:
    """A thread for each request and draw."""
    sections = template_sections(job.recipe.task)
    return [[Thread(request, draw, seed, sections) for draw, seed in drawn] for request, drawn in job.drawn()]


def going(threads: Sequence[Sequence[Thread]]) -> list[Thread]:
    """The threads that nothing has ended, in order."""
    return [thread for row in threads for thread in row if not thread.has_failed]


def candidates(threads: Sequence[Sequence[Thread]]) -> list[list[Reply]]:
    """What came of the threads, by request and draw."""
    return [[thread.made() for thread in row] for row in threads]


def first_answers(backend: Backend, threads: Sequence[Thread]) -> None:
    """Round 0: each thread's answer to the request's own prompt, which is what zero-shot gives for its draw."""
    ask_round(
        backend,
        0,
        [Call(thread, "summary", thread.request.prompt, thread.sampling, is_first=True) for thread in threads],
    )


def ask_round(backend: Backend, number: int, calls: Sequence[Call]) -> list[Reply]:
    """The replies to the calls of round `number`, asked together; each is noted in its thread."""
    if not calls:
        return []
    asks = []
    for call in calls:
        own = call.thread.seed
        asks.append(Ask(call.prompt, call.sampling, own if call.is_first else seed_from(own, number, call.role)))
    replies = backend.complete(asks)
    for call, ask, reply in zip(calls, asks, replies, strict=True):
        thread = call.thread
        thread.turns.append(
            Turn(
                request_id=thread.request.id,
                index=thread.draw.index,
                round=number,
                role=call.role,
                is_candidate=call.is_candidate,
                **said(reply, ask.seed),
            )
        )
        if thread.has_failed:
            continue
        if reply.finish_reason == "failed":
            # a later prompt may fail where the request's own did not, so the reason says which it was
            thread.result = replace(reply, error=f"round {number}, {call.role}: {reply.error}") if number else reply
        elif call.is_candidate:
            thread.result = reply
    return replies


def said(reply: Reply, seed: int) -> dict[str, Any]:
    """What a turn says of its reply."""
    return {
        "text": reply.text,
        "seed": seed,
        "prompt_digest": reply.prompt_digest,
        "n_prompt_tokens": reply.n_prompt_tokens,
        "n_tokens": len(reply.token_ids) or len(reply.text.split()),
        "finish_reason": reply.finish_reason,
        "logps": reply.logps,
    }


def quoted_summary(request: SummaryRequest, reply: Reply) -> str:
    """A reply cleaned as judges would see it."""
    return check_output(request.contract, reply.text).text


def follow_up(
    template: PromptTemplate,
    thread: Thread,
    texts: Mapping[str, str] = NOTHING,
    own: Mapping[str, str] = NOTHING,
) -> tuple[Message, ...]:
    """The chat that asks a thread again: its request's own prompt, then the step, whose fields are {side} and those given.

    Args:
        template: of the step.
        thread: what was asked first, and the tags that stand there.
        texts: what a model said, each in tags of the template.
        own: what comes with tags of its own, or was not written by a model.
    """
    request = thread.request
    *before, last = request.prompt
    side = "given"
    if perspective := request.perspective:
        # stands before the word "texts": Left, or a label in quotes
        side = f'"{fold(perspective.label)}"' if perspective.label else capitalised(perspective.value)
    step = replace(template, sections=thread.sections).fill({"side": side}, texts, own)
    text = load_template("task", PROMPTS / FOLLOW_UP).fill(texts={"task": last.content}, own={"step": step})
    return (*before, Message(role="user", content=text))
