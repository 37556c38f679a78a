"""What a method is: a job in, replies to it out; and which candidate is drawn how, with which seed.

Order of a request's candidates: repeats outermost, plans innermost (r0p0, r0p1, r0p2, r1p0, ...); it decides ties.
Source: docs/papers.md#ri-plans.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from ..config import Plan, Recipe
from ..config.methods import MethodSection
from ..records import Candidate, Message, SummaryRequest
from ..runfolder.phases import Phase
from ..text.digests import digest
from .backend import Backend, Reply
from .contract import check_output

# seeds fit a signed 64-bit integer, and every engine's own range
SEEDS = 1 << 48
# role of the turn of a second draw
AGAIN = "again"


@dataclass(frozen=True)
class Draw:
    """One candidate to be drawn."""

    # place in the canonical order of the request
    index: int
    # name of the sampling plan
    name: str
    plan: Plan
    # which of the plan's candidates, from 0
    repeat: int


def draws(plans: Mapping[str, Plan]) -> list[Draw]:
    """All draws of one request in canonical order."""
    n_repeats = max(plan.candidates for plan in plans.values())
    order = [
        (name, plan, repeat) for repeat in range(n_repeats) for name, plan in plans.items() if repeat < plan.candidates
    ]
    return [Draw(index, name, plan, repeat) for index, (name, plan, repeat) in enumerate(order)]


def seed_from(*parts: Any) -> int:
    """A seed that follows from these parts and nothing else, from 0 to 2**48 - 1."""
    return int(digest(list(parts)), 16) % SEEDS


def draw_seed(run: str, seed: int, phase: str, request_id: str, draw: Draw) -> int:
    """Seed of one draw, from 0 to 2**48 - 1.

    It depends on run, phase, request, plan and repeat alone, so neither sharding nor batching nor the other candidates
    change it.
    """
    setting = draw.plan.sampling.model_dump(mode="json")
    return seed_from(run, seed, phase, request_id, draw.name, setting, draw.repeat)


class DrawnReply(NamedTuple):
    """A reply that becomes a candidate, with the draw and the seed that it came from."""

    draw: Draw
    seed: int
    reply: Reply


@dataclass(frozen=True)
class Job:
    """What a method works at: a batch of requests, and how the candidates of each are drawn."""

    # name of the method
    method: str
    backend: Backend
    requests: Sequence[SummaryRequest]
    # of each request, in canonical order
    draws: Sequence[Draw]
    # seeds[request][draw]
    seeds: Sequence[Sequence[int]]
    # has the method's options, and how prompts are made
    recipe: Recipe

    def drawn(self) -> Iterator[tuple[SummaryRequest, list[tuple[Draw, int]]]]:
        """Each request with its draws and their seeds."""
        for request, row in zip(self.requests, self.seeds, strict=True):
            yield request, list(zip(self.draws, row, strict=True))

    def rows(self, replies: Sequence[Reply]) -> list[list[Reply]]:
        """The replies of each request, of those to all draws of one request after the other."""
        n = len(self.draws)
        return [list(replies[start : start + n]) for start in range(0, len(replies), n)]

    def candidate(self, request: SummaryRequest, answer: DrawnReply) -> Candidate:
        """The candidate that an answer is, checked by the request's contract."""
        draw, seed, reply = answer
        checked = check_output(request.contract, reply.text)
        model = self.backend.signature
        return Candidate(
            id=digest([request.id, draw.index, seed, model, reply.text]),
            request_id=request.id,
            text=checked.text,
            raw_text=reply.text,
            issues=checked.issues,
            contract_ok=checked.ok,
            method=self.method,
            plan=draw.name,
            sampling=draw.plan.sampling,
            index=draw.index,
            seed=seed,
            model=model,
            prompt_digest=reply.prompt_digest,
            n_prompt_tokens=reply.n_prompt_tokens,
            token_ids=reply.token_ids,
            n_tokens=len(reply.token_ids) or len(reply.text.split()),
            finish_reason=reply.finish_reason,
            logps=reply.logps,
        )


def one_each(job: Job, request: SummaryRequest, answers: Sequence[DrawnReply]) -> list[Candidate]:
    """A candidate of each answer."""
    return [job.candidate(request, answer) for answer in answers]


@dataclass(frozen=True)
class MethodStep:
    """What a method asks for, as far as it is known before a model has said anything: what must fit into the model."""

    # "prompts", as messages call them
    name: str
    # request id -> its longest prompt, without what a model says for it
    texts: Mapping[str, str]
    # tokens of an answer, at most
    answer: int
    # calls for one candidate of each request
    n_calls: int
    # request id -> tokens, at most, of what a model says before and that stands in the prompt
    said: Mapping[str, int] = field(default_factory=dict)


def text_of(prompt: Sequence[Message]) -> str:
    """What a chat's messages say."""
    return "\n".join(message.content for message in prompt)


def first_step(requests: Sequence[SummaryRequest], recipe: Recipe, answer: int) -> Iterator[MethodStep]:
    """The requests' own prompts, with which most methods begin; an answer has at most so many tokens."""
    yield MethodStep("prompts", {request.id: text_of(request.prompt) for request in requests}, answer, len(requests))


@dataclass(frozen=True)
class Method:
    """How candidates are made: what the door of methods has by name."""

    # the replies of each request of a job, one for each draw; one that has failed is no candidate
    summarise: Callable[[Job], list[list[Reply]]]
    # its options in a recipe, and what a recipe has to know of it
    options: type[MethodSection] = MethodSection
    # folder of the prompts of its steps; None for one that asks the requests' own alone
    prompts: Path | None = None
    # the candidates of a request, from its answers in the order of the draws
    candidates: Callable[[Job, SummaryRequest, Sequence[DrawnReply]], list[Candidate]] = one_each
    # what candidates depend on besides requests, prompts, model and the recipe's section `generate`
    inputs: Callable[[Recipe], dict[str, Any]] = lambda recipe: {}
    # its steps whose length is known before
    steps: Callable[[Sequence[SummaryRequest], Recipe, int], Iterator[MethodStep]] = first_step
    # whether a request of which one reply has failed gets no candidate at all
    needs_all: bool = False
    # opens what it asks in place of the recipe's backend: for a phase, with the signature of the model on that backend
    open_backend: Callable[[Phase, str], Backend] | None = None
