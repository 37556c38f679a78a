"""`trainer.per_device_train_batch_size: auto`: as many requests of a step in one pass as fit.

The loss is the mean over the pairs of a step, however they are spread over micro-batches, so that nothing but the time changes.
"""

import logging
from collections.abc import Sequence

from ..config import Recipe
from .examples import TrainingPairs
from .groups import build_groups
from .options import SIZE, accumulation, is_auto

log = logging.getLogger(__name__)


def with_micro_batch(recipe: Recipe, examples: TrainingPairs, processes: int) -> Recipe:
    """The recipe with a number in the place of `auto`.

    Args:
        recipe: of the training.
        examples: what is trained on.
        processes: that share a step.
    """
    if not is_auto(recipe):
        return recipe
    lengths, allowed = [group.length for group in build_groups(examples.rows)], recipe.train.max_tokens_per_pass
    requests = accumulation(recipe, processes)
    size = most_in_a_pass(requests, lengths, allowed)
    log.info(
        "auto: %d of the %d requests of a process in a step run at once; the longest of them have %d tokens, of %d",
        size,
        requests,
        sum(sorted(lengths)[-size:]),
        allowed,
    )
    return recipe.model_copy(update={"trainer": recipe.trainer | {SIZE: size}})


def most_in_a_pass(requests: int, lengths: Sequence[int], allowed: int) -> int:
    """The largest divisor of a process's requests in a step such that that many of the longest fit into one pass, at least 1.

    No micro-batch has more tokens than those, since the sampler gives each row to the shortest one; with shuffle: sets one
    may, and then runs in several passes.

    Args:
        requests: of a process in a step.
        lengths: tokens of all requests.
        allowed: tokens of a pass.
    """
    longest = sorted(lengths, reverse=True)
    divisors = (n for n in range(requests, 1, -1) if requests % n == 0)
    return next((n for n in divisors if sum(longest[:n]) <= allowed), 1)
