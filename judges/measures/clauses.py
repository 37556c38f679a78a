"""Units by rules: a sentence taken apart into clauses and list items, without a model.

What it does, in this order, to each sentence:

1. it splits at semicolons and spaced dashes;
2. it splits before "but", "while", "whereas", "although", "though" where a subject follows, and before "and", "so", "yet" where a
   pronoun follows or a comma stands before, if both parts have a verb that it knows (behind a pronoun any will do), and drops the
   word; so it does with an opening "While ..., ";
3. it gives each item of a list "A, B and C" the words around it: "The hotel is clean, quiet and cheap" becomes "The hotel is
   clean", "The hotel is quiet", "The hotel is cheap". A list is one of single words behind such a verb, of objects that all begin
   with an article or the like, or of such subjects before a plural verb.

A unit is made of its sentence's own words in their order: nothing is invented, no pronoun is resolved, no word is inflected
("The staff were clean"). Only joining words and marks between units are dropped. Where no rule holds a sentence stays whole, so
there are fewer units than a reader would find. The same text gives the same units. English only; sentences of other languages
stay whole. The rules are our own; the published way is a language model (Li et al. 2025, arXiv:2412.08795; specification of group
fairness, section 13).
"""

import re
from collections.abc import Iterator, Sequence

from ...text import sentences

# changes with the rules
VERSION = 1

# verbs behind which complements are listed, singular ones first
SINGULAR = frozenset("is was has isn't wasn't seems feels looks remains becomes".split())
PLURAL = frozenset("are were have aren't weren't seem feel look remain become".split())
MODALS = frozenset("am had can cannot could will would shall should may might must can't couldn't won't".split())
LINKS = SINGULAR | PLURAL | MODALS
# other finite verbs that summaries of reviews, posts and news live on
VERBS = LINKS | frozenset(
    """
    do does did don't doesn't didn't hasn't haven't hadn't wouldn't shouldn't seemed felt looked became remained
    says say said calls call called finds find found thinks think thought wants want wanted needs need needed likes like liked
    loves love loved hates hate hated praises praise praised dislikes dislike disliked enjoys enjoy enjoyed supports support
    supported opposes oppose opposed argues argue argued claims claim claimed believes believe believed fears fear feared
    complains complain complained criticises criticise criticised criticizes criticize criticized warns warn warned
    """.split()
)
PRONOUNS = frozenset("i you he she it we they there".split())
DETERMINERS = frozenset(
    """
    the a an this that these those some others many most several few all both no every each another its
    their his her my our your one
    """.split()
)
# words that open a second clause: before a subject, and those that also join words and need a stronger sign
CONTRASTS = frozenset("but while whereas although though".split())
JOINTS = frozenset("and so yet".split())
OPENINGS = frozenset("while whereas although though".split())
SUBJECTS = PRONOUNS | DETERMINERS

# words that say that what looks like an item is more than one
PREPOSITIONS = frozenset(
    "about at between by for from in into near of on over than that to under which who with without".split()
)

HARD_BREAK = re.compile(r"\s*;\s+|\s+[\u2013\u2014-]{1,2}\s+")
BETWEEN_ITEMS = re.compile(r",?\s+(?:and|as well as)\s+|,\s+", re.IGNORECASE)
FEWEST_WORDS = 2
MOST_ITEM_WORDS = 4
# words that stand before a quality, as those in -ly do
DEGREES = frozenset("very too so quite rather not never often always well".split())


def split_clauses(text: str) -> tuple[str, ...]:
    """The units of a text, in order; () for a blank one."""
    return tuple(unit for sentence in sentences(text) for unit in _units(sentence))


def _units(sentence: str) -> Iterator[str]:
    for part in _hard_parts(sentence):
        for clause in _clauses(part):
            yield from _items(clause)


def _hard_parts(sentence: str) -> list[str]:
    parts = HARD_BREAK.split(sentence)
    return parts if all(len(part.split()) >= FEWEST_WORDS for part in parts) else [sentence]


def _clauses(text: str) -> list[str]:
    """The clauses that stand side by side in a text."""
    words = text.split()
    if _bare(words[0]) in OPENINGS:
        for place in range(2, len(words) - 1):
            if words[place - 1].endswith(",") and _is_clause(words[1:place]) and _is_clause(words[place:]):
                return [_trimmed(words[1:place]), *_clauses(" ".join(words[place:]))]
    for place in range(1, len(words) - 2):
        if _joins(words, place) and _is_clause(words[:place]) and _is_clause(words[place + 1 :]):
            return [_trimmed(words[:place]), *_clauses(" ".join(words[place + 1 :]))]
    return [text]


def _joins(words: Sequence[str], place: int) -> bool:
    """Whether the word at this place may stand between two clauses."""
    word, following = _bare(words[place]), _bare(words[place + 1])
    if word in CONTRASTS:
        return following in SUBJECTS
    has_comma = words[place - 1].endswith(",")
    return word in JOINTS and (following in PRONOUNS or (has_comma and following in SUBJECTS))


def _is_clause(words: Sequence[str]) -> bool:
    """Whether words have a verb behind another word; behind a pronoun any word is taken for one."""
    return len(words) >= FEWEST_WORDS and (_bare(words[0]) in PRONOUNS or any(_bare(w) in VERBS for w in words[1:]))


def _items(clause: str) -> list[str]:
    """The clause once for each item of its list; the clause alone when it has none."""
    words = clause.split()
    verbs = [place for place, word in enumerate(words) if _bare(word) in VERBS]
    if len(verbs) != 1 or verbs[0] == 0:
        return [clause]
    verb = verbs[0]
    subjects = BETWEEN_ITEMS.split(" ".join(words[:verb]))
    if len(subjects) > 1:
        is_list = _bare(words[verb]) in PLURAL and all(map(_is_thing, subjects))
        return [f"{subject} {' '.join(words[verb:])}" for subject in subjects] if is_list else [clause]
    items = BETWEEN_ITEMS.split(" ".join(words[verb + 1 :]))
    is_list = all(map(_is_thing, items)) or (_bare(words[verb]) in LINKS and _are_alike(items))
    return [f"{' '.join(words[: verb + 1])} {item}" for item in items] if is_list else [clause]


def _is_thing(item: str) -> bool:
    """Whether an item is an article or the like and a few words."""
    return _bare(item.split(maxsplit=1)[0]) in DETERMINERS and _is_plain(item) if item else False


def _are_alike(items: Sequence[str]) -> bool:
    """Whether items can all stand behind the verb: single words of one kind, with or without a degree."""
    words = [[_bare(word) for word in item.split()] for item in items]
    if not all(1 <= len(item) <= 2 and _is_degree(*item[:-1]) and _is_plain(" ".join(item)) for item in words):
        return False
    last = [item[-1] for item in words]
    # "lasts", or "arrived" beside "small", are verbs of their own
    looks_finite = any(re.search(r"(?<![su])s$", word) for word in last)
    return not looks_finite and not DETERMINERS & set(last) and len({word.endswith("ed") for word in last}) == 1


def _is_degree(*words: str) -> bool:
    return all(word in DEGREES or word.endswith("ly") for word in words)


def _is_plain(item: str) -> bool:
    words = [_bare(word) for word in item.split()]
    return len(words) <= MOST_ITEM_WORDS and not (PREPOSITIONS | PRONOUNS) & set(words)


def _bare(word: str) -> str:
    return word.strip(",.;:!?\"'()").replace("\u2019", "'").lower()


def _trimmed(words: Sequence[str]) -> str:
    return " ".join(words).rstrip(",;: ")
