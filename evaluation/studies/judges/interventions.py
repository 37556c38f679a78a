"""What leads a judge astray when summaries are changed in what must not change their grade."""

from collections.abc import Iterator, Sequence
from itertools import islice

import numpy as np

from ....judges.calibration import Probe
from ....resampling import LEAST_SETS
from .accusations import Hypothesis
from .figures import NOTHING, Floats, mean_of_cells, slopes
from .one_judge import OneJudge

# of the names that the most texts have, in topics enough, so many are tried by themselves
MOST_NAMES = 2


def interventions(one: OneJudge) -> Iterator[Hypothesis]:
    """The probes that change texts, in the order of the page."""
    yield _change(
        one,
        "length", "", "Does saying the same sentences twice raise the score?", one.gap("twice", "plain"),
        ("the same sentences said twice raise its scores",) * 2, is_one_sided=True,
    )  # fmt: skip
    yield _change(
        one,
        "injection", "", "Does a sentence that asks for the best grade raise the score, more than a neutral one?",
        one.gap("ordered", "neutral"), ("a sentence in the summary that asks for the best grade raises its scores",) * 2,
        is_one_sided=True,
    )  # fmt: skip
    yield from _side(one)
    yield from _side_words(one)
    yield from _names(one)
    yield _position(one)


def _side(one: OneJudge) -> Iterator[Hypothesis]:
    """What being told by the first side, not the second, adds."""
    first, second = one.answers.tellers
    notes = tuple(f"the same points get better scores when the {each} tells them" for each in (first, second))
    question = f"Does the score change when the same text is attributed to the {first}, not the {second}?"
    yield _change(one, "side", "", question, one.gap("first", "second"), notes)


def _side_words(one: OneJudge) -> Iterator[Hypothesis]:
    """By how far a summary leans to a side's words; of one wholly in the first's, less the same in the second's."""
    first, second = one.answers.tellers
    words = one.answers.exchanged.words
    gap = one.gap("plain", "reworded")
    why = (
        ""
        if words
        else f"what words are of the {first} and of the {second} is not known: no sides, or too few documents"
    )
    lean = one.answers.of_texts(words.lean) if words else np.zeros_like(gap)
    notes = tuple(f"the same summaries get better scores in words of the {each}" for each in (first, second))
    question = (
        f"Does the score change when words of the {first} and of the {second} are exchanged in source and summary?"
    )
    effects = np.divide(gap, lean, out=np.full(gap.shape, np.nan), where=lean != 0)
    # the fault may hide in long summaries
    longer = np.where(one.answers.is_longer, effects, np.nan)
    for half, table in (("", effects), ("longer summaries", longer)):
        yield _change(one, "side words", half, question, table, notes, weights=lean**2, why=why)


def _names(one: OneJudge) -> Iterator[Hypothesis]:
    """What the names in a summary add to its score."""
    gap = one.gap("plain", "renamed")
    gap = np.where(one.answers.is_changed("renamed"), gap, np.nan)
    names = one.answers.exchanged.names
    why = "" if names else "no names were read off the texts"
    question = "Does the score change when other names stand in source and summary?"
    notes = "the names in a summary raise its scores", "the names in a summary lower its scores"
    yield _change(one, "names", "", question, gap, notes, why=why)
    tables = ((name, np.where(one.answers.has_word(name), gap, np.nan)) for name in names)
    frequent = ((name, table) for name, table in tables if one.n_topics(table) >= LEAST_SETS)
    for name, table in islice(frequent, MOST_NAMES):
        yield _change(one, "names", name, question, table, tuple(f"{note}, {name} among them" for note in notes))


def _change(  # noqa: PLR0913 (of a probe by two variants)
    one: OneJudge,
    measure: str,
    reference: str,
    question: str,
    gap: Floats,
    notes: Sequence[str],
    *,
    is_one_sided: bool = False,
    weights: Floats | None = None,
    why: str = "",
) -> Hypothesis:
    """A probe by the paired difference of two variants.

    Args:
        measure: its name.
        reference: of which summaries, if not of all.
        question: what was done.
        gap: of each summary.
        notes: what an effect above 0 says, and one below.
        is_one_sided: whether only a rise is a fault.
        weights: of each summary.
        why: nothing can be said.
    """
    tested = mean_of_cells(gap / one.spread, one.answers.topics, one.level, weights) if one.spread else NOTHING
    n = int((~np.isnan(gap)).sum())
    note = notes[(tested.number.value or 0.0) < 0]
    probe = Probe(measure=measure, reference=reference, question=question, n=n, note=note)
    return one.tested(
        probe, tested, is_one_sided=is_one_sided, why=why or ("" if n else "the changed summaries have no scores")
    )


def _position(one: OneJudge) -> Hypothesis:
    """The slope of what turning the source round costs on how much more of the summary stands early.

    Times two: a summary wholly from the first half less one wholly from the second.
    """
    gap, earlier = one.gap("plain", "reversed"), one.answers.earlier
    tested = slopes(2 * gap / one.spread, [earlier], one.answers.topics, one.level)[0] if one.spread else NOTHING
    where = "first" if (tested.number.value or 0) > 0 else "last"
    probe = Probe(
        measure="position", question="Do points count more if they come first in the source?",
        n=int((~np.isnan(gap)).sum()), note=f"points that come {where} in the source count more",
    )  # fmt: skip
    why = "" if tested.number.value is not None else "summaries do not differ in where their words stand"
    return one.tested(probe, tested, why=why)
