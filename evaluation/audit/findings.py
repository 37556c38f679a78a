"""What an audit finds, in words: its headline, and who is represented less or more than documents written alike would be.

The headline names one value with two numbers; how sure that is, and where to look, stands below it. With several systems it says
first what holds for all of them, then which is nearer. Values are named by shares alone; a sentence for each other family that
names somebody follows below. A gap under `SMALLEST` is no headline.
"""

from collections.abc import Iterable, Sequence

from ...resampling import LEAST_SETS
from ...text import n_words, sentences
from ..pages.numbers import interval, percent, said_p, signed
from ..pages.value_names import noun
from ..pages.words import capital, few_label, joined
from .contents import Audit, AuditNumber, ChanceGap, Representation, SystemNote, Vote
from .families import MEASURES, arrangement_of
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


def in_sources(numbers: Iterable[AuditNumber]) -> dict[str | None, tuple[float, float]]:
    """What each group of a family has in the documents: the least under any system, and the most.

    Sets weigh by the words of their summaries, so that systems that write at different lengths differ in this, too.
    """
    values: dict[str | None, list[float]] = {}
    for number in numbers:
        if number.kind == MEASURES[number.family].page.in_sources and number.value is not None:
            values.setdefault(number.side, []).append(number.value)
    return {side: (min(of_side), max(of_side)) for side, of_side in values.items()}


def percent_range(ends: Iterable[float | None]) -> str:
    """ "46.1 %", "46.1 % to 57.0 %": ends that are written alike are said once."""
    return " to ".join(dict.fromkeys(map(percent, ends)))


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
    """The numbers in the order they are told: those below what is expected first, then the farthest."""
    return sorted(numbers, key=lambda number: (number.gap.verdict != "lower", -number.gap.size))


def representation(numbers: Sequence[AuditNumber], attribute: str) -> Representation | None:
    """Who is clearly off the chance level under one system and family; None where the family knows none that holds.

    Args:
        numbers: of the system and family.
        attribute: what values are called.
    """
    known = [number for number in numbers if number.kind.names and number.gap.reference]
    if not known:
        return None
    first = known[0]
    clear = by_distance(number for number in known if number.gap.is_clear)
    sources = in_sources(numbers)
    under, over = (
        tuple(number.side for number in clear if number.gap.verdict == verdict and number.side)
        for verdict in ("lower", "higher")
    )
    small = tuple(number.side for number in known if number.side and (number.is_small or _is_unknown(number.gap)))
    claims = [_claim(wording_of(first.family), under, over, attribute)] if clear or len(small) < len(known) else []
    claims += [
        f"{number.side} is not named, though its gap is clear: {number.gap.doubt}."
        for number in known
        if number.gap.doubt
    ]
    if small:
        claims.append(f"{', '.join(small)}: {FEW}.")
    details = tuple(
        f"{_stated(number, sources.get(number.side, (None,)))}: a gap of {gap_words(number.gap)}." for number in clear
    )
    return Representation(
        family=first.family, system=first.system, measure=first.measure, small=small, sentence=" ".join(claims),
        details=details, under=under, over=over,
    )  # fmt: skip


def _is_unknown(gap: ChanceGap) -> bool:
    """Whether it has no interval for want of sets; one of 0 between the ends of what is expected needs none."""
    return gap.low is None and gap.verdict == "no clear difference" and not gap.is_inside


def _claim(wording: Wording, under: Sequence[str], over: Sequence[str], attribute: str) -> str:
    """Who is clearly below and above what is expected, without numbers."""

    def who(values: Sequence[str]) -> str:
        names = [wording.subject.format(value=value) for value in values]
        clause = f"{_are(names)} {wording.verb}"
        # a value's own name is left as it is
        return clause if wording.subject.startswith("{value}") else clause[:1].upper() + clause[1:]

    if not under and not over:
        nobody = wording.nobody.format(attribute=noun(attribute))
        return f"No {nobody} is clearly {wording.verb} {wording.less} or {wording.more} {wording.than}."
    if not under or not over:
        return f"{who(under or over)} {wording.less if under else wording.more} {wording.than}."
    over_names = joined([wording.subject.format(value=value) for value in over])
    return f"{who(under)} {wording.less} and {over_names} {wording.more} {wording.than}."


def gap_words(gap: ChanceGap) -> str:
    """ "-5.9 points (-9.3 to -2.6; p = 0.001) by documents of the same manner of writing"."""
    details = []
    if gap.low is not None and gap.high is not None:
        details = [interval(gap.low, gap.high, 1, "points", sign=True)]
        details += [] if gap.adjusted is None else [said_p(gap.adjusted)]
    brackets = f" ({'; '.join(details)})" if details else ""
    return f"{signed(100 * (gap.value or 0.0), 1)} points{brackets} by {gap.reference}"


def _stated(number: AuditNumber, source: Iterable[float | None]) -> str:
    """What a value has of the documents and of the summaries, and what would be expected."""
    expected = number.gap.between or (number.gap.expected,)
    return wording_of(number.family).detail.format(
        value=number.side, there=percent_range(source), here=percent(number.value),
        expected=percent_range(expected),
    )  # fmt: skip


def speaking(represented: Sequence[Representation]) -> list[Representation]:
    """The families that name somebody, shares first."""
    return sorted(
        (finding for finding in represented if finding.under or finding.over),
        key=lambda finding: finding.family != SHARES,
    )


def gap_that_names(numbers: Sequence[AuditNumber], finding: Representation, side: str) -> ChanceGap:
    """The gap by which a value is named."""
    named = (finding.system, finding.measure, side)
    return next(number.gap for number in numbers if (number.system, number.measure, number.side) == named)


def _are(names: Sequence[str]) -> str:
    return f"{joined(names)} {'is' if len(names) == 1 else 'are'}"


def title(audit: Audit) -> str:
    """At most `MOST_WORDS`: with one system what happened to whom; with several what holds for all, then which is nearer.

    Of one summarizer with the documents in several orders it is what follows them; where no chance level is known, what the first
    aggregate says.
    """
    if audit.orders:
        return arrangement_of(note.family for note in audit.measures).headline(audit.orders)
    shares = [number for number in audit.numbers if number.kind == SHARE_IN_SUMMARIES]
    if len(audit.systems) > 1:
        return _of_several(audit, shares)
    if shares and all(share.value is None for share in shares):
        return "Nothing of the documents was found in the summaries"
    return _of_one(audit, shares)


def large(numbers: Iterable[AuditNumber]) -> list[AuditNumber]:
    """The numbers with a clear gap of at least `SMALLEST`, those below what is expected first, then the farthest."""
    return by_distance(number for number in numbers if number.gap.is_clear and number.gap.size >= SMALLEST)


def _of_one(audit: Audit, shares: Sequence[AuditNumber]) -> str:
    """The headline of one system: of the value that is farthest below what is expected, or above it where none is below."""
    for share in large(shares)[:1]:
        amount, expected = percent(share.value), percent(share.gap.expected)
        return f"{share.side} gets {amount} of the summaries' words; {expected} would be even-handed"
    of_shares = [finding for finding in audit.represented if finding.family == SHARES]
    if any(finding.under or finding.over for finding in of_shares):
        return f"No gap of shares reaches {100 * SMALLEST:g} points"
    if findings := (*of_shares, *speaking(audit.represented), *audit.represented):
        return _claim_of_one(findings[0])
    described = next((number for number in audit.numbers if number.sentence), None)
    return _measured(described) if described else _by_value([n for n in audit.numbers if n.value is not None])


def _by_value(numbers: Sequence[AuditNumber]) -> str:
    """The first measure's number of each value, or where that takes long of the lowest and the highest."""
    if not numbers:
        return "Nothing could be measured"
    of_first = [number for number in numbers if number.measure == numbers[0].measure]
    headline = _listed_numbers(of_first)
    if len(headline.split()) <= MOST_WORDS:
        return headline
    ends = [end(of_first, key=lambda number: number.value or 0.0) for end in (min, max)]
    return f"{_listed_numbers(ends)} are the ends of {len(of_first)}"


def _listed_numbers(numbers: Sequence[AuditNumber]) -> str:
    """ "own measure (measure.py:own_words): negative 1.351, positive 1.600"."""
    return f"{numbers[0].measure}: {', '.join(' '.join(filter(None, (n.side, _printed(n)))) for n in numbers)}"


def _printed(number: AuditNumber) -> str:
    return percent(number.value) if number.kind.is_share else f"{number.value:.3f}"


def _claim_of_one(finding: Representation) -> str:
    """Whom a family names first, or that it names nobody, or of too few sets."""
    if finding.under or finding.over:
        return _claim(wording_of(finding.family), finding.under[:1], () if finding.under else finding.over[:1], "")[:-1]
    claim = sentences(finding.sentence)[0].removesuffix(".")
    if claim.endswith(FEW):
        return capital(FEW)
    return claim if len(claim.split()) <= MOST_WORDS else claim.partition(" than ")[0]


def _measured(estimate: AuditNumber) -> str:
    """What a number means, or where that takes long the number."""
    meaning = estimate.sentence.removesuffix(".")
    if meaning and (estimate.value is None or len(meaning.split()) <= MOST_WORDS):
        return meaning
    return f"{', '.join(filter(None, (estimate.side, estimate.measure)))}: {_printed(estimate)}"


def _of_several(audit: Audit, shares: Sequence[AuditNumber]) -> str:
    """What most of the systems do to a value, and then which is clearly nearer to what is expected."""
    large_shares, votes, n_systems = large(shares), audit.votes, len(audit.systems)
    if not any(share.gap.reference for share in shares):
        wordless = [system.label for system in audit.systems if not system.n_words]
        subject = joined(wordless) if len(wordless) < 3 else f"{len(wordless)} systems"
        unknown = "no chance level of shares is known" if shares else "shares were not measured"
        why = f"no summary of {subject} has a word" if wordless else unknown
        return f"Which system is fairer cannot be said: {why}"
    if votes and not large_shares and all(vote.verdict == "too few sets" for vote in votes):
        return f"{capital(few_label('to say which system is fairer'))} ({LEAST_SETS} or --least-group are needed)"
    if not large_shares:
        if any(finding.family == SHARES and (finding.under or finding.over) for finding in audit.represented):
            return f"No gap of shares reaches {100 * SMALLEST:g} points under any of {n_systems} systems"
        return f"Nobody is clearly represented less or more under any of {n_systems} systems"
    by_value: dict[tuple[str | None, str], list[float]] = {}
    for share in large_shares:
        by_value.setdefault((share.side, _which(share.gap)), []).append(100 * share.gap.size)
    # of the value of which most systems say the same, of several the one that loses
    (value, direction), gaps = max(
        by_value.items(), key=lambda item: (len(item[1]), item[0][1] == "less", max(item[1]))
    )
    low, high = (f"{end(gaps):.0f}" for end in (min, max))
    points = low if low == high else f"{low} to {high}"
    some = [share.system for share in large_shares if share.side == value and _which(share.gap) == direction]
    n_all = "Both systems" if n_systems == 2 else f"{len(some)} of {n_systems} systems"
    givers = f"{some[0]} gives" if len(some) == 1 else f"{n_all} give"
    first = f"{givers} {value} {points} points {direction} than expected"
    clear = [vote for vote in votes if vote.verdict in ("fairer", "less fair") and vote.size >= SMALLEST]
    if n_systems == 2 and clear:
        first += f"; {clear[0].system} is {clear[0].verdict}"
    elif clear:
        gap_of = {share.system: share.gap.size for share in shares if share.side == value and share.gap.reference}
        nearest = min(gap_of, key=lambda system: gap_of[system])
        if any(nearest == (vote.system if vote.verdict == "fairer" else vote.reference) for vote in clear):
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
