"""The words of a person's name: given names, the last name with its particles, suffixes.

A word may be several tokens: "van Gogh", "de la Renta", or "Jean-Luc" where a tokenizer splits at hyphens. Inside a person's span
whatever has a capital is a name, because taggers call Will a verb and Grace a noun; outside, `reads_as_name` decides.

Source: docs/papers.md#steen-surnames.
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import pairwise

from .document import Token, TokenSpan
from .words import SUFFIXES, class_of, is_neutral_title, is_title

# with a capital these may be given names ("Van Morrison", "Al Gore"), so another mention of the person must tell
GIVEN_TOO = frozenset("abu al an as ben bin del della des di do el la lo mac san ten van von".split())
SAINTS = frozenset({"st", "st.", "ste.", "saint"})
PARTICLES = GIVEN_TOO | SAINTS | frozenset(
    "af av bint d' da das de degli dei den der dos du ibn las le les los mc o' op te ter 't "
    "ul ur vom zu zum zur".split()
)  # fmt: skip
# two last names as one: "Ortega y Gasset"
CONNECTORS = frozenset({"y", "e"})
HYPHENS = frozenset("-\u2010\u2011")
# stand inside a name: Dwayne "The Rock" Johnson
ENCLOSING = HYPHENS | frozenset("\"'()\u2018\u2019\u201c\u201d") | {"``", "''", "-LRB-", "-RRB-"}
CLITICS = frozenset({"'s", "\u2019s"})
ARTICLES = frozenset({"the", "a"})
# a particle within a token: "al-Assad", "d'Estaing"; "D'Angelo" is a name as a whole
PREFIX = re.compile(r"^(?:(?:[Aa][dlnrstz]|[Aa]sh|[Ee]l|[Uu]l)[-\u2010\u2011]|[dl]['\u2019])(?=\w)")
CLITIC = re.compile(r"(?:(?<=\w)['\u2019]s|(?<=s)['\u2019])$", re.IGNORECASE)

PROPER = frozenset({"NNP", "NNPS"})
# after a word at the start of a sentence, these make it a subject
AFTER_SUBJECTS = frozenset({"MD", "POS", "VB", "VBD", "VBN", "VBP", "VBZ"})
AUXILIARIES = frozenset({"will", "may"})
MONTHS = frozenset({"january", "april", "may", "june", "august", "september"})
# of days and ranks those that are first names of the census, too
DAYS = frozenset({"sunday"})
RANKS = frozenset("dean earl king major marquis prince princess queen".split())
BEFORE_MONTHS = frozenset("during early every in last late mid next since this through till until".split())
SENTENCE_ENDS = frozenset(".!?:;") | {"``", '"', "\u201c"}


@dataclass(frozen=True)
class NameWord:
    """A word of a name, from token `start` to before token `end`."""

    start: int
    end: int
    # as it stands, without a possessive ending
    text: str

    @property
    def is_suffix(self) -> bool:
        """Whether it follows a name and is none itself: Jr., III."""
        return self.text.casefold() in SUFFIXES

    @property
    def is_initial(self) -> bool:
        """Whether it is one letter, or letters with full stops: T., J.K."""
        return all(len(part) <= 1 for part in self.text.split("."))


def surface(tokens: Sequence[Token], start: int, end: int) -> str:
    """The tokens as a name: a blank between them unless none stands there, none at hyphens, and no possessive ending."""
    text = ""
    for token, following in pairwise(tokens[start:end]):
        text += token.text if token.ws is False or HYPHENS & {token.text, following.text} else f"{token.text} "
    return text + CLITIC.sub("", tokens[end - 1].text)


def core(name: str) -> str:
    """A last name without particles: "Gogh" of "van Gogh"; what follows a saint's title is not a name of its own."""
    words = name.split()
    while len(words) > 1 and words[0].casefold() in PARTICLES - SAINTS:
        del words[0]
    return PREFIX.sub("", " ".join(words))


def is_same_last_name(a: str, b: str) -> bool:
    """Whether two last names are one, in any case; one of them may lack its particles."""
    a, b = a.casefold(), b.casefold()
    return a == b or core(a) == b or a == core(b)


def has_capital(text: str) -> bool:
    """Whether a token is written as a name is: with a capital, or in a script that has none."""
    return any(map(str.isupper, text)) or (text[:1].isalpha() and not text[0].islower())


def shouts(tokens: Sequence[Token], start: int, end: int) -> bool:
    """Whether tokens are in capitals together with the word before or after them, as in headlines."""
    letters = [token.text for token in tokens[start:end] if any(map(str.isalpha, token.text))]
    around = [_word_beside(tokens, range(start - 1, -1, -1)), _word_beside(tokens, range(end, len(tokens)))]
    return _capitals("".join(letters)) and all(map(str.isupper, letters)) and any(map(_capitals, around))


def name_words(
    tokens: Sequence[Token], start: int, end: int, last_names: Collection[str] = frozenset()
) -> tuple[NameWord, ...]:
    """The words of the name in a person's span, without titles, pronouns and articles; particles go with what follows.

    Args:
        tokens: of the document.
        start: of the span.
        end: of the span, exclusive.
        last_names: last names with particles that the person bears elsewhere, in small letters. They tell whether "Van" at the
            start of the span is a particle, and whether one before the span belongs to it.
    """
    words: list[NameWord] = []
    at = start
    while at < end:
        first = next((i for i in range(at, end) if not _is_particle(tokens, i, end)), end)
        if (
            first > at
            and first < end
            and _names(tokens, first)
            and _are_particles(tokens, start, at, first, last_names)
        ):
            stop = _end_of_word(tokens, first, end)
        elif _names(tokens, at) and not (at == start and tokens[at].text.casefold() in ARTICLES):
            stop = _end_of_word(tokens, at, end)
        else:
            at += 1
            continue
        words.append(NameWord(at, stop, surface(tokens, at, stop)))
        at = stop
    if words and last_names:
        words[0] = _with_particles_before(tokens, words[0], last_names)
    return tuple(words)


def words_of_spans(tokens: Sequence[Token], spans: Sequence[tuple[int, int]]) -> list[tuple[NameWord, ...]]:
    """The words of each span, read in the light of the others; a suffix right after a span is one of its words."""
    spans = [(start, _end_of_suffix(tokens, end)) for start, end in spans]
    words_by_span = [name_words(tokens, *span) for span in spans]
    names = (word.text for words in words_by_span for word in words)
    last_names = {name.casefold() for name in names if core(name) != name}
    return [name_words(tokens, *span, last_names) for span in spans] if last_names else words_by_span


def is_family(tokens: Sequence[Token], start: int, end: int, last_names: Collection[str]) -> bool:
    """Whether a span names a family: "the" and a plural, of one of the last names or by its tag ("the Smiths")."""
    text, before = surface(tokens, start, end), tokens[start - 1].text.casefold() if start else ""
    if end - start == 2 and tokens[start].text.casefold() == "the":
        text, before = surface(tokens, start + 1, end), "the"
    plurals = {plural for name in last_names for plural in plurals_of(name)}
    is_plural = tokens[end - 1].pos == "NNPS"
    return " " not in text and ((before == "the" and (is_plural or text in plurals)) or (is_plural and text in plurals))


def plurals_of(name: str) -> tuple[str, str]:
    """The plurals of a last name, by which a family is called: Smiths, Joneses."""
    return f"{name}s", f"{name}es"


def match_name(tokens: Sequence[Token], start: int, end: int, names: Collection[str]) -> tuple[int, str] | None:
    """The longest of the names, in small letters, that the tokens from `start` on are: where it ends, and the name."""
    longest = max((len(re.findall(r"\w+|[^\w\s]", name)) for name in names), default=0)
    for stop in range(min(end, start + longest), start, -1):
        if (text := surface(tokens, start, stop).casefold()) in names:
            return stop, text
    return None


def within_another(tokens: Sequence[Token], start: int, end: int, span: TokenSpan) -> bool:
    """Whether an entity that is no person has more of a name than these tokens: "Chase" in "Chase Bank", "May" in "May 2020"."""
    if not (span.start <= start and end <= span.end):
        return False
    entity_words = [tokens[i].text for i in range(span.start, span.end) if not start <= i < end]
    return any((has_capital(text) and text.casefold() not in ARTICLES) or text[0].isdigit() for text in entity_words)


def reads_as_name(tokens: Sequence[Token], start: int, end: int) -> bool:
    """Whether tokens outside of all spans that are spelled as a name mean one: "Voters like Will", not "Will she run?".

    A capital does, unless the word begins a sentence and its tag or what follows speaks for another, is a month beside a
    number, or stands in a headline and is tagged as another word.
    """
    token = tokens[start]
    before = tokens[start - 1].text.casefold() if start else ""
    after = tokens[end] if end < len(tokens) else None
    if not any(has_capital(token.text) for token in tokens[start:end]):
        return False
    folded = token.text.casefold()
    if folded in MONTHS and (before in BEFORE_MONTHS or (after is not None and after.text[0].isdigit())):
        return False
    begins = start == 0 or before in SENTENCE_ENDS
    if token.pos is None:
        return not ((begins or shouts(tokens, start, end)) and folded in AUXILIARIES)
    if token.pos in PROPER:
        return True
    if shouts(tokens, start, end):
        return False
    return not begins or (after is not None and after.pos in AFTER_SUBJECTS)


def _names(tokens: Sequence[Token], at: int) -> bool:
    """Whether a token of a span is a word of the name."""
    token = tokens[at]
    text = token.text
    if (
        text in ENCLOSING
        or text.casefold() in CLITICS
        or class_of(text, token.pos) is not None
        or is_neutral_title(text)
    ):
        return False
    is_lone_particle = text.casefold() in PARTICLES and not has_capital(text) and not _before_hyphen(tokens, at)
    return not is_lone_particle and (has_capital(text) or token.pos in PROPER or text.casefold() in SUFFIXES)


def _is_particle(tokens: Sequence[Token], at: int, end: int) -> bool:
    return tokens[at].text.casefold() in PARTICLES and at + 1 < end and not _before_hyphen(tokens, at)


def _are_particles(tokens: Sequence[Token], start: int, at: int, first: int, last_names: Collection[str]) -> bool:
    """Whether what could be particles are: small letters, a word before them, or the person's other mentions tell."""
    if at > start or is_title(tokens[max(start - 1, 0)].text):
        return True
    folded = [token.text.casefold() for token in tokens[at:first]]
    if any(not has_capital(token.text) for token in tokens[at:first]) or not GIVEN_TOO.issuperset(folded):
        return True
    return surface(tokens, at, first + 1).casefold() in last_names


def _end_of_word(tokens: Sequence[Token], at: int, end: int) -> int:
    at += 1
    while at + 1 < end and (tokens[at].text in HYPHENS or tokens[at].text in CONNECTORS) and _names(tokens, at + 1):
        at += 2
    return at


def _before_hyphen(tokens: Sequence[Token], at: int) -> bool:
    return at + 1 < len(tokens) and tokens[at + 1].text in HYPHENS


def _with_particles_before(tokens: Sequence[Token], word: NameWord, last_names: Collection[str]) -> NameWord:
    start = word.start
    while start > 0 and tokens[start - 1].text.casefold() in PARTICLES:
        start -= 1
        name = surface(tokens, start, word.end)
        if name.casefold() in last_names:
            return NameWord(start, word.end, name)
    return word


def _end_of_suffix(tokens: Sequence[Token], end: int) -> int:
    """The end of a span with the suffix behind it, also behind a comma."""
    at = end + (end < len(tokens) and tokens[end].text == ",")
    return at + 1 if at < len(tokens) and tokens[at].text.casefold() in SUFFIXES else end


def _word_beside(tokens: Sequence[Token], positions: Sequence[int]) -> str:
    return next((tokens[i].text for i in positions if any(map(str.isalpha, tokens[i].text))), "")


def _capitals(text: str) -> bool:
    return text.isupper() and sum(map(str.isalpha, text)) > 1
