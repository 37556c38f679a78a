"""What a method is: a job in, replies to it out."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from ..config import Recipe
from ..records import Candidate, SummaryRequest
from ..storage import digest
from .backend import Backend, Reply
from .contract import check_output
from .plans import Draw


class Answer(NamedTuple):
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

    def candidate(self, request: SummaryRequest, answer: Answer) -> Candidate:
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


def one_each(job: Job, request: SummaryRequest, answers: Sequence[Answer]) -> list[Candidate]:
    """A candidate of each answer."""
    return [job.candidate(request, each) for each in answers]


@dataclass(frozen=True)
class Method:
    """How candidates are made."""

    # the replies of each request of a job, one for each draw; a request of which one has failed gets no candidate
    summarise: Callable[[Job], list[list[Reply]]]
    # the candidates of a request, from its answers in the order of the draws
    candidates: Callable[[Job, SummaryRequest, Sequence[Answer]], list[Candidate]] = one_each
    # what candidates depend on besides requests, prompts, model and the recipe's section `generate`
    inputs: Callable[[Recipe], dict[str, Any]] = lambda recipe: {}
