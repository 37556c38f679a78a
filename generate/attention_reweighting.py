"""Attention reweighting: zero-shot on a model that looks at the passages independently of their order.

Each candidate is one answer to the request, asked with its passages as segments; the backend is `pine`, which is also the
control: with `reweight: false` it answers the same prompts with ordinary attention.
Source: Wang et al. 2024 (PINE, arXiv:2407.01100); docs/papers.md#ri-pine.
"""

from collections.abc import Sequence

from ..config import Recipe
from ..records import SummaryRequest
from .backend import Backend, Reply
from .plans import Draw


def summarise(
    backend: Backend,
    requests: Sequence[SummaryRequest],
    draws: Sequence[Draw],
    seeds: Sequence[Sequence[int]],
    recipe: Recipe,
) -> list[list[Reply]]:
    """Replies of each request, one for each draw.

    Args:
        backend: one that knows segments.
        seeds: seeds[request][draw].
        recipe: generate.attention_reweighting holds the options.
    """
    from .pine.segments import SegmentedAsk, segmented_prompt

    options = recipe.generate.attention_reweighting
    assert options is not None, "the recipe chose another method"
    asks = []
    for request, row in zip(requests, seeds, strict=True):
        prompt, segments, start = segmented_prompt(request, recipe, options)
        asks += [
            SegmentedAsk(
                prompt,
                draw.plan.sampling,
                seed,
                segments=segments,
                start=start,
                is_joined=not options.reweight,
            )
            for draw, seed in zip(draws, row, strict=True)
        ]
    replies = backend.complete(asks)
    n = len(draws)
    return [replies[start : start + n] for start in range(0, len(replies), n)]
