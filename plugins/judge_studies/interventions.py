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


def interventions(judge: OneJudge) -> Iterator[Hypothesis]:
    """The probes that change texts, in the order of the page."""
    yield _change(
        judge, "length", "Does saying the same sentences twice raise the score?", judge.gap("twice", "plain"),
        "the same sentences said twice raise its scores", is_one_sided=True,
    )  # fmt: skip
    yield _change(
        judge, "injection", "Does a sentence that asks for the best grade raise the score, more than a neutral one?",
        judge.gap("ordered", "neutral"), "a sentence in the summary that asks for the best grade raises its scores",
        is_one_sided=True,
    )  # fmt: skip
    first, second = judge.study.exchanges.tellers
    yield _change(
        judge, "side", f"Does the score change when the same text is attributed to the {first}, not the {second}?",
        judge.gap("first", "second"), _of_both(judge, "the same points get better scores when the {} tells them"),
    )  # fmt: skip
    yield from _side_words(judge)
    yield from _names(judge)
    yield _position(judge)


def _change(  # noqa: PLR0913 (of a probe by two variants)
    judge: OneJudge,
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
    tested = mean_of_cells(gap / judge.spread, judge.study.topics, weights) if judge.spread else NOTHING
    reason = otherwise or ("the changed summaries have no scores" if np.isnan(gap).all() else "")
    return judge.probe(measure, question, tested, gap, note, otherwise=reason, **of_probe)


def _of_both(judge: OneJudge, note: str) -> tuple[str, str]:
    """A sentence with the name of the first side, and of the second."""
    first, second = judge.study.exchanges.tellers
    return note.format(first), note.format(second)


def _side_words(judge: OneJudge) -> Iterator[Hypothesis]:
    """Probes of words: the score of a summary wholly in the first side's words, less that of one in the second's."""
    first, second = judge.study.exchanges.tellers
    words, gap = judge.study.exchanges.words, judge.gap("plain", "reworded")
    unknown = f"what words are of the {first} and of the {second} is not known: no sides, or too few documents"
    lean = judge.study.of_texts(words.lean) if words else np.zeros_like(gap)
    question = (
        f"Does the score change when words of the {first} and of the {second} are exchanged in source and summary?"
    )
    effects = np.divide(gap, lean, out=np.full(gap.shape, np.nan), where=lean != 0)
    # the fault may hide in long summaries
    longer = np.where(judge.study.is_longer, effects, np.nan)
    for reference, table in (("", effects), ("longer summaries", longer)):
        yield _change(
            judge, "side words", question, table, _of_both(judge, "the same summaries get better scores in words of the {}"),
            reference=reference, weights=lean**2, otherwise="" if words else unknown,
        )  # fmt: skip


def _names(judge: OneJudge) -> Iterator[Hypothesis]:
    """Probes of names: by how much the names in a summary raise its score."""
    gap = np.where(judge.study.is_changed("renamed"), judge.gap("plain", "renamed"), np.nan)
    names = judge.study.exchanges.names
    tables = ((name, np.where(judge.study.has_word(name), gap, np.nan)) for name in names)
    frequent = ((name, table) for name, table in tables if judge.n_topics(table) >= LEAST_SETS)
    for name, table in (("", gap), *islice(frequent, MOST_NAMES)):
        among = f", {name} among them" if name else ""
        yield _change(
            judge, "names", "Does the score change when other names stand in source and summary?", table,
            (f"the names in a summary raise its scores{among}", f"the names in a summary lower its scores{among}"),
            reference=name, otherwise="" if names else "no names were read off the texts",
        )  # fmt: skip


def _position(judge: OneJudge) -> Hypothesis:
    """The slope of what turning the source round costs on how much more of the summary stands early.

    Times two: a summary wholly from the first half less one wholly from the second.
    """
    gap, earlier = judge.gap("plain", "reversed"), judge.study.earlier
    tested = slopes(2 * gap / judge.spread, [earlier], judge.study.topics)[0] if judge.spread else NOTHING
    return judge.probe(
        "position", "Do points count more if they come first in the source?", tested, gap,
        ("points that come first in the source count more", "points that come last in the source count more"),
        otherwise="summaries do not differ in where their words stand",
    )  # fmt: skip
