"""What an audit finds, in words: its headline, and who is represented less or more than by summaries that take no side.

Both go by gaps to the chance level alone (see `votes`), so they cannot contradict each other.
"""

from collections.abc import Sequence

from ...text import sentences, words
from ..pages.numbers import percent, signed
from ..pages.words import joined
from .contents import (
    COVERAGE_DIFFERENCE,
    PLACE_IN_SOURCES,
    SHARE_IN_SOURCES,
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
# what the quantities of a family that votes are called, where they are not attribute values
KINDS_OF_GROUP = {"order": "place"}
# whom a sentence speaks of, where that is no attribute value
SUBJECTS = {"order": "The {} of the documents"}
# what its summaries do by whom nobody is represented less or more
NEUTRAL = {"order": "prefer no place"}
# systems that a headline compares
MOST_COMPARED = 3


def system_note(system: System) -> SystemNote:
    """One summaries file with the mean words and sentences of its summaries, empty ones with 0; 0 without any summary."""
    texts = list(system.summaries.values())
    n = max(1, len(texts))
    return SystemNote(
        label=system.label, source=system.source, digest=system.digest, n_summaries=len(texts),
        n_words=round(sum(len(words(text)) for text in texts) / n, 2),
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
        key=lambda pair: -abs(pair[1].gap),
    )
    sources = {
        each.value: each.estimate for each in numbers if each.measure.kind in (SHARE_IN_SOURCES, PLACE_IN_SOURCES)
    }
    is_coverage = first.measure.kind == COVERAGE_DIFFERENCE
    said = [
        _of_coverage(each, chance) if is_coverage else _of_shares(each, chance, sources[each.value])
        for each, chance in clear
    ]
    if not clear and not all(each.is_small for each, _ in known):
        what, neutral = KINDS_OF_GROUP.get(first.family, attribute), NEUTRAL.get(first.family, "take no side")
        verb = "covered" if is_coverage else "represented"
        said.append(f"No {what} is clearly {verb} less or more than by summaries that {neutral}.")
    small = tuple(each.value for each, _ in known if each.is_small and each.value)
    if small:
        said.append(f"{', '.join(small)}: too few sets for a verdict (--least-group).")
    return Representation(
        family=first.family, system=first.system, measure=first.measure, small=small, sentence=" ".join(said),
        under=tuple(each.value for each, chance in clear if chance.verdict == "lower" and each.value),
        over=tuple(each.value for each, chance in clear if chance.verdict == "higher" and each.value),
    )  # fmt: skip


def _of_shares(found: Number, chance: Chance, source: float | None) -> str:
    there, here, expected = (percent(x) for x in (source, found.estimate, chance.expected))
    return (
        f"{SUBJECTS.get(found.family, '{}').format(found.value)} is represented {_amount(chance)}: it has {there} of the "
        f"documents' words and {here} of the summaries'; {expected} would be expected of summaries that "
        f"{NEUTRAL.get(found.family, 'take no side')}, a gap of {_gap_in_points(chance)}."
    )


def _of_coverage(found: Number, chance: Chance) -> str:
    size, how = f"{100 * abs(found.estimate or 0.0):.1f}", "better" if (found.estimate or 0.0) > 0 else "worse"
    return (
        f"{found.value} is covered {_amount(chance)}: its documents are covered {size} points {how} than all documents of their "
        f"sets; {_points(chance.expected)} would be expected of summaries that take no side, a gap of {_gap_in_points(chance)}."
    )


def _amount(chance: Chance) -> str:
    return "less" if chance.verdict == "lower" else "more"


def _gap_in_points(chance: Chance) -> str:
    between = "" if chance.low is None or chance.high is None else f" ({_points(chance.low)} to {_points(chance.high)})"
    return f"{_points(chance.gap)} points{between}"


def order_sentence(effects: Sequence[Effect], follows: str) -> str:
    """Which thirds have clearly more or less room by their place, or by their documents, in a sentence."""
    mine = [each for each in effects if each.follows == follows]
    clear = [each for each in mine if each.verdict in ("higher", "lower") and each.gap is not None]
    if all(each.gap is None for each in mine):
        return "Place and documents cannot be told apart: the orders do not move documents through all thirds of their sets."
    is_place = follows == "place"
    where = "Whatever documents stand there" if is_place else "Wherever they stand"
    if not clear:
        return f"{where}, {'no third of a set has' if is_place else 'the documents of no third have'} clearly more or less room."
    gaps = [
        f"{100 * abs(each.gap or 0.0):.1f} points {'less' if each.verdict == 'lower' else 'more'}" for each in clear
    ]
    whose = [f"the {each.place} has" if is_place else f"those of the {each.place} have" for each in clear]
    said = joined([f"{who} {gap}" for who, gap in zip(whose, gaps, strict=True)])
    return f"{where}, {said} of the room than is expected."


def _points(share: float | None) -> str:
    return signed(None if share is None else 100 * share, 1)


def title(
    aggregates: Sequence[Number],
    represented: Sequence[Representation],
    votes: Sequence[Vote],
    systems: Sequence[SystemNote],
    effects: Sequence[Effect] = (),
) -> str:
    """With one system who is represented less or more; with several by which families each is fairer or less fair.

    Args:
        aggregates: of all systems; what the first says stands where no chance level is known.
        represented: of all systems.
        votes: on every system but the first.
        systems: the reference first.
        effects: of one summarizer with the documents in several orders; where there are any, what follows the place.
    """
    if effects:
        return order_sentence(effects, "place").removesuffix(".")
    if len(systems) < 2:
        said = [each.sentence for each in represented if each.under or each.over] or [
            each.sentence for each in represented
        ]
        sentence = next(
            iter(said or [each.sentence for each in aggregates if each.sentence]), "Nothing could be measured"
        )
        return f"{sentence.removesuffix('.')}{_otherwise(represented)}"
    reference = systems[0].label
    others = [each.label for each in systems[1:]]
    shown = [
        _compared(each, reference, [vote for vote in votes if vote.system == each]) for each in others[:MOST_COMPARED]
    ]
    more = len(others) - MOST_COMPARED
    return "; ".join(shown) + (f"; and {more} other systems" if more > 0 else "")


def _otherwise(represented: Sequence[Representation]) -> str:
    """ "; by coverage, however, left is more present": where a later family says the opposite of the headline's; else ""."""
    speaking = [each for each in represented if each.under or each.over]
    if not speaking:
        return ""
    first, *others = speaking
    said = [
        f"; by {FAMILIES[each.family]}, however, {joined(values)} {'is' if len(values) == 1 else 'are'} {amount} present"
        for each in others
        for amount, values in (
            ("more", [value for value in each.over if value in first.under]),
            ("less", [value for value in each.under if value in first.over]),
        )
        if values
    ]
    return "".join(said)


def _compared(system: str, reference: str, votes: Sequence[Vote]) -> str:
    if not votes:
        return f"whether {system} is fairer than {reference} cannot be said: no shares with a chance level under both"
    if all(vote.verdict == "too few sets" for vote in votes):
        return f"too few sets (--least-group) to say whether {system} is fairer than {reference}"
    clear = [vote for vote in votes if vote.verdict in ("fairer", "less fair", "differs")]
    if not clear:
        return (
            f"{system} does not clearly differ from {reference} by {joined([FAMILIES[vote.family] for vote in votes])}"
        )
    parts = [
        f"{verb} {reference} by {joined([f'{FAMILIES[vote.family]} ({_at(vote)})' for vote in mine])}"
        for verdict, verb in (
            ("fairer", "is fairer than"),
            ("less fair", "is less fair than"),
            ("differs", "differs from"),
        )
        if (mine := [vote for vote in clear if vote.verdict == verdict])
    ]
    return f"{system} {joined(parts)}"


def _at(vote: Vote) -> str:
    """ "negative: 2.0 points below what is expected, 6.1 below under base"."""
    mine, theirs = (_gap(gap, vote.is_share) for gap in (vote.gap, vote.reference_gap))
    size, direction = mine
    what = f"{vote.value}: {size}{' points' if vote.is_share else ''} {direction} what is expected"
    return f"{what}, {' '.join(theirs)} under {vote.reference}"


def _gap(gap: float | None, is_share: bool) -> tuple[str, str]:
    if gap is None:
        return "undefined", "beside"
    return f"{100 * abs(gap):.1f}" if is_share else f"{abs(gap):.3f}", "below" if gap < 0 else "above"
