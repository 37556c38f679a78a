"""What a request takes, whatever the server makes of it: tokens and bytes of its answer at most, tokens of a text at least."""

import json
import re
from collections.abc import Mapping
from typing import Any

# tokens that a chat template writes around each turn, and around tools, at most
AROUND_TURN, AROUND_TOOLS = 32, 512
# bytes of an answer around its choices; of a token of them, with what is said of it, and of each alternative to it
LEAST_BYTES, TOKEN_BYTES, ALTERNATIVE_BYTES = 1_000_000, 1_000, 500

# letters of scripts that are written without blanks, with how many of them a token has at most in running text
UNSPACED = (
    (re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"), 4),
    (re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]"), 10),
)
# a letter or figure that is repeated, as in lines and cries, which vocabularies have as one token
REPEATED = re.compile(r"(.)\1{3,}")
# words of a token, at most: vocabularies whose tokens go beyond blanks have fewer in running text
MOST_WORDS = 1.6
# tokens below which a text is too short to tell
LEAST_TOLD = 256


def most_tokens(body: Mapping[str, Any]) -> tuple[int, int]:
    """Tokens of a request and of its answers, at most: none is less than a byte, but for a few that templates write.

    Fields that are texts, lists or objects may be put into the prompt, as tools are, indented and with escapes at worst.
    """
    turns = body.get("messages", ())
    n_input = sum(_size(turn["content"]) + AROUND_TURN for turn in turns) + len(body.get("prompt", ()))
    others = {key: value for key, value in body.items() if key not in {"messages", "prompt", "model"}}
    n_input += sum(_size(value) for value in others.values() if isinstance(value, str | list | tuple | Mapping))
    n_input += AROUND_TOOLS * any(key in body for key in ("tools", "functions"))
    n_answers = int(body.get("n", 1))
    return n_input, n_answers * max(int(body.get(key) or 0) for key in ("max_tokens", "max_completion_tokens"))


def most_bytes(body: Mapping[str, Any]) -> int:
    """Bytes of a whole response to a request, at most; token ids of the prompt may come back with it."""
    n_input, n_output = most_tokens(body)
    alternatives = max(int(body.get(key) or 0) for key in ("logprobs", "top_logprobs"))
    return LEAST_BYTES + 16 * n_input + n_output * (TOKEN_BYTES + alternatives * ALTERNATIVE_BYTES)


def _size(value: Any) -> int:
    """Bytes of a part of a request, as it stands in a prompt."""
    return len((value if isinstance(value, str) else json.dumps(value, indent=4)).encode(errors="surrogatepass"))


def least_tokens(text: str) -> int:
    """Tokens of a text in any vocabulary, at least; 0 for one that is too short to tell."""
    plain, n = REPEATED.sub(r"\1", text), 0.0
    for letters, most in UNSPACED:
        plain, n_letters = letters.subn(" ", plain)
        n += n_letters / most
    n += sum(any(map(str.isalnum, word)) for word in plain.split()) / MOST_WORDS
    return int(n) if n >= LEAST_TOLD else 0
