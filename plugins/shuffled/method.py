"""Shuffled documents: one summary of each cyclic rotation of the side's documents, then one call that merges them.

Where a document stands decides how much of it gets into a summary; in the rotations each stands first once. The last call sees
the request's own prompt and all summaries.
Source: docs/papers.md#ri-extras.
"""

from pathlib import Path

from ...config import Recipe
from ...generate.backend import Reply
from ...generate.method import Job, Method
from ...generate.requests import build_requests
from ...generate.threads import (
    Call,
    Thread,
    ask_round,
    candidates,
    follow_up,
    going,
    open_threads,
    quoted_summary,
)
from ...prompts import load_template, section
from ...records import DocumentSet, Message, SummaryRequest
from .sections import ShuffledSection

STEPS = Path(__file__).parent / "prompts"


def rotations(n: int, most: int | None) -> list[int]:
    """The documents to begin with: all n, or `most` of them, evenly spaced from the first on; number 0 when n is 0."""
    n_taken = max(1, n if most is None else min(n, most))
    return [place * n // n_taken for place in range(n_taken)]


def rotated(request: SummaryRequest, first: int, recipe: Recipe) -> tuple[Message, ...]:
    """The request's prompt with its side's documents beginning with number `first`; the other sides' stay where they are."""
    mine = request.source_documents
    turned = iter([*mine[first:], *mine[:first]])
    places = {document.id for document in mine}
    documents = tuple(
        next(turned) if document.id in places else document for document in request.document_set.documents
    )
    changed: DocumentSet = request.document_set.model_copy(update={"documents": documents})
    return next(each.prompt for each in build_requests([changed], recipe.corpus, recipe.task) if each.id == request.id)


def summarise(job: Job) -> list[list[Reply]]:
    """Replies of each request, one for each draw, each with its turns."""
    options = job.recipe.generate.options_as(ShuffledSection)
    merge = load_template("merge", STEPS)
    threads = open_threads(job)
    calls = []
    for row, request in zip(threads, job.requests, strict=True):
        prompts = {
            first: rotated(request, first, job.recipe)
            for first in rotations(len(request.source_documents), options.rotations)
        }
        calls += [
            Call(each, f"rotation-{first}", prompt, each.sampling, is_candidate=first == 0, is_first=first == 0)
            for each in row
            for first, prompt in prompts.items()
        ]
    said: dict[Thread, list[str]] = {}
    for call, reply in zip(calls, ask_round(job.backend, 0, calls), strict=True):
        said.setdefault(call.thread, []).append(quoted_summary(call.thread.request, reply))
    calls = []
    for each in going(threads):
        listed = "\n".join(section("summary", text, sections=each.sections) for text in said[each])
        calls.append(Call(each, "merge", follow_up(merge, each, own={"summaries": listed}), each.sampling))
    ask_round(job.backend, 1, calls)
    return candidates(threads)


SHUFFLED = Method(summarise, ShuffledSection, STEPS)
