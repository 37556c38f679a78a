"""Summaries of summaries: the documents are summarised in parts, then the request is answered from the parts' summaries.

A part has documents of one side alone: a single one, so that each has the same room whatever its length, several, or with
`per_part: null` all of a side, so that each side has the same room however many documents it has. The last call is the request's
own prompt with the summaries where its documents stood, so no prompt has all documents, and sets may be longer than the model
reads. A request for one side is answered from its own documents: those of the others are in no prompt.
Source: docs/papers.md#hierarchical.
"""

import random
from collections.abc import Iterator, Sequence
from pathlib import Path

from ...config import Recipe
from ...generate.backend import Reply
from ...generate.method import Job, Method, MethodStep, text_of
from ...generate.reply_text import summary_of
from ...generate.requests import heading, mixed_documents, prompt_around, side_lines, template_sections
from ...generate.threads import Call, Thread, ask_round, candidates, going, open_threads
from ...prompts import fence, load_template
from ...records import Document, Message, SummaryRequest
from ...text import fold
from ...text.digests import digest
from .sections import HierarchicalSection

STEPS = Path(__file__).parent / "prompts"


def summarise(job: Job) -> list[list[Reply]]:
    """Replies of each request, one for each draw, each with its turns."""
    options = job.recipe.generate.options_as(HierarchicalSection)
    threads = open_threads(job)
    calls = []
    for row, request in zip(threads, job.requests, strict=True):
        prompts = part_prompts(request, job.recipe)
        calls += [
            Call(
                thread,
                f"part-{number}",
                prompt,
                thread.sampling.model_copy(update={"max_tokens": options.part_tokens}),
                is_candidate=False,
            )
            for thread in row
            for number, prompt in enumerate(prompts, start=1)
        ]
    part_summaries: dict[Thread, list[str]] = {}
    for call, reply in zip(calls, ask_round(job.backend, 0, calls), strict=True):
        part_summaries.setdefault(call.thread, []).append(fold(summary_of(reply.text).text))
    calls = [
        Call(
            thread,
            "summary",
            summaries_prompt(thread.request, part_summaries.get(thread, ()), job.recipe),
            thread.sampling,
        )
        for thread in going(threads)
    ]
    ask_round(job.backend, 1, calls)
    return candidates(threads)


def parts(request: SummaryRequest, recipe: Recipe) -> list[tuple[Document, ...]]:
    """The documents that are summarised together, in the order in which the last call has them.

    Of a request for all sides that order is random, and always the same for a set: no side stands first because of what it is.
    """
    options = recipe.generate.options_as(HierarchicalSection)
    if request.perspective is not None:
        return _cut(request.source_documents, options.per_part)
    by_side: dict[str | None, list[Document]] = {}
    for document in mixed_documents(request.document_set):
        by_side.setdefault(document.attributes.get(request.attribute or ""), []).append(document)
    request_parts = [part for documents in by_side.values() for part in _cut(documents, options.per_part)]
    random.Random(digest(["parts", request.document_set.id])).shuffle(request_parts)  # noqa: S311
    return request_parts


def _cut(documents: Sequence[Document], n: int | None) -> list[tuple[Document, ...]]:
    n = n or len(documents)
    return [tuple(documents[start : start + n]) for start in range(0, len(documents), n or 1)]


def part_prompts(request: SummaryRequest, recipe: Recipe) -> list[tuple[Message, ...]]:
    """The chats that ask for a summary of each part."""
    template = load_template("part", STEPS)
    topic = fold(request.document_set.topic)
    return [
        (
            Message(
                role="user",
                content=template.fill(
                    texts={
                        "about": f" about {topic}" if topic else "",
                        "passage": "\n".join(fold(document.text) for document in part),
                    }
                ),
            ),
        )
        for part in parts(request, recipe)
    ]


def summaries_prompt(request: SummaryRequest, summaries: Sequence[str], recipe: Recipe) -> tuple[Message, ...]:
    """The request's own chat with summaries of its documents, one a line, in place of them all.

    Where fairness is asked for, a summary of several texts says of how many, because the instruction speaks of the texts.
    """
    before, after = prompt_around(request, recipe.corpus, recipe.task)
    if request.perspective is None:
        sizes = [len(part) for part in parts(request, recipe)]
        sized_summaries = [(text, n) for text, n in zip(summaries, sizes, strict=False) if text]
        says_size = recipe.task.fairness != "none"
        lines = [
            f"{number}. {f'(summary of {n} texts) ' if says_size and n > 1 else ''}{text}"
            for number, (text, n) in enumerate(sized_summaries, start=1)
        ]
    else:
        side_summaries = side_lines(filter(None, summaries), request.document_set, recipe.corpus, recipe.task)
        lines = [f"{heading(request.side, recipe.task)}:", *side_summaries]
    listed = fence("\n".join(lines), template_sections(recipe.task))
    return (*request.prompt[:-1], Message(role="user", content=before + listed + after))


def steps(requests: Sequence[SummaryRequest], recipe: Recipe, answer: int) -> Iterator[MethodStep]:
    """The longest part of each request, and its last prompt with as many tokens as the summaries may have."""
    options = recipe.generate.options_as(HierarchicalSection)
    prompts = {request.id: [text_of(prompt) for prompt in part_prompts(request, recipe)] for request in requests}
    longest = {key: max(texts, key=len, default="") for key, texts in prompts.items()}
    n_parts = {key: len(texts) for key, texts in prompts.items()}
    yield MethodStep("prompts of parts", longest, options.part_tokens, sum(n_parts.values()))
    # each summary has a number, and a line of its own
    frames = {request.id: text_of(summaries_prompt(request, "-" * n_parts[request.id], recipe)) for request in requests}
    summary_tokens = {key: n * options.part_tokens for key, n in n_parts.items()}
    yield MethodStep("prompts with all summaries of parts", frames, answer, len(requests), summary_tokens)


HIERARCHICAL = Method(summarise, HierarchicalSection, STEPS, steps=steps)
