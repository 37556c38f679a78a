"""Attention reweighting: zero-shot on a model that looks at the passages independently of their order.

Each candidate is one answer to the request, asked with its passages as segments; the backend is `pine`, which is also the
control: with `reweight: false` it answers the same prompts with ordinary attention.
Source: Wang et al. 2024 (PINE, arXiv:2407.01100); docs/papers.md#ri-pine.
"""

from ...generate.backend import Backend, Reply
from ...generate.method import Job, Method
from ...runfolder.phases import Phase
from .sections import AttentionReweightingSection


def summarise(job: Job) -> list[list[Reply]]:
    """Replies of each request, one for each draw."""
    from .pine.segments import SegmentedAsk, segmented_prompt

    options = job.recipe.generate.options_as(AttentionReweightingSection)
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


def open_backend(phase: Phase, signature: str) -> Backend:
    """The backend whose attention is reweighted, with the model of the phase's policy loaded.

    Raises:
        MissingExtra: its library is not installed.
        ModelError: the model cannot be opened, or its attention cannot be reweighted.
    """
    from .pine.backend import PineBackend

    recipe = phase.recipe
    is_control = not recipe.generate.options_as(AttentionReweightingSection).reweight
    return PineBackend(recipe.generate, recipe.model, phase.adapter, signature, is_control=is_control)


ATTENTION_REWEIGHTING = Method(summarise, AttentionReweightingSection, open_backend=open_backend)
