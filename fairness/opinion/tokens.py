"""The content tokens of a text: what the Opinion Interaction Graph reads of it."""

import re

from ..stop_words import ENGLISH_STOP_WORDS

LINK = re.compile(r"https?://\S*|\bwww\.\S+", re.IGNORECASE)
MENTION = re.compile(r"@\w+")
TOKEN = re.compile(r"[^\W\d_]+(?:['\u2019][^\W\d_]+)*")
CONTRACTIONS = ("n't", "'re", "'ve", "'ll", "'d", "'m")
DROPPED = ENGLISH_STOP_WORDS | {"rt"}


def content_tokens(text: str) -> list[str]:
    """The text's content words in order, case folded, not stemmed; [] when it has none.

    Links and @mentions are removed; tokens are runs of letters with inner apostrophes, less a final 's. Contractions, single
    letters, "rt" and the English stop words are dropped.

    Source: specification of opinion bias, section 4.1.
    """
    plain = MENTION.sub(" ", LINK.sub(" ", text))
    tokens = (word.casefold().replace("\u2019", "'").removesuffix("'s") for word in TOKEN.findall(plain))
    return [t for t in tokens if len(t) > 1 and t not in DROPPED and not t.endswith(CONTRACTIONS)]
