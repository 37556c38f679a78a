"""Thinned sets: a summary of all documents, and summaries of copies of the set that lack some documents of one value.

FairPO thins the most and the least represented value of the full set's summary, which only a judge can tell. So that no judge is
needed between two generations, every value that could be chosen is thinned here, and the choice is made when pairs are
(`triples.choose_thinnings`). The cost: one summary more for each such value than the two of the published order.
All summaries are candidates of the request; training is on the request's own prompt, that of the full set. Each copy's documents
are shuffled, so that it has an order of its own; the full set keeps the order that every method's prompt gives it, where section
22 shuffles it once. What the published runs do to a summary before it is compared is in `drafts`. Most of all, long ones may be
cut to whole sentences: a model that does not stop by itself learns it from them.
Source: FairPO; docs/papers.md#fairpo-thinning.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from ...config import Recipe
from ...generate import refusals
from ...generate.backend import Ask, Reply
from ...generate.method import AGAIN, Draw, DrawnReply, Job, Method, seed_from
from ...generate.requests import build_requests
from ...generate.threads import Made, said
from ...records import Candidate, DocumentSet, Message, SummaryRequest, Thinned, Turn
from .drafts import Draft, draw_drafts, finished
from .sections import ThinnedSection
from .triples import thinnings


@dataclass(frozen=True)
class OfThinned:
    """A summary of a thinned copy."""

    thinned: Thinned
    draft: Draft


@dataclass(frozen=True, kw_only=True)
class WithThinned(Made):
    """The summary of the full set with those of its thinned copies, drawn by the same plan."""

    draft: Draft
    copies: tuple[OfThinned, ...] = ()


@dataclass(frozen=True)
class Copy:
    """A thinned copy and its prompt."""

    thinned: Thinned
    prompt: tuple[Message, ...]


def present_values(request: SummaryRequest, recipe: Recipe) -> tuple[str, ...]:
    """The values that a request's documents have, in the corpus's order; those of the recipe's sides where it names some."""
    assert request.attribute is not None, f"{request.id}: names no attribute"
    present = request.document_set.values(request.attribute)
    return tuple(
        v for v in recipe.corpus.sides or request.document_set.declared_values(request.attribute) if v in present
    )


def declared_order(requests: Iterable[SummaryRequest], recipe: Recipe) -> tuple[str, ...]:
    """The recipe's sides; where it names none, the values that documents of any request have, in the corpus's order."""
    if recipe.corpus.sides:
        return recipe.corpus.sides
    present: set[str] = set()
    declared: dict[str, None] = {}
    for request in requests:
        present.update(present_values(request, recipe))
        declared.update(dict.fromkeys(request.document_set.declared_values(request.attribute or "")))
    return tuple(value for value in declared if value in present)


def thinned_copies(request: SummaryRequest, seed: int, recipe: Recipe) -> list[Copy]:
    """The thinned copies of a request's set, by value; documents without a value stay in all of them.

    Args:
        request: of scope "all".
        seed: of the choice and the order of documents.
        recipe: generate.thinned has the rate.
    """
    options = recipe.generate.options_as(ThinnedSection)
    attribute, values = request.attribute or "", present_values(request, recipe)
    documents = request.document_set.documents
    labelled = [d for d in documents if d.attributes.get(attribute) in values]
    rng = np.random.default_rng(seed)
    labels = [values.index(d.attributes[attribute]) for d in labelled]
    copies = []
    for each in thinnings(labels, len(values), rng, rate=options.rate):
        if not each.documents:
            continue
        left_out = tuple(d.id for place, d in enumerate(labelled) if place not in each.documents)
        kept = [d for d in documents if d.id not in left_out]
        shuffled = tuple(kept[place] for place in rng.permutation(len(kept)))
        changed: DocumentSet = request.document_set.model_copy(update={"documents": shuffled})
        (asked,) = build_requests([changed], recipe.corpus, recipe.task)
        copies.append(Copy(Thinned(value=values[each.value], left_out=left_out), asked.prompt))
    return copies


def summarise(job: Job) -> list[list[Reply]]:
    """Replies of each request, one for each draw, each with those to its thinned copies; all go to the engine together.

    Those to the request's own prompt are zero-shot's. If a copy cannot be summarised, the draw has failed. The first seed of a
    request chooses the documents of its copies.
    """
    options = job.recipe.generate.options_as(ThinnedSection)
    copies = [thinned_copies(request, drawn[0][1], job.recipe) for request, drawn in job.drawn()]
    asks = []
    for (request, drawn), mine in zip(job.drawn(), copies, strict=True):
        for draw, seed in drawn:
            asks.append(Ask(request.prompt, draw.plan.sampling, seed))
            asks += [
                Ask(each.prompt, draw.plan.sampling, seed_from(seed, "thinned", place))
                for place, each in enumerate(mine)
            ]
    drafts = iter(draw_drafts(job.backend, asks, options))
    found: list[list[Reply]] = []
    for request, mine in zip(job.requests, copies, strict=True):
        found.append([])
        for draw in job.draws:
            own = next(drafts)
            reply = _joined(own, [OfThinned(each.thinned, next(drafts)) for each in mine])
            if options.regenerate is not None and isinstance(reply, WithThinned):
                reply = replace(reply, turns=_turns(request, draw, reply, len(job.draws)))
            found[-1].append(reply)
    return found


def candidates(job: Job, request: SummaryRequest, answers: Sequence[DrawnReply]) -> list[Candidate]:
    """The summaries of the full set, then those of its thinned copies, each cleaned as the options say."""
    options = job.recipe.generate.options_as(ThinnedSection)
    found = [job.candidate(request, as_drawn(answer)) for answer in answers]
    found += [
        job.candidate(request, answer).model_copy(update={"thinned": thinned}) for answer, thinned in copies_of(answers)
    ]
    return [finished(each, request.contract, options) for each in found]


def inputs(recipe: Recipe) -> dict[str, Any]:
    """What the summaries depend on besides the options: which values there are, and what counts as a refusal."""
    rejects = recipe.generate.options_as(ThinnedSection).reject
    return {"sides": recipe.corpus.sides} | ({"refusals": refusals.VERSION} if rejects else {})


def copies_of(answers: Sequence[DrawnReply]) -> list[tuple[DrawnReply, Thinned]]:
    """The summaries of a request's thinned copies, copy by copy, each as an answer whose index goes on after the full set's.

    So the index tells the draw (its remainder by the number of draws) and the copy (its quotient, from 1). [] where nothing could
    be thinned.
    """
    found = []
    for draw, _, reply in answers:
        for place, copy in enumerate(reply.copies if isinstance(reply, WithThinned) else ()):
            again = replace(draw, index=_index(draw, place, len(answers)))
            found.append((_as_kept(again, copy.draft), copy.thinned))
    return sorted(found, key=lambda each: each[0].draw.index)


def as_drawn(answer: DrawnReply) -> DrawnReply:
    """The answer with the draw and seed that it came from: others than planned where it was drawn again."""
    return _as_kept(answer.draw, answer.reply.draft, answer.reply) if isinstance(answer.reply, WithThinned) else answer


def _as_kept(draw: Draw, draft: Draft, reply: Reply | None = None) -> DrawnReply:
    ask = draft.kept.ask
    plan = draw.plan.model_copy(update={"max_tokens": ask.sampling.max_tokens})
    return DrawnReply(replace(draw, plan=plan), ask.seed, reply or draft.kept.reply)


def _index(draw: Draw, place: int, n_draws: int) -> int:
    return n_draws * (1 + place) + draw.index


def _turns(request: SummaryRequest, draw: Draw, reply: WithThinned, n_draws: int) -> tuple[Turn, ...]:
    """All draws that were made for the summary and for those of its copies."""
    drafts = {draw.index: reply.draft}
    drafts |= {_index(draw, place, n_draws): each.draft for place, each in enumerate(reply.copies)}
    return tuple(
        Turn(
            request_id=request.id,
            index=index,
            round=number,
            role=AGAIN if number else "summary",
            # a second draw that was not kept would be the candidate of no round
            is_candidate=number == 0 or each is draft.kept,
            **said(each.reply, each.ask.seed),
        )
        for index, draft in drafts.items()
        for number, each in enumerate(draft.draws)
    )


def _joined(draft: Draft, copies: Sequence[OfThinned]) -> Reply:
    own = draft.kept.reply
    if own.finish_reason == "failed":
        return own
    for each in copies:
        reply = each.draft.kept.reply
        if reply.finish_reason == "failed":
            return replace(reply, error=f"without some documents of {each.thinned.value!r}: {reply.error}")
    values = {field.name: getattr(own, field.name) for field in fields(Reply)}
    return WithThinned(**values, draft=draft, copies=tuple(copies))


THINNED = Method(summarise, ThinnedSection, candidates=candidates, inputs=inputs, needs_all=True)
