"""What an audit finds, in words: its headline, and who is represented less or more than by summaries that take no side.

The headline of one system says what happened: what a value has of the documents and of the summaries, and what would be expected.
Shares of the attribute's values come first wherever they were measured, and a sentence for each other family that names somebody
follows. How sure that is, and where to look, stands below it. The headline of several says which is fairer, and by how much.
Both go by gaps to the chance level alone, and everything that is said is corrected together (see `correction`). Where coverage
says the opposite of shares, the headline says so.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from ...resampling import LEAST_SETS, NOISE
from ...text import n_words, sentences
from ..pages.numbers import interval, percent, said_p, signed
from ..pages.words import counted, joined
from .contents import (
    PLACE_IN_SOURCES,
    SHARE_IN_SOURCES,
    SHARE_IN_SUMMARIES,
    SHARES,
    TONE_IN_SOURCES,
    WORDS_IN_SOURCES,
    Chance,
    Effect,
    Number,
    Representation,
    SystemNote,
    Vote,
)
from .input import System

# what a family that votes goes by, as a headline says it
FAMILIES = {"value-shares": "shares", "coverage": "coverage"}
# of too few
MORE_SETS = f"({LEAST_SETS} are needed, or as many as --least-group asks for)"


@dataclass(frozen=True)
class Wording:
    """How a family's finding is said."""

    # "{who} is represented less and {others} more than by summaries that take no side"
    verb: str
    less: str
    more: str
    than: str
    # numbers of one value
    detail: str
    # what one of several is called in the claim, and none of them
    subject: str = "{value}"
    nobody: str = "{attribute}"


ROOM = (
    "{value} has {there} of the documents' words in an average set and {here} of the summaries' words; {expected} would be "
    "expected of summaries that "
)
WORDINGS = {
    "value-shares": Wording(
        "represented", "less", "more", "than by summaries that take no side", ROOM + "take no side"
    ),
    "coverage": Wording(
        "covered", "less", "more", "than by summaries that take no side",
        "The documents of {value} are covered {against} all documents of their sets; {expected_points} would be expected of "
        "summaries that take no side",
    ),
    "order": Wording(
        "represented", "less", "more", "than by summaries that prefer no place",
        "The " + ROOM.replace("{value} has", "{value} of the documents has") + "prefer no place",
        subject="the {value} of the documents",
        nobody="place",
    ),
    "tone": Wording(
        "spoken of", "less kindly", "more kindly", "than in the documents' sentences with the same words",
        "Of the tone beside the words of {value}, {here} is positive in the summaries and {there} in its documents; {expected} "
        "would be expected by the documents' sentences with the same words",
    ),
    "word-lists": Wording(
        "used", "less", "more", "than by summaries that take no side",
        "The words of the list {value} are {there} of the listed words of the documents and {here} of those of the summaries "
        "that can be compared, of which {expected} would be expected of summaries that take no side",
        subject="the list {value}",
        nobody="word list",
    ),
}  # fmt: skip
# what a value has in the documents
IN_SOURCES = (SHARE_IN_SOURCES, PLACE_IN_SOURCES, TONE_IN_SOURCES, WORDS_IN_SOURCES)
# systems that a headline compares
MOST_COMPARED = 3


def system_note(system: System) -> SystemNote:
    """One summaries file with the mean words and sentences of its summaries, empty ones with 0; 0 without any summary."""
    texts = list(system.summaries.values())
    n = max(1, len(texts))
    return SystemNote(
        label=system.label, source=system.source, digest=system.digest, n_summaries=len(texts),
        n_words=round(sum(n_words(text) for text in texts) / n, 2),
        n_sentences=round(sum(len(sentences(text)) for text in texts) / n, 2),
    )  # fmt: skip


def representation(numbers: Sequence[Number], attribute: str) -> Representation | None:
    """Who is clearly off the chance level under one system and family; None where the family knows none that holds.

    Args:
        numbers: of the system and family.
        attribute: what values are called.
    """
    known = [(each, each.chance) for each in numbers if each.measure.kind.names and each.chance]
    if not known:
        return None
    first = known[0][0]
    clear = sorted(
        ((each, chance) for each, chance in known if chance.verdict in ("higher", "lower")),
        key=lambda pair: (pair[1].verdict != "lower", -abs(pair[1].gap)),
    )
    sources = {each.value: each.estimate for each in numbers if each.measure.kind in IN_SOURCES}
    under, over = (
        tuple(each.value for each, chance in clear if chance.verdict == which and each.value)
        for which in ("lower", "higher")
    )
    small = tuple(each.value for each, chance in known if each.value and (each.is_small or _is_unknown(chance)))
    said = [_claim(WORDINGS[first.family], under, over, attribute)] if clear or len(small) < len(known) else []
    if small:
        said.append(f"{', '.join(small)}: too few sets for a verdict {MORE_SETS}.")
    return Representation(
        family=first.family, system=first.system, measure=first.measure, small=small, sentence=" ".join(said),
        details=tuple(_detail(each, chance, sources.get(each.value)) for each, chance in clear), under=under, over=over,
    )  # fmt: skip


def _is_unknown(chance: Chance) -> bool:
    """Whether the gap has no interval for want of sets; one of 0 between the ends of what is expected needs none."""
    return chance.low is None and chance.verdict == "no clear difference" and not chance.is_inside


def _claim(wording: Wording, under: Sequence[str], over: Sequence[str], attribute: str) -> str:
    """Who is clearly below and above what is expected, without numbers."""

    def who(values: Sequence[str]) -> str:
        names = [wording.subject.format(value=value) for value in values]
        said = f"{_are(names)} {wording.verb}"
        # a value's own name is left as it is
        return said if wording.subject.startswith("{value}") else said[:1].upper() + said[1:]

    if not under and not over:
        nobody = wording.nobody.format(attribute=attribute)
        return f"No {nobody} is clearly {wording.verb} {wording.less} or {wording.more} {wording.than}."
    if not under or not over:
        return f"{who(under or over)} {wording.less if under else wording.more} {wording.than}."
    others = joined([wording.subject.format(value=value) for value in over])
    return f"{who(under)} {wording.less} and {others} {wording.more} {wording.than}."


def _detail(found: Number, chance: Chance, source: float | None) -> str:
    """The numbers behind a claim, for one value."""
    return f"{_stated(found, chance, source)}: a gap of {gap_words(chance)}."


def gap_words(chance: Chance) -> str:
    """ "-5.9 points (-9.3 to -2.6; p = 0.001) by equal commonness"."""
    bounds = chance.low, chance.high
    said = [] if None in bounds else [interval(*bounds, 1, "points", sign=True)]
    said += [] if None in bounds or chance.adjusted is None else [said_p(chance.adjusted)]
    brackets = f" ({'; '.join(said)})" if said else ""
    return f"{_points(chance.gap)} points{brackets} by {chance.null}"


def _stated(found: Number, chance: Chance, source: float | None) -> str:
    """What a value has of the documents and of the summaries, and what would be expected."""
    estimate = found.estimate or 0.0
    size = round(100 * abs(estimate), 1)
    expected = chance.between or (chance.expected,)
    return WORDINGS[found.family].detail.format(
        value=found.value, there=percent(source), here=percent(found.estimate),
        # ends that are written alike are said once
        expected=" to ".join(dict.fromkeys(map(percent, expected))),
        expected_points=" to ".join(dict.fromkeys(map(_points, expected))),
        against="as well as" if not size else f"{size:.1f} points {'better' if estimate > 0 else 'worse'} than",
    )  # fmt: skip


def speaking(represented: Sequence[Representation]) -> list[Representation]:
    """The families that name somebody, shares first."""
    return sorted((each for each in represented if each.under or each.over), key=lambda each: each.family != SHARES)


def number_of(numbers: Sequence[Number], found: Representation, value: str) -> tuple[Number, Chance]:
    """By which a value is named."""
    return next(
        (each, each.chance)
        for each in numbers
        if (each.system, each.measure, each.value) == (found.system, found.measure, value) and each.chance
    )


def order_sentence(effects: Sequence[Effect], follows: str) -> str:
    """Which thirds have clearly more or less room by their place, or by their documents, in a sentence."""
    mine = [each for each in effects if each.follows == follows]
    clear = [each for each in mine if each.verdict in ("higher", "lower") and each.gap is not None]
    if all(each.gap is None for each in mine):
        return "Place and documents cannot be separated: the orders do not move documents through all thirds of their sets."
    is_place = follows == "place"
    where = "Whatever documents stand in it" if is_place else "Wherever they stand"
    if not clear:
        return f"{where}, {'no third of a set has' if is_place else 'the documents of no third have'} clearly more or less room."
    gaps = [
        f"{100 * abs(each.gap or 0.0):.1f} points {'less' if each.verdict == 'lower' else 'more'}" for each in clear
    ]
    first, *others = zip(clear, gaps, strict=True)
    subject = f"the {first[0].place} of a set has" if is_place else f"the documents of the {first[0].place} have"
    said = [f"{subject} {first[1]} of the room than is expected"]
    said += [f"{'the' if is_place else 'those of the'} {each.place} {gap}" for each, gap in others]
    return f"{where}, {joined(said)}."


def _points(share: float | None) -> str:
    return signed(None if share is None else 100 * share, 1)


def title(
    numbers: Sequence[Number],
    represented: Sequence[Representation],
    votes: Sequence[Vote],
    systems: Sequence[SystemNote],
    effects: Sequence[Effect] = (),
) -> str:
    """With one system what happened to whom; with several by which families each is fairer or less fair.

    Args:
        numbers: of all systems; what the first aggregate says stands where no chance level is known.
        represented: of all systems.
        votes: on every system but the first.
        systems: the reference first.
        effects: of one summarizer with the documents in several orders; where there are any, what follows the place.
    """
    if effects:
        return order_sentence(effects, "place").removesuffix(".")
    if len(systems) < 2:
        shares = [each for each in numbers if each.measure.kind == SHARE_IN_SUMMARIES]
        if shares and all(each.estimate is None for each in shares):
            return "Nothing of the documents was found in the summaries"
        return _of_one(numbers, represented)
    reference = systems[0].label
    others = [each.label for each in systems[1:]]
    wordless = [each.label for each in systems if not each.n_words]
    shown = [
        _compared(each, reference, [vote for vote in votes if vote.system == each], wordless)
        for each in others[:MOST_COMPARED]
    ]
    more = len(others) - MOST_COMPARED
    return "; ".join(shown) + (f"; and {counted(more, 'other system')}" if more > 0 else "")


def _of_one(numbers: Sequence[Number], represented: Sequence[Representation]) -> str:
    """What happened to the values' shares, then a sentence for each other family that names somebody.

    Of shares, or where they were not measured of the first family that names, the value that is farthest below what is
    expected, or above it where none is below, with its numbers.
    """
    told = speaking(represented)
    shares = next((each.sentence for each in represented if each.family == SHARES), None) or next(
        (
            each.sentence
            for each in numbers
            if each.family == SHARES and each.value is None and each.estimate is not None
        ),
        None,
    )
    if not told:
        said = (shares, *(each.sentence for each in represented), *(each.sentence for each in numbers))
        return next(filter(None, said), "Nothing could be measured").removesuffix(".")
    if shares and told[0].family != SHARES:
        first, others = shares, told
    else:
        found, others = told[0], told[1:]
        value = (found.under or found.over)[0]
        mine = (
            each for each in numbers if (each.system, each.family, each.value) == (found.system, found.family, value)
        )
        source = next((each.estimate for each in mine if each.measure.kind in IN_SOURCES), None)
        first = f"{_stated(*number_of(numbers, found, value), source)}{_otherwise(told)}"
    # nobody is named by shares, which were tested: what another family says is at odds with it
    is_nobody = any(each.family == SHARES and each.sentence and MORE_SETS not in each.sentence for each in represented)
    however = ", however" if is_nobody else ""
    further = []
    for each in others:
        under, over = _not_yet_told(told[0], each)
        if under or over:
            claim = _claim(WORDINGS[each.family], under, over, "")
            by = f"By {FAMILIES[each.family]}{however}, " if first == shares and each.family in FAMILIES else ""
            further.append(f"{by}{claim}")
    return " ".join((f"{first.removesuffix('.')}.", *further)).removesuffix(".")


def _otherwise(told: Sequence[Representation]) -> str:
    """ "; by coverage, however, left is more present": where a later family says the opposite of the headline's; else ""."""
    return "".join(
        f"; by {FAMILIES[each.family]}, however, {what}" for each in told[1:] if (what := _opposite(told[0], each))
    )


def _not_yet_told(first: Representation, other: Representation) -> tuple[list[str], list[str]]:
    """Whom a family names besides those of whom `_otherwise` says that it has the opposite."""
    if not _opposite(first, other):
        return list(other.under), list(other.over)
    under = [value for value in other.under if value not in first.over]
    return under, [value for value in other.over if value not in first.under]


def _opposite(first: Representation, other: Representation) -> str:
    """ "left is more present and right less": what a family says the opposite of; "" where it does not.

    Families that say how much of a summary a value has: neither tone nor places and lists of words, which are no values.
    """
    if first.family not in FAMILIES or other.family not in FAMILIES:
        return ""
    more, less = _in_both(other.over, first.under), _in_both(other.under, first.over)
    present = [f"{_are(more)} more present"] if more else []
    if less:
        present.append(f"{joined(less)} less" if more else f"{_are(less)} less present")
    return " and ".join(present)


def _in_both(one: Sequence[str], other: Sequence[str]) -> list[str]:
    return [value for value in one if value in other]


def _are(names: Sequence[str]) -> str:
    return f"{joined(names)} {'is' if len(names) == 1 else 'are'}"


def _compared(system: str, reference: str, votes: Sequence[Vote], wordless: Sequence[str]) -> str:
    """One system against the first one.

    Args:
        system: its label.
        reference: that of the first one.
        votes: on it.
        wordless: systems none of whose summaries has a word.
    """
    if not votes:
        silent = " or ".join(label for label in (system, reference) if label in wordless)
        why = f"no summary of {silent} has a word" if silent else "no chance level of shares or coverage under both"
        return f"whether {system} is fairer than {reference} cannot be said: {why}"
    if all(vote.verdict == "too few sets" for vote in votes):
        return f"too few sets {MORE_SETS} to say whether {system} is fairer than {reference}"
    clear = [vote for vote in votes if vote.verdict in ("fairer", "less fair", "differs")]
    if not clear:
        known, few = (
            joined([FAMILIES[vote.family] for vote in votes if (vote.verdict == "too few sets") == is_few])
            for is_few in (False, True)
        )
        return f"{system} does not clearly differ from {reference} by {known}{few and f' (too few sets by {few})'}"
    parts = [
        f"{verb} {reference} by {joined([f'{FAMILIES[vote.family]} ({_at(vote)})' for vote in mine])}{end}"
        for verdict, verb, end in (
            ("fairer", "is fairer than", ""),
            ("less fair", "is less fair than", ""),
            ("differs", "differs from", ", with neither clearly fairer"),
        )
        if (mine := [vote for vote in clear if vote.verdict == verdict])
    ]
    return f"{system} {joined(parts)}"


def _at(vote: Vote) -> str:
    """ "negative: 2.0 points below what is expected, against 6.1 below for base, over 48 sets"; of no gap, "none"."""
    mine, theirs = _gap(vote.gap, vote.is_share, in_full=True), _gap(vote.reference_gap, vote.is_share)
    return f"{vote.value}: {mine}, against {theirs} for {vote.reference}, over {counted(vote.n, 'set')}"


def _gap(gap: float | None, is_share: bool, *, in_full: bool = False) -> str:
    if gap is None:
        return "undefined"
    if abs(gap) <= NOISE:
        return "no gap to what is expected" if in_full else "none"
    size = f"{100 * abs(gap):.1f}{' points' if in_full else ''}" if is_share else f"{abs(gap):.3f}"
    return f"{size} {'below' if gap < 0 else 'above'}{' what is expected' if in_full else ''}"
