"""What an audit finds, in words: its headline, and who is represented less or more than documents written alike would be.

The headline names one value with two numbers; how sure that is, and where to look, stands below it. With several systems it says
first what holds for all of them, then which is nearer. Values are named by shares alone; a sentence for each other family that
names somebody follows below. A gap under `SMALLEST` is no headline.
"""

from collections.abc import Iterable, Sequence

from ...number import Number
from ...resampling import LEAST_SETS
from ...text import n_words, sentences
from ..pages.numbers import interval, percent, said_p, signed
from ..pages.value_names import noun
from ..pages.words import capital, few_label, joined
from .contents import Audit, AuditNumber, ChanceGap, Representation, SystemNote, Vote
from .families import MEASURES
from .family import Wording
from .input import AuditedSystem
from .kinds import SHARE_IN_SUMMARIES, SHARES

# gap, and difference of gaps, from which on a headline speaks of them
SMALLEST = 0.02
# of too few
MORE_SETS = f"({LEAST_SETS} are needed, or as many as --least-group asks for)"
FEW = f"{few_label('for a verdict')} {MORE_SETS}"
# of a headline; the names of values and systems may have more
MOST_WORDS = 16


def wording_of(family: str) -> Wording:
    """How a family that names groups says so."""
    wording = MEASURES[family].page.wording
    assert wording is not None, "a number that names needs one"
    return wording


def in_sources(numbers: Iterable[AuditNumber]) -> dict[str | None, float | None]:
    """What each group of a family has in the documents."""
    return {each.side: each.value for each in numbers if each.kind == MEASURES[each.family].page.in_sources}


def system_note(system: AuditedSystem, sets: Sequence[str] = ()) -> SystemNote:
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


def by_distance(numbers: Iterable[AuditNumber]) -> list[AuditNumber]:
    """Those below what is expected first, then the farthest."""
    return sorted(numbers, key=lambda each: (each.gap.verdict != "lower", -each.gap.size))


def representation(numbers: Sequence[AuditNumber], attribute: str) -> Representation | None:
    """Who is clearly off the chance level under one system and family; None where the family knows none that holds.

    Args:
        numbers: of the system and family.
        attribute: what values are called.
    """
    known = [each for each in numbers if each.kind.names and each.gap.reference]
    if not known:
        return None
    first = known[0]
    clear = by_distance(each for each in known if each.gap.is_clear)
    sources = in_sources(numbers)
    under, over = (
        tuple(each.side for each in clear if each.gap.verdict == which and each.side) for which in ("lower", "higher")
    )
    small = tuple(each.side for each in known if each.side and (each.is_small or _is_unknown(each.gap)))
    said = [_claim(wording_of(first.family), under, over, attribute)] if clear or len(small) < len(known) else []
    said += [
        f"{each.side} is not named, though its gap is clear: {each.gap.doubt}." for each in known if each.gap.doubt
    ]
    if small:
        said.append(f"{', '.join(small)}: {FEW}.")
    details = tuple(f"{_stated(each, sources.get(each.side))}: a gap of {gap_words(each.gap)}." for each in clear)
    return Representation(
        family=first.family, system=first.system, measure=first.measure, small=small, sentence=" ".join(said),
        details=details, under=under, over=over,
    )  # fmt: skip


def _is_unknown(gap: ChanceGap) -> bool:
    """Whether it has no interval for want of sets; one of 0 between the ends of what is expected needs none."""
    return gap.low is None and gap.verdict == "no clear difference" and not gap.is_inside


def _claim(wording: Wording, under: Sequence[str], over: Sequence[str], attribute: str) -> str:
    """Who is clearly below and above what is expected, without numbers."""

    def who(values: Sequence[str]) -> str:
        names = [wording.subject.format(value=value) for value in values]
        said = f"{_are(names)} {wording.verb}"
        # a value's own name is left as it is
        return said if wording.subject.startswith("{value}") else said[:1].upper() + said[1:]

    if not under and not over:
        nobody = wording.nobody.format(attribute=noun(attribute))
        return f"No {nobody} is clearly {wording.verb} {wording.less} or {wording.more} {wording.than}."
    if not under or not over:
        return f"{who(under or over)} {wording.less if under else wording.more} {wording.than}."
    others = joined([wording.subject.format(value=value) for value in over])
    return f"{who(under)} {wording.less} and {others} {wording.more} {wording.than}."


def gap_words(gap: ChanceGap) -> str:
    """ "-5.9 points (-9.3 to -2.6; p = 0.001) by documents of the same manner of writing"."""
    said = []
    if gap.low is not None and gap.high is not None:
        said = [interval(gap.low, gap.high, 1, "points", sign=True)]
        said += [] if gap.adjusted is None else [said_p(gap.adjusted)]
    brackets = f" ({'; '.join(said)})" if said else ""
    return f"{signed(100 * (gap.value or 0.0), 1)} points{brackets} by {gap.reference}"


def _stated(found: AuditNumber, source: float | None) -> str:
    """What a value has of the documents and of the summaries, and what would be expected."""
    expected = found.gap.between or (found.gap.expected,)
    return wording_of(found.family).detail.format(
        value=found.side, there=percent(source), here=percent(found.value),
        # ends that are written alike are said once
        expected=" to ".join(dict.fromkeys(map(percent, expected))),
    )  # fmt: skip


def speaking(represented: Sequence[Representation]) -> list[Representation]:
    """The families that name somebody, shares first."""
    return sorted((each for each in represented if each.under or each.over), key=lambda each: each.family != SHARES)


def gap_that_names(numbers: Sequence[AuditNumber], found: Representation, side: str) -> ChanceGap:
    """By which a value is named."""
    named = (found.system, found.measure, side)
    return next(each.gap for each in numbers if (each.system, each.measure, each.side) == named)


def order_sentence(effects: Sequence[Number], follows: str) -> str:
    """Which thirds have clearly more or less room by their place, or by their documents, in a sentence."""
    mine = [each for each in effects if each.measure == follows]
    clear = [each for each in mine if each.is_clear]
    if all(each.value is None for each in mine):
        return "Place and documents cannot be separated: the orders do not move documents through all thirds of their sets."
    is_place = follows == "place"
    where = "Whatever documents stand in it" if is_place else "Wherever they stand"
    if not clear:
        return f"{where}, {'no third of a set has' if is_place else 'the documents of no third have'} clearly more or less room."
    gaps = [f"{100 * each.size:.1f} points {'less' if each.verdict == 'lower' else 'more'}" for each in clear]
    first, *others = zip(clear, gaps, strict=True)
    subject = f"the {first[0].side} of a set has" if is_place else f"the documents of the {first[0].side} have"
    said = [f"{subject} {first[1]} of the room than is expected"]
    said += [f"{'the' if is_place else 'those of the'} {each.side} {gap}" for each, gap in others]
    return f"{where}, {joined(said)}."


def _are(names: Sequence[str]) -> str:
    return f"{joined(names)} {'is' if len(names) == 1 else 'are'}"


def title(audit: Audit) -> str:
    """At most `MOST_WORDS`: with one system what happened to whom; with several what holds for all, then which is nearer.

    Of one summarizer with the documents in several orders it is what follows the place; where no chance level is known, what the
    first aggregate says.
    """
    if audit.orders:
        return _of_orders(audit.orders)
    shares = [each for each in audit.numbers if each.kind == SHARE_IN_SUMMARIES]
    if len(audit.systems) > 1:
        return _of_several(audit, shares)
    if shares and all(each.value is None for each in shares):
        return "Nothing of the documents was found in the summaries"
    return _of_one(audit, shares)


def large(numbers: Iterable[AuditNumber]) -> list[AuditNumber]:
    """Those with a clear gap of at least `SMALLEST`, those below what is expected first, then the farthest."""
    return by_distance(each for each in numbers if each.gap.is_clear and each.gap.size >= SMALLEST)


def _of_one(audit: Audit, shares: Sequence[AuditNumber]) -> str:
    """Of the value that is farthest below what is expected, or above it where none is below."""
    for each in large(shares)[:1]:
        here, expected = percent(each.value), percent(each.gap.expected)
        return f"{each.side} gets {here} of the summaries' words; {expected} would be even-handed"
    of_shares = [each for each in audit.represented if each.family == SHARES]
    if any(each.under or each.over for each in of_shares):
        return f"No gap of shares reaches {100 * SMALLEST:g} points"
    if told := (*of_shares, *speaking(audit.represented), *audit.represented):
        return _claim_of_one(told[0])
    numbers = (
        *(each for each in audit.numbers if each.sentence),
        *(each for each in audit.numbers if each.value is not None),
    )
    return next(map(_measured, numbers), "Nothing could be measured")


def _claim_of_one(found: Representation) -> str:
    """Whom a family names first, or that it names nobody, or of too few sets."""
    if found.under or found.over:
        return _claim(wording_of(found.family), found.under[:1], () if found.under else found.over[:1], "")[:-1]
    said = sentences(found.sentence)[0].removesuffix(".")
    if said.endswith(FEW):
        return capital(FEW)
    return said if len(said.split()) <= MOST_WORDS else said.partition(" than ")[0]


def _measured(found: AuditNumber) -> str:
    """What a number means, or where that takes long the number."""
    said = found.sentence.removesuffix(".")
    if said and (found.value is None or len(said.split()) <= MOST_WORDS):
        return said
    number = percent(found.value) if found.kind.is_share else f"{found.value:.3f}"
    return f"{', '.join(filter(None, (found.side, found.measure)))}: {number}"


def _of_orders(effects: Sequence[Number]) -> str:
    """The third that has clearly less room whatever stands there, or more where none has less."""
    mine = [each for each in effects if each.measure == "place" and each.value is not None]
    if not mine:
        return "Place and documents cannot be separated: documents do not stand in all thirds"
    clear = sorted((each for each in mine if each.is_clear), key=lambda each: (each.verdict != "lower", -each.size))
    for each in clear[:1]:
        which = "less" if each.verdict == "lower" else "more"
        return f"The {each.side} of a set has {100 * each.size:.1f} points {which} room, whatever stands there"
    return order_sentence(effects, "place").removesuffix(".")


def _of_several(audit: Audit, shares: Sequence[AuditNumber]) -> str:
    """What most of the systems do to a value, and then which is clearly nearer to what is expected."""
    told, votes, n_systems = large(shares), audit.votes, len(audit.systems)
    if not any(each.gap.reference for each in shares):
        wordless = [each.label for each in audit.systems if not each.n_words]
        those = joined(wordless) if len(wordless) < 3 else f"{len(wordless)} systems"
        why = f"no summary of {those} has a word" if wordless else "no chance level of shares is known"
        return f"Which system is fairer cannot be said: {why}"
    if votes and not told and all(vote.verdict == "too few sets" for vote in votes):
        return f"{capital(few_label('to say which system is fairer'))} ({LEAST_SETS} or --least-group are needed)"
    if not told:
        if any(each.family == SHARES and (each.under or each.over) for each in audit.represented):
            return f"No gap of shares reaches {100 * SMALLEST:g} points under any of {n_systems} systems"
        return f"Nobody is clearly represented less or more under any of {n_systems} systems"
    by_value: dict[tuple[str | None, str], list[float]] = {}
    for each in told:
        by_value.setdefault((each.side, _which(each.gap)), []).append(100 * each.gap.size)
    # of the value of which most systems say the same, of several the one that loses
    (value, which), gaps = max(by_value.items(), key=lambda item: (len(item[1]), item[0][1] == "less", max(item[1])))
    low, high = (f"{end(gaps):.0f}" for end in (min, max))
    points = low if low == high else f"{low} to {high}"
    some = [each.system for each in told if each.side == value and _which(each.gap) == which]
    n_all = "Both systems" if n_systems == 2 else f"{len(some)} of {n_systems} systems"
    givers = f"{some[0]} gives" if len(some) == 1 else f"{n_all} give"
    first = f"{givers} {value} {points} points {which} than expected"
    clear = [each for each in votes if each.verdict in ("fairer", "less fair") and each.size >= SMALLEST]
    if n_systems == 2 and clear:
        first += f"; {clear[0].system} is {clear[0].verdict}"
    elif clear:
        gap_of = {each.system: each.gap.size for each in shares if each.side == value and each.gap.reference}
        nearest = min(gap_of, key=lambda system: gap_of[system])
        if any(nearest == (each.system if each.verdict == "fairer" else each.reference) for each in clear):
            first += f"; {nearest} is nearest"
    return first


def _which(gap: ChanceGap) -> str:
    return "less" if (gap.value or 0.0) < 0 else "more"


def apart(vote: Vote) -> str:
    """That shares and published measures point to different systems, in a sentence; "" where they do not."""
    if not vote.apart or vote.value is None:
        return ""
    farther = abs(vote.system_gap or 0.0) - abs(vote.reference_gap or 0.0)
    return (
        f"{vote.system} leans {100 * abs(farther):.1f} points {'more' if farther > 0 else 'less'} on average than "
        f"{vote.reference} ({vote.side}), while {joined(list(vote.apart))}, which look at single summaries, say the opposite: "
        "neither is called fairer."
    )
