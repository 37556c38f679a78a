"""The second rule of `clauses`: a list taken apart, the clause once for each item."""

import re
from collections.abc import Sequence

from .clause_words import (
    ARTICLES,
    CONDITIONS,
    DETERMINERS,
    FINITE,
    FRAMES,
    HEDGES,
    INTENSIFIERS,
    LINKS,
    MARKERS,
    MODALS,
    NEGATIONS,
    OBJECTS,
    PLURAL,
    PREPOSITIONS,
    TOGETHER,
    TRANSITIVE,
    bare_word,
    verb_places,
)

BETWEEN_ITEMS = re.compile(r"(,?\s+(?:and|as well as)\s+|,\s+)", re.IGNORECASE)


def list_items(clause: str) -> list[str]:
    """The clause once for each item of its list; the clause alone when it has none."""
    words = clause.split()
    verbs = verb_places(words)
    bare = [bare_word(word) for word in words]
    if len(verbs) != 1 or (TOGETHER | CONDITIONS) & set(bare):
        return [clause]
    verb = verbs[0]
    before, behind = " ".join(words[:verb]), " ".join(words[verb + 1 :])
    subjects, items = _listed(before), _listed(behind)
    if BETWEEN_ITEMS.search(before):
        is_list = bare[verb] in PLURAL and _are_things(subjects, before) and not HEDGES & set(bare[verb:])
        return [f"{subject} {' '.join(words[verb:])}" for subject in subjects] if is_list else [clause]
    if (NEGATIONS | MARKERS | FRAMES - LINKS) & set(bare[: verb + 1]):
        return [clause]
    is_list = (bare[verb] in LINKS | TRANSITIVE and _are_things(items, behind)) or (
        bare[verb] in LINKS and _are_alike(items, bare[verb] in MODALS)
    )
    return [f"{' '.join(words[: verb + 1])} {item}" for item in items] if is_list else [clause]


def _listed(text: str) -> list[str]:
    """The items of "A, B and C"; [] when the last two are not joined by "and"."""
    pieces = BETWEEN_ITEMS.split(text)
    return pieces[::2] if len(pieces) > 1 and pieces[-2].strip(" ,") else []


def _are_things(items: Sequence[str], text: str) -> bool:
    """Whether items are an article or the like and a word each; between commas the same, lest one explain another."""
    pairs = [[bare_word(word) for word in item.split()] for item in items]
    if not pairs or not all(len(pair) == 2 and pair[0] in ARTICLES for pair in pairs):
        return False
    kinds = {"a" if first == "an" else first for first, _ in pairs}
    return not any(last.endswith("ed") or last in PREPOSITIONS for _, last in pairs) and (
        "," not in text or len(kinds) == 1
    )


def _are_alike(items: Sequence[str], is_modal: bool) -> bool:
    """Whether items can all stand behind the verb: single words, stronger or weaker, or hedged each on its own."""
    words = [[bare_word(word) for word in item.split()] for item in items]
    if not words or not all(1 <= len(item) <= (1 if is_modal else 2) for item in words):
        return False
    if any(item.lstrip("\"'(")[:1].isupper() for item in items):
        return False
    modifiers = [item[0] if len(item) == 2 else "" for item in words]
    is_hedged = [m in HEDGES or (m.endswith("ly") and m not in INTENSIFIERS) for m in modifiers]
    if any(is_hedged) and not all(is_hedged):
        return False
    is_known = all(hedged or not m or m in INTENSIFIERS for m, hedged in zip(modifiers, is_hedged, strict=True))
    last = [item[-1] for item in words]
    # "lasts", or "arrived" beside "small", are verbs of their own
    looks_finite = any(re.search(r"(?<![su])s$|ed$", word) or word in FINITE for word in last)
    others = DETERMINERS | PREPOSITIONS | OBJECTS | HEDGES | INTENSIFIERS | FRAMES
    return is_known and not looks_finite and not others & set(last)
