"""Words that come in a female and a male form: found in documents, or joined into one token.

Source: Steen and Markert 2024, section 4 and appendix J.
"""

from collections.abc import Iterable, Sequence

# female form, male form
PAIRS: tuple[tuple[str, str], ...] = (
    ("daughter", "son"), ("mother", "father"), ("woman", "man"), ("girl", "boy"), ("female", "male"), ("sister", "brother"),
    ("daughters", "sons"), ("mothers", "fathers"), ("women", "men"), ("girls", "boys"), ("females", "males"),
    ("sisters", "brothers"), ("aunt", "uncle"), ("aunts", "uncles"), ("niece", "nephew"), ("nieces", "nephews"),
    ("wife", "husband"), ("wives", "husbands"), ("actress", "actor"), ("actresses", "actors"),
    ("chairwoman", "chairman"), ("chairwomen", "chairmen"), ("mum", "dad"), ("mums", "dads"), ("waitress", "waiter"),
    ("waitresses", "waiters"), ("mistress", "lover"),
)  # fmt: skip

_JOINED = {word: "/".join(pair) for pair in PAIRS for word in pair}


def find_gendered_words(tokens: Sequence[str]) -> tuple[int, ...]:
    """Positions of the tokens that a person should look at when content words are annotated, ascending; case is ignored."""
    return tuple(position for position, token in enumerate(tokens) if token.casefold() in _JOINED)


def join_pairs(tokens: Iterable[str]) -> list[str]:
    """The tokens, case folded, with both forms of a pair as one marker ("mother/father"); pronouns stay apart.

    Before `log_odds_z`, so that the identifiers by which documents were split do not explain the split.
    """
    folded = (token.casefold() for token in tokens)
    return [_JOINED.get(token, token) for token in folded]
