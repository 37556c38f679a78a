"""What an audit finds, in words: its headline, and who is represented less or more than documents written alike would be.

The headline names one value with two numbers; how sure that is, and where to look, stands below it. With several systems it says
first what holds for all of them, then which is nearer. Values are named by shares alone; a sentence for each other family that
names somebody follows below. A gap under `SMALLEST` is no headline.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from ...resampling import LEAST_SETS
from ...text import n_words, sentences
from ..pages.numbers import interval, percent, said_p, signed
from ..pages.words import joined
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

# gap, and difference of gaps, from which on a headline speaks of them
SMALLEST = 0.02
# of too few
MORE_SETS = f"({LEAST_SETS} are needed, or as many as --least-group asks for)"
# of a headline; the names of values and systems may have more
MOST_WORDS = 16


@dataclass(frozen=True)
class Wording:
    """How a family's finding is said."""

    # "{who} is represented less and {others} more than documents written alike would be"
    verb: str
    less: str
    more: str
    than: str
    # numbers of one value
    detail: str
    # what one of several is called in the claim, and none of them
    subject: str = "{value}"
    nobody: str = "{attribute}"


ROOM = "{value} has {there} of the documents' words and {here} of the summaries'; {expected} would be expected of "
WORDINGS = {
    "value-shares": Wording(
        "represented", "less", "more", "than documents written alike would be", ROOM + "documents written alike"
    ),
    "order": Wording(
        "represented", "less", "more", "than by summaries that prefer no place",
        "The " + ROOM.replace("{value} has", "{value} of the documents has") + "documents written alike at other places",
        subject="the {value} of the documents",
        nobody="place",
    ),
    "tone": Wording(
        "spoken of", "less kindly", "more kindly", "than in the documents' sentences with the same words",
        "Of the tone beside the words of {value}, {here} is positive in the summaries and {there} in its documents; {expected} "
        "would be expected by the documents' sentences with the same words",
    ),
    "word-lists": Wording(
        "used", "less", "more", "than words as common would be",
        "The words of the list {value} are {there} of the listed words of the documents and {here} of those of the summaries "
        "that can be compared, of which {expected} would be expected of words as common",
        subject="the list {value}",
        nobody="word list",
    ),
}  # fmt: skip
# what a value has in the documents
IN_SOURCES = (SHARE_IN_SOURCES, PLACE_IN_SOURCES, TONE_IN_SOURCES, WORDS_IN_SOURCES)


def system_note(system: System, sets: Sequence[str] = ()) -> SystemNote:
    """One summaries file, and the sets that it leaves out, with the mean words and sentences of its summaries.

    Empty ones count with 0; 0 without any summary.
    """
    texts = list(system.summaries.values())
    n = max(1, len(texts))
    return SystemNote(
        label=system.label, source=system.source, digest=system.digest, n_summaries=len(texts),
        n_words=round(sum(n_words(text) for text in texts) / n, 2),
        n_sentences=round(sum(len(sentences(text)) for text in texts) / n, 2),
        missing=tuple(name for name in sets if not system.summaries.get(name, "").strip()),
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
    said += [
        f"{each.value} is not named, though its gap is clear: {chance.doubt}." for each, chance in known if chance.doubt
    ]
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
    """ "-5.9 points (-9.3 to -2.6; p = 0.001) by documents of the same manner of writing"."""
    bounds = chance.low, chance.high
    said = [] if None in bounds else [interval(*bounds, 1, "points", sign=True)]
    said += [] if None in bounds or chance.adjusted is None else [said_p(chance.adjusted)]
    brackets = f" ({'; '.join(said)})" if said else ""
    return f"{_points(chance.gap)} points{brackets} by {chance.null}"


def _stated(found: Number, chance: Chance, source: float | None) -> str:
    """What a value has of the documents and of the summaries, and what would be expected."""
    expected = chance.between or (chance.expected,)
    return WORDINGS[found.family].detail.format(
        value=found.value, there=percent(source), here=percent(found.estimate),
        # ends that are written alike are said once
        expected=" to ".join(dict.fromkeys(map(percent, expected))),
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


def _are(names: Sequence[str]) -> str:
    return f"{joined(names)} {'is' if len(names) == 1 else 'are'}"


def _points(share: float | None) -> str:
    return signed(None if share is None else 100 * share, 1)


def title(
    numbers: Sequence[Number],
    represented: Sequence[Representation],
    votes: Sequence[Vote],
    systems: Sequence[SystemNote],
    effects: Sequence[Effect] = (),
) -> str:
    """At most `MOST_WORDS`: with one system what happened to whom; with several what holds for all, then which is nearer.

    Args:
        numbers: of all systems; what the first aggregate says stands where no chance level is known.
        represented: of all systems.
        votes: on every system but the first.
        systems: the reference first.
        effects: of one summarizer with the documents in several orders; where there are any, what follows the place.
    """
    if effects:
        return _of_orders(effects)
    shares = [each for each in numbers if each.measure.kind == SHARE_IN_SUMMARIES]
    if len(systems) < 2:
        if shares and all(each.estimate is None for each in shares):
            return "Nothing of the documents was found in the summaries"
        return _of_one(numbers, represented)
    return _of_several(shares, represented, votes, systems)


def large(numbers: Sequence[Number]) -> list[tuple[Number, Chance]]:
    """Shares that name a value by a gap of at least `SMALLEST`, those below what is expected first, then the farthest."""
    found = [
        (each, each.chance)
        for each in numbers
        if each.measure.kind == SHARE_IN_SUMMARIES
        and each.chance
        and each.chance.verdict in ("higher", "lower")
        and abs(each.chance.gap) >= SMALLEST
    ]
    return sorted(found, key=lambda pair: (pair[1].verdict != "lower", -abs(pair[1].gap)))


def _of_one(numbers: Sequence[Number], represented: Sequence[Representation]) -> str:
    """Of the value that is farthest below what is expected, or above it where none is below."""
    for found, chance in large(numbers)[:1]:
        here, expected = percent(found.estimate), percent(chance.expected)
        return f"{found.value} gets {here} of the summaries' words; {expected} would be even-handed"
    shares = next((each for each in represented if each.family == SHARES), None)
    if shares and (shares.under or shares.over):
        return f"No gap of shares reaches {100 * SMALLEST:g} points"
    if of := [shares] if shares else [*speaking(represented), *represented]:
        return _claim_of_one(of[0])
    return next((_measured(each) for each in numbers if each.sentence), "Nothing could be measured")


def _claim_of_one(found: Representation) -> str:
    """Whom a family names first, or that it names nobody, or of too few sets."""
    if found.under or found.over:
        return _claim(WORDINGS[found.family], found.under[:1], () if found.under else found.over[:1], "")[:-1]
    said = sentences(found.sentence)[0].removesuffix(".")
    if said.endswith(MORE_SETS):
        return f"Too few sets for a verdict {MORE_SETS}"
    return said if len(said.split()) <= MOST_WORDS else said.partition(" than ")[0]


def _measured(found: Number) -> str:
    """What a number means, or where that takes long the number."""
    said = found.sentence.removesuffix(".")
    if found.estimate is None or len(said.split()) <= MOST_WORDS:
        return said
    return f"{found.measure}: {percent(found.estimate) if found.is_share else f'{found.estimate:.3f}'}"


def _of_orders(effects: Sequence[Effect]) -> str:
    """The third that has clearly less room whatever stands there, or more where none has less."""
    mine = [(each, each.gap) for each in effects if each.follows == "place" and each.gap is not None]
    if not mine:
        return "Place and documents cannot be separated: documents do not stand in all thirds"
    clear = [each for each in mine if each[0].verdict in ("higher", "lower")]
    for each, gap in sorted(clear, key=lambda pair: (pair[0].verdict != "lower", -abs(pair[1])))[:1]:
        which = "less" if each.verdict == "lower" else "more"
        return f"The {each.place} of a set has {100 * abs(gap):.1f} points {which} room, whatever stands there"
    return order_sentence(effects, "place").removesuffix(".")


def _of_several(
    shares: Sequence[Number],
    represented: Sequence[Representation],
    votes: Sequence[Vote],
    systems: Sequence[SystemNote],
) -> str:
    """What most of the systems do to a value, and then which is clearly nearer to what is expected."""
    told = large(shares)
    if not any(each.chance for each in shares):
        wordless = [each.label for each in systems if not each.n_words]
        those = joined(wordless) if len(wordless) < 3 else f"{len(wordless)} systems"
        why = f"no summary of {those} has a word" if wordless else "no chance level of shares is known"
        return f"Which system is fairer cannot be said: {why}"
    if votes and not told and all(vote.verdict == "too few sets" for vote in votes):
        return f"Too few sets to say which system is fairer ({LEAST_SETS} or --least-group are needed)"
    if not told:
        if any(each.family == SHARES and (each.under or each.over) for each in represented):
            return f"No gap of shares reaches {100 * SMALLEST:g} points under any of {len(systems)} systems"
        return f"Nobody is clearly represented less or more under any of {len(systems)} systems"
    by_value: dict[tuple[str | None, str], list[float]] = {}
    for found, chance in told:
        by_value.setdefault((found.value, "less" if chance.gap < 0 else "more"), []).append(100 * abs(chance.gap))
    # of the value of which most systems say the same, of several the one that loses
    (value, which), gaps = max(by_value.items(), key=lambda item: (len(item[1]), item[0][1] == "less", max(item[1])))
    low, high = (f"{end(gaps):.0f}" for end in (min, max))
    points = low if low == high else f"{low} to {high}"
    some = [n.system for n, chance in told if n.value == value and (chance.gap < 0) == (which == "less")]
    n_all = "Both systems" if len(systems) == 2 else f"{len(some)} of {len(systems)} systems"
    givers = f"{some[0]} gives" if len(some) == 1 else f"{n_all} give"
    first = f"{givers} {value} {points} points {which} than expected"
    clear = [
        each for each in votes if each.verdict in ("fairer", "less fair") and abs(each.difference or 0) >= SMALLEST
    ]
    if len(systems) == 2 and clear:
        first += f"; {clear[0].system} is {clear[0].verdict}"
    elif clear:
        gap_of = {n.system: abs(n.chance.gap) for n in shares if n.value == value and n.chance}
        nearest = min(gap_of, key=lambda system: gap_of[system])
        if any(nearest == (each.system if each.verdict == "fairer" else each.reference) for each in clear):
            first += f"; {nearest} is nearest"
    return first


def apart(vote: Vote) -> str:
    """That shares and published measures point to different systems, in a sentence; "" where they do not."""
    if not vote.apart or vote.difference is None:
        return ""
    more = "more" if abs(vote.gap or 0.0) > abs(vote.reference_gap or 0.0) else "less"
    return (
        f"{vote.system} leans {100 * abs(abs(vote.gap or 0.0) - abs(vote.reference_gap or 0.0)):.1f} points {more} on average "
        f"than {vote.reference} ({vote.value}), while {joined(list(vote.apart))}, which look at single summaries, say the "
        "opposite: neither is called fairer."
    )
