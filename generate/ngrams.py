"""A ban on n-grams that come twice, for the backends that draw tokens.

It is the rule of transformers' `no_repeat_ngram_size`, kept up token by token: a long prompt is read once and not at every step.
"""

from collections import defaultdict, deque
from collections.abc import Iterable


class NGramBan:
    """Which tokens may not come next, because each would complete an n-gram that stands there already.

    Args:
        size: tokens of an n-gram, at least 1.
        tokens: what stands there at first.
    """

    def __init__(self, size: int, tokens: Iterable[int] = ()) -> None:
        # the beginning of an n-gram -> the tokens that have completed it
        self._completed: defaultdict[tuple[int, ...], set[int]] = defaultdict(set)
        # the last tokens; while there are too few of them, no n-gram has begun
        self._last: deque[int] = deque(maxlen=size - 1)
        self._size = size
        self.n_tokens = 0
        self.take(tokens)

    def take(self, tokens: Iterable[int]) -> None:
        """Add tokens at the end."""
        for token in tokens:
            if self.n_tokens >= self._size - 1:
                self._completed[tuple(self._last)].add(token)
            self._last.append(token)
            self.n_tokens += 1

    def banned(self) -> list[int]:
        """The tokens that may not come next, in no order."""
        return list(self._completed.get(tuple(self._last), ()))
