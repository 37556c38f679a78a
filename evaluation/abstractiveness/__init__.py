"""How far a summary goes beyond copying: novel n-grams, extractive fragments, length.

Tokens are those of `text.words`; n-grams and fragments never cross the border of a passage.
Source: Ri et al. 2025, section 6.1; docs/papers.md#ri-tokens.
"""

from .characteristics import Characteristics, characteristics, mean_characteristics
from .fragments import Fragments, fragments
from .novelty import novel_ngrams

__all__ = ["Characteristics", "Fragments", "characteristics", "fragments", "mean_characteristics", "novel_ngrams"]
