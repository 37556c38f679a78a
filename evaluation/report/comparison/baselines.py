"""What a reward must beat: summaries chosen among the same candidates without any judge.

One draw, the summary of the length that was asked for (the longest where none was), and the one that is nearest to the other
candidates: minimum Bayes risk, see `judges.consensus`. A reward that does no better than these has not earned its judges.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from ...pages.words import MOST_NAMED, UNSURE, joined
from ..systems.contents import Difference, JudgeNote
from ..systems.ranked import Floats
from ..systems.systems import WORDS, PolicyOutput, System
from ..systems.words import verdict, with_direction
from .entries import NEARNESS, Entry
from .paired_tests import ONE_DRAW, Pair

BY_LENGTH, BY_CONSENSUS = "the choice by length", "the choice by consensus"
BASELINES = (ONE_DRAW, BY_LENGTH, BY_CONSENSUS)
# what is tested
CHOICE = "the choice by reward among all candidates"


def against_baselines(entry: Entry) -> list[Pair]:
    """The best of all of an entry's candidates by its reward, and what is chosen of them without a judge."""
    k, output = entry.n_candidates, entry.output
    if k < 2:
        return []
    best = System(entry.label, output, k)
    chosen = {BY_LENGTH: output.chosen_by(_length(output)), BY_CONSENSUS: output.chosen_by(output.trait(NEARNESS))}
    return [(best, System(ONE_DRAW, output, 1)), *((best, System(name, choice, k)) for name, choice in chosen.items())]


def baseline_findings(judges: Sequence[JudgeNote], tests: Sequence[Difference]) -> Iterator[str]:
    """How the choice by reward stands to choices without a judge: by each judge that sees a difference, then by the others."""
    unsure = []
    for judge in (judge for judge in judges if judge.better):
        judge_tests = [test for test in tests if (test.measure, test.side) == (judge.name, None)]
        parts = []
        for word in ("better", "worse"):
            by_name = {
                name: tuple(t.system for t in judge_tests if t.reference == name and verdict(t, judge).text == word)
                for name in BASELINES
            }
            for labels in filter(None, dict.fromkeys(by_name.values())):
                names = joined([name for name in BASELINES if by_name[name] == labels])
                parts.append(f"{word} than {names} for {joined(labels, MOST_NAMED)}")
        if parts:
            verdicts = "; ".join(parts)
            yield f"By {with_direction(judge)}, {CHOICE}: {verdicts}; {UNSURE} otherwise."
        elif judge_tests:
            unsure.append(judge.name)
    if unsure:
        yield f"By {joined(unsure)}, {CHOICE}: {UNSURE} from {joined(BASELINES)}."


def _length(output: PolicyOutput) -> Floats:
    """How near a summary is to the words that were asked for, higher is nearer; its words where no number was asked for."""
    words = output.trait(WORDS)
    target_words = np.array([request.length[1] or np.nan for request in output.requests], dtype=float)[:, None]
    return np.where(np.isnan(target_words), words, -np.abs(words - target_words))
