"""Attention reweighting: zero-shot on a model that looks at the passages independently of their order.

Each candidate is one answer to the request, asked with its passages as segments; the backend is `pine`, which is also the
control: with `reweight: false` it answers the same prompts with ordinary attention.
Source: Wang et al. 2024 (PINE, arXiv:2407.01100); docs/papers.md#ri-pine.
"""

from ...generate.backend import Reply
from ...generate.method import Job


def summarise(job: Job) -> list[list[Reply]]:
    """Replies of each request, one for each draw."""
    from .pine.segments import SegmentedAsk, segmented_prompt

    options = job.recipe.generate.attention_reweighting
    assert options is not None, "the recipe chose another method"
    asks = []
    for request, drawn in job.drawn():
        prompt, segments, start = segmented_prompt(request, job.recipe, options)
        asks += [
            SegmentedAsk(
                prompt,
                draw.plan.sampling,
                seed,
                segments=segments,
                start=start,
                is_joined=not options.reweight,
            )
            for draw, seed in drawn
        ]
    return job.rows(job.backend.complete(asks))
