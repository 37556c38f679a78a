"""What `positions` of attention reweighting would see of segments that the backend puts together."""

import torch

from evenhand.plugins.attention_reweighting.pine.positions import (
    base_positions,
    ranked,
    segment_means,
    shifts,
)


def segment_positions(prefix_len, lens, nearest_first):
    """Position of each segment's first token for a query of this ranking, and of the suffix's first token."""
    base, sizes = base_positions(prefix_len, lens, 1), torch.tensor(lens)
    first = prefix_len + sizes.cumsum(0) - sizes
    return (base[first] - shifts(torch.tensor(nearest_first), sizes)).tolist(), int(base[-1])


def importance_order(token_weights, own):
    """Importance of each segment for one query token, and the segments from the nearest to the farthest."""
    weights = torch.tensor([weight for segment in token_weights for weight in segment], dtype=torch.float64)
    importance = segment_means(weights, list(map(len, token_weights)))
    return importance.tolist(), ranked(importance, own).tolist()
