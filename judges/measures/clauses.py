"""Units by rules: a sentence taken apart into clauses and list items, without a model.

A sentence that is left whole is always right, a wrong split never is, so a rule holds only where its form is plain:

1. a sentence becomes its clauses at a semicolon, at its one spaced dash, before "but", "while", "whereas", "although", "though"
   and a subject, before "and" and a pronoun, and before ", and" or ", yet" and a subject, if both parts have a verb that is known
   here (behind a pronoun others will do); joining words are dropped. So it is with an opening "While ..., ". Nothing is split in
   a question, under a condition, behind a word that reports, doubts or denies, or behind an opening that may belong to both;
2. each item of a list "A, B and C" gets the words around it: "The hotel is clean, quiet and cheap" becomes "The hotel is clean",
   "The hotel is quiet", "The hotel is cheap". A list is one of single words behind such a verb, of objects that are an article
   and a word, or of such subjects before a plural verb. A negation or a hedge leaves it whole, unless every item has its own.

A unit is made of its sentence's own words in their order: nothing is invented, no pronoun is resolved, no word is inflected ("The
staff were clean"). Only joining words and marks between units are dropped. The same text gives the same units. English only;
sentences of other languages stay whole. The rules are our own; the published way is a language model (Li et al. 2025,
appendix A.1; docs/papers.md#li-units). The words are in `clause_words`.
"""

import re
from collections.abc import Iterator, Sequence

from ...text import sentences
from .clause_words import (
    ARTICLES,
    CONDITIONS,
    CONTRASTS,
    DETERMINERS,
    EXCEPTED,
    FINITE,
    FRAMES,
    HEDGES,
    INTENSIFIERS,
    JOINTS,
    LINKS,
    MARKERS,
    MODALS,
    NEGATIONS,
    OBJECTS,
    OPENINGS,
    PLURAL,
    PREPOSITIONS,
    PRONOUNS,
    REPORTS,
    SUBJECTS,
    TOGETHER,
    TRANSITIVE,
    VERBS,
    bare_word,
    verb_places,
)

# changes with the rules
VERSION = 2

DASH = re.compile(r"[\u2013\u2014-]{1,2}")
FEWEST_WORDS = 2


def split_clauses(text: str) -> tuple[str, ...]:
    """The units of a text, in order; () for a blank one."""
    return tuple(unit for sentence in sentences(text) for unit in _units(sentence))


def _units(sentence: str) -> list[str]:
    if sentence.rstrip("\"'\u201d\u2019) ").endswith("?"):
        return [sentence]
    units = [unit for clause in _clauses(sentence) for unit in list_items(clause)]
    # half of a quotation or of a parenthesis says something else
    return units if all(map(_is_balanced, units)) else [sentence]


def _is_balanced(text: str) -> bool:
    pairs = [
        (text.count(opening), text.count(right)) for opening, right in ("()", "[]", "\u201c\u201d", "\u00ab\u00bb")
    ]
    pairs.append((len(re.findall(r"(?<!\w)['\u2018](?=\w)", text)), len(re.findall(r"['\u2019](?!\w)", text))))
    return text.count('"') % 2 == 0 and all(n_opening == right for n_opening, right in pairs)


def _clauses(text: str) -> list[str]:
    """The clauses that stand side by side in a text."""
    words = text.split()
    bare = [bare_word(word) for word in words]
    if CONDITIONS & set(bare) or _ends_with_a_report(text):
        return [text]
    if bare[0] in OPENINGS:
        place = next((i + 1 for i, word in enumerate(words) if word.endswith(",")), len(words))
        first, tail = words[1:place], words[place:]
        if tail and bare_word(tail[0]) in SUBJECTS and _stands_alone(first) and _is_clause(tail):
            return [_trimmed(first), *_clauses(" ".join(tail))]
    for end, start in _breaks(words):
        first, tail = words[:end], words[start:]
        if _stands_alone(first) and _is_clause(tail) and _opens_plainly(tail):
            return [_trimmed(first), *_clauses(" ".join(tail))]
    return [text]


def _breaks(words: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Where a clause may end and where the next may begin, in words."""
    dashes = [place for place, word in enumerate(words) if DASH.fullmatch(word)]
    for place in range(1, len(words) - 1):
        if words[place - 1].endswith(";"):
            yield place, place
        elif dashes == [place]:
            neighbours = words[place - 1] + words[place + 1]
            if bare_word(words[place + 1]) in SUBJECTS and not re.search(r"\d", neighbours):
                yield place, place + 1
        elif not dashes and _joins(words, place):
            yield place, place + 1


def _joins(words: Sequence[str], place: int) -> bool:
    """Whether the word at this place may stand between two clauses."""
    before, word, following = (bare_word(words[i]) for i in (place - 1, place, place + 1))
    if word in CONTRASTS:
        is_exception = word == "but" and bool(EXCEPTED & {bare_word(w) for w in words[:place]})
        return following in SUBJECTS and before not in ("as", "even") and not is_exception
    if words[place - 1].endswith(","):
        return word in JOINTS and following in SUBJECTS
    return word == "and" and following in PRONOUNS and before not in OBJECTS


def _stands_alone(words: Sequence[str]) -> bool:
    """Whether words are a clause that says nothing about the next one."""
    bare = [bare_word(word) for word in words]
    verbs = verb_places(words)
    return (
        _is_clause(words)
        and len(verbs) <= 1
        and bare[-1] not in VERBS
        and bare[0] not in PREPOSITIONS | NEGATIONS
        and not bare[0].endswith("ly")
        and not (MARKERS | FRAMES) & set(bare)
    )


def _opens_plainly(words: Sequence[str]) -> bool:
    """Whether words begin with a subject of their own: neither joined on nor followed by a relative clause."""
    bare = [bare_word(word) for word in words]
    verbs = verb_places(words)
    subject = bare[1 : verbs[0] if verbs else 2]
    return bare[0] not in CONTRASTS | JOINTS | MARKERS - DETERMINERS and not MARKERS & set(subject)


def _is_clause(words: Sequence[str]) -> bool:
    """Whether words have a verb behind another word; right behind a pronoun others than the known ones will do."""
    if len(words) < FEWEST_WORDS:
        return False
    first, second = bare_word(words[0]), bare_word(words[1])
    if first not in PRONOUNS:
        return bool(verb_places(words))
    if second in VERBS:
        return True
    if first in ("he", "she", "it"):
        return second.endswith(("s", "ed")) and second not in PREPOSITIONS | DETERMINERS | OBJECTS
    return first != "there" and second not in PREPOSITIONS | SUBJECTS | {"alone", "too"}


def _trimmed(words: Sequence[str]) -> str:
    return " ".join(words).rstrip(",;: ")


def _ends_with_a_report(text: str) -> bool:
    """Whether a text closes with the one who says all of it: "..., critics say"."""
    _, comma, last = text.rpartition(",")
    words = [bare_word(word) for word in last.split()]
    return bool(comma) and 1 <= len(words) <= 3 and bool(REPORTS & set(words)) and not (CONTRASTS | JOINTS) & set(words)


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
    function_words = DETERMINERS | PREPOSITIONS | OBJECTS | HEDGES | INTENSIFIERS | FRAMES
    return is_known and not looks_finite and not function_words & set(last)
