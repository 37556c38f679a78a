"""Texts longer than a model reads: their end is cut, which is said once, or the run is refused."""

import logging
from collections.abc import Mapping
from typing import Literal

from ...errors import DataError

log = logging.getLogger(__name__)

# characters of a text that a message shows
SHOWN = 60


class TooLong:
    """What a matcher does with texts that its model cannot read whole.

    Args:
        matcher: as messages name it.
        on_overflow: "truncate" says once that texts are cut; "raise" refuses.
    """

    def __init__(self, matcher: str, on_overflow: Literal["truncate", "raise"]) -> None:
        self._matcher = matcher
        self._on_overflow = on_overflow
        self._said = False

    def check(self, lengths: Mapping[str, int], most_tokens: int) -> None:
        """Warn or refuse if a text is longer than the model reads.

        Args:
            lengths: tokens of each text, special ones included.
            most_tokens: that the model reads, special ones included.

        Raises:
            DataError: a text is too long and nothing may be cut; the first such texts are named by how they begin.
        """
        long = {text: n for text, n in lengths.items() if n > most_tokens}
        if not long:
            return
        if self._on_overflow == "raise":
            named = ", ".join(f"{text[:SHOWN]!r} ({n} tokens)" for text, n in list(long.items())[:3])
            raise DataError(
                f"matcher {self._matcher!r} reads {most_tokens} tokens, and {len(long)} of {len(lengths)} texts are longer: "
                f"{named}; shorten the documents, write on_overflow: truncate, or match by words, which has no limit"
            )
        if not self._said:
            log.warning(
                "matcher %r: %d of %d texts were cut to %d tokens; later ones are cut without a word",
                self._matcher, len(long), len(lengths), most_tokens,
            )  # fmt: skip
            self._said = True
