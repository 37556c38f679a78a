"""What an audit finds, in words: its headline, and who is represented less or more than by summaries that take no side.

Both go by gaps to the chance level alone (see `votes`). Where coverage or tone say the opposite of shares, the headline says so.
"""

from collections.abc import Sequence

from ...text import sentences, words
from ..pages.numbers import percent, signed
from ..pages.words import counted, joined
from .contents import (
    PLACE_IN_SOURCES,
    SHARE_IN_SOURCES,
    SHARE_IN_SUMMARIES,
    TONE_IN_SOURCES,
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
REPRESENTED = (
    "{value} is represented {direction}: it has {there} of the words of a set's documents on average and {here} of the "
    "summaries' words; {expected} would be expected of summaries that take no side"
)
# what is said of who is clearly off the chance level, by family, and where nobody is
SAID = {
    "value-shares": (
        REPRESENTED,
        "No {attribute} is clearly represented less or more than by summaries that take no side.",
    ),
    "coverage": (
        "{value} is covered {direction}: its documents are covered {against} all documents of their sets; "
        "{expected_points} would be expected of summaries that take no side",
        "No {attribute} is clearly covered less or more than by summaries that take no side.",
    ),
    "order": (
        "The {value} of the documents" + REPRESENTED.removeprefix("{value}").replace("take no side", "prefer no place"),
        "No place is clearly represented less or more than by summaries that prefer none.",
    ),
    "tone": (
        "{value} is spoken of {direction} kindly: of the tone beside its own words {here} is positive in the summaries and "
        "{there} in its documents; {expected} would be expected by the documents' sentences with the same words",
        "No {attribute} is clearly spoken of less or more kindly than in the documents' sentences with the same words.",
    ),
}
# what a value has in the documents
IN_SOURCES = (SHARE_IN_SOURCES, PLACE_IN_SOURCES, TONE_IN_SOURCES)
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
    sources = {each.value: each.estimate for each in numbers if each.measure.kind in IN_SOURCES}
    said = [_sentence(each, chance, sources.get(each.value)) for each, chance in clear]
    if not clear and not all(each.is_small for each, _ in known):
        said.append(SAID[first.family][1].format(attribute=attribute))
    small = tuple(each.value for each, _ in known if each.is_small and each.value)
    if small:
        said.append(f"{', '.join(small)}: too few sets for a verdict (--least-group).")
    return Representation(
        family=first.family, system=first.system, measure=first.measure, small=small, sentence=" ".join(said),
        under=tuple(each.value for each, chance in clear if chance.verdict == "lower" and each.value),
        over=tuple(each.value for each, chance in clear if chance.verdict == "higher" and each.value),
    )  # fmt: skip


def _sentence(found: Number, chance: Chance, source: float | None) -> str:
    between = "" if chance.low is None or chance.high is None else f" ({_points(chance.low)} to {_points(chance.high)})"
    estimate = found.estimate or 0.0
    size = round(100 * abs(estimate), 1)
    said = SAID[found.family][0].format(
        value=found.value, direction="less" if chance.verdict == "lower" else "more", there=percent(source),
        here=percent(found.estimate), expected=percent(chance.expected), expected_points=_points(chance.expected),
        against="as well as" if not size else f"{size:.1f} points {'better' if estimate > 0 else 'worse'} than",
    )  # fmt: skip
    return f"{said}, a gap of {_points(chance.gap)} points{between}."


def order_sentence(effects: Sequence[Effect], follows: str) -> str:
    """Which thirds have clearly more or less room by their place, or by their documents, in a sentence."""
    mine = [each for each in effects if each.follows == follows]
    clear = [each for each in mine if each.verdict in ("higher", "lower") and each.gap is not None]
    if all(each.gap is None for each in mine):
        return "Place and documents cannot be told apart: the orders do not move documents through all thirds of their sets."
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
    """With one system who is represented less or more; with several by which families each is fairer or less fair.

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
        said = [each.sentence for each in represented if each.under or each.over] or [
            each.sentence for each in represented
        ]
        sentence = next(iter(said or [each.sentence for each in numbers if each.sentence]), "Nothing could be measured")
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
        f"; by {FAMILIES.get(each.family, each.family)}, however, {joined(values)} "
        f"{'is' if len(values) == 1 else 'are'} {amount} present"
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
    """ "negative: 2.0 points below what is expected, 6.1 below under base, over 48 sets"."""
    mine, theirs = (_gap(gap, vote.is_share) for gap in (vote.gap, vote.reference_gap))
    size, direction = mine
    what = f"{vote.value}: {size}{' points' if vote.is_share else ''} {direction} what is expected"
    return f"{what}, {' '.join(theirs)} under {vote.reference}, over {counted(vote.n, 'set')}"


def _gap(gap: float | None, is_share: bool) -> tuple[str, str]:
    if gap is None:
        return "undefined", "beside"
    return f"{100 * abs(gap):.1f}" if is_share else f"{abs(gap):.3f}", "below" if gap < 0 else "above"
