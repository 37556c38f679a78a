"""Zero-shot: every candidate is one answer to the request's prompt."""

from collections.abc import Sequence

from ..records import SummaryRequest
from .backend import Ask, Backend, Reply
from .plans import Draw


def summarise(
    backend: Backend, requests: Sequence[SummaryRequest], draws: Sequence[Draw], seeds: Sequence[Sequence[int]]
) -> list[list[Reply]]:
    """Replies of each request, one for each draw; all go to the engine together.

    Args:
        seeds: seeds[request][draw].
    """
    asks = [
        Ask(prompt=request.prompt, sampling=draw.plan.sampling, seed=seed)
        for request, row in zip(requests, seeds, strict=True)
        for draw, seed in zip(draws, row, strict=True)
    ]
    replies = backend.complete(asks)
    n = len(draws)
    return [replies[start : start + n] for start in range(0, len(replies), n)]
