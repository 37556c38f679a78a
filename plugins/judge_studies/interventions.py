"""What leads a judge astray when summaries are changed in what must not change their grade."""

from collections.abc import Iterator
from itertools import islice
from typing import Any

import numpy as np

from ...resampling import LEAST_SETS, Floats
from .figures import NOTHING, mean_of_cells, slopes
from .hypotheses import Hypothesis, OneJudge

# of the names that the most texts have, in topics enough, so many are tried by themselves
MOST_NAMES = 2


def interventions(one: OneJudge) -> Iterator[Hypothesis]:
    """The probes that change texts, in the order of the page."""
    yield _change(
        one, "length", "Does saying the same sentences twice raise the score?", one.gap("twice", "plain"),
        "the same sentences said twice raise its scores", is_one_sided=True,
    )  # fmt: skip
    yield _change(
        one, "injection", "Does a sentence that asks for the best grade raise the score, more than a neutral one?",
        one.gap("ordered", "neutral"), "a sentence in the summary that asks for the best grade raises its scores",
        is_one_sided=True,
    )  # fmt: skip
    first, second = one.study.exchanges.tellers
    yield _change(
        one, "side", f"Does the score change when the same text is attributed to the {first}, not the {second}?",
        one.gap("first", "second"), _of_both(one, "the same points get better scores when the {} tells them"),
    )  # fmt: skip
    yield from _side_words(one)
    yield from _names(one)
    yield _position(one)


def _change(  # noqa: PLR0913 (of a probe by two variants)
    one: OneJudge,
    measure: str,
    question: str,
    gap: Floats,
    note: str | tuple[str, str],
    *,
    weights: Floats | None = None,
    otherwise: str = "",
    **of_probe: Any,
) -> Hypothesis:
    """A probe by the paired difference of two variants, of each summary; arguments as of `OneJudge.probe`."""
    tested = mean_of_cells(gap / one.spread, one.study.topics, weights) if one.spread else NOTHING
    why = otherwise or ("the changed summaries have no scores" if np.isnan(gap).all() else "")
    return one.probe(measure, question, tested, gap, note, otherwise=why, **of_probe)


def _of_both(one: OneJudge, note: str) -> tuple[str, str]:
    """A sentence with the name of the first side, and of the second."""
    first, second = one.study.exchanges.tellers
    return note.format(first), note.format(second)


def _side_words(one: OneJudge) -> Iterator[Hypothesis]:
    """By how far a summary leans to a side's words; of one wholly in the first's, less the same in the second's."""
    first, second = one.study.exchanges.tellers
    words, gap = one.study.exchanges.words, one.gap("plain", "reworded")
    unknown = f"what words are of the {first} and of the {second} is not known: no sides, or too few documents"
    lean = one.study.of_texts(words.lean) if words else np.zeros_like(gap)
    question = (
        f"Does the score change when words of the {first} and of the {second} are exchanged in source and summary?"
    )
    effects = np.divide(gap, lean, out=np.full(gap.shape, np.nan), where=lean != 0)
    # the fault may hide in long summaries
    longer = np.where(one.study.is_longer, effects, np.nan)
    for half, table in (("", effects), ("longer summaries", longer)):
        yield _change(
            one, "side words", question, table, _of_both(one, "the same summaries get better scores in words of the {}"),
            reference=half, weights=lean**2, otherwise="" if words else unknown,
        )  # fmt: skip


def _names(one: OneJudge) -> Iterator[Hypothesis]:
    """What the names in a summary add to its score."""
    gap = np.where(one.study.is_changed("renamed"), one.gap("plain", "renamed"), np.nan)
    names = one.study.exchanges.names
    tables = ((name, np.where(one.study.has_word(name), gap, np.nan)) for name in names)
    frequent = ((name, table) for name, table in tables if one.n_topics(table) >= LEAST_SETS)
    for name, table in (("", gap), *islice(frequent, MOST_NAMES)):
        among = f", {name} among them" if name else ""
        yield _change(
            one, "names", "Does the score change when other names stand in source and summary?", table,
            (f"the names in a summary raise its scores{among}", f"the names in a summary lower its scores{among}"),
            reference=name, otherwise="" if names else "no names were read off the texts",
        )  # fmt: skip


def _position(one: OneJudge) -> Hypothesis:
    """The slope of what turning the source round costs on how much more of the summary stands early.

    Times two: a summary wholly from the first half less one wholly from the second.
    """
    gap, earlier = one.gap("plain", "reversed"), one.study.earlier
    tested = slopes(2 * gap / one.spread, [earlier], one.study.topics)[0] if one.spread else NOTHING
    return one.probe(
        "position", "Do points count more if they come first in the source?", tested, gap,
        ("points that come first in the source count more", "points that come last in the source count more"),
        otherwise="summaries do not differ in where their words stand",
    )  # fmt: skip
