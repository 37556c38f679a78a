"""Zero-shot: every candidate is one answer to the request's prompt."""

from ..config.methods import ZeroShotSection
from .backend import Ask, Reply
from .method import Job, Method


def summarise(job: Job) -> list[list[Reply]]:
    """Replies of each request, one for each draw; all go to the engine together."""
    asks = [Ask(request.prompt, draw.plan.sampling, seed) for request, drawn in job.drawn() for draw, seed in drawn]
    return job.rows(job.backend.complete(asks))


ZERO_SHOT = Method(summarise, ZeroShotSection)
