"""How often an audit's verdicts on places are false: simulated corpora whose summaries prefer no place, or halve a third's room.

    python -m evenhand.benchmarks.calibration_order --trials 40

makes the tables of docs/fairness-evidence.md#order. Documents and manners of writing are those of `calibration`. The documents
of a set stand in a random order ("mixed"), or those of each value together ("blocks"); what is planted is that of a third, of a
value, or of what stands in a third of the file, only half of the sentences are read.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal, get_args

import numpy as np

from ..evaluation.audit.gaps import judged
from ..evaluation.significance import concluded
from ..fairness.labelled import LabelledSource, LabelledSummary
from ..judges.measures.words import WordMatcher
from ..number import Number
from ..plugins.order.family import Order, effects_of
from ..plugins.order.places import turned_places
from ..plugins.order.thirds import THIRDS, thirds
from ..resampling import LEAST_SETS
from .calibration import LEVEL, PLAN, Corpus, Manner, drawn_sets, generators, measured, summary, verdicts
from .simulate import asked, print_heads, print_row

# whose sentences only half are read
Halved = Literal["nobody", "value", "first third", "middle third", "last third"]
ORDER = Order(WordMatcher("words", "", str.split))


def items(
    corpus: Corpus, halved: Halved, generator: np.random.Generator, *, blocks: bool = False
) -> list[LabelledSummary]:
    """A summary of every set; of the values the last one is halved."""
    found = []
    for name, drawn in enumerate(drawn_sets(corpus, generator)):
        documents = drawn if blocks else tuple(drawn[int(k)] for k in generator.permutation(len(drawn)))
        read = documents if halved == "value" else in_thirds(documents, range(len(documents)))
        text = summary(read, corpus.manner, generator, corpus.values[-1] if halved == "value" else halved)
        found.append(LabelledSummary(str(name), corpus.values, documents, text))
    return found


def in_thirds(documents: Sequence[LabelledSource], places: Sequence[int]) -> list[LabelledSource]:
    """The documents with the third that they stand in for a value."""
    return [replace(each, value=THIRDS[k]) for each, k in zip(documents, thirds(places), strict=True)]


def orders(
    corpus: Corpus, halved: Halved, generator: np.random.Generator, n_orders: int, *, by_documents: bool
) -> list[list[LabelledSummary]]:
    """Summaries in each of the turns; `by_documents` halves what stands in the third in the file, wherever it stands."""
    sets = drawn_sets(corpus, generator)
    found: list[list[LabelledSummary]] = []
    for turn in range(n_orders):
        found.append([])
        for name, documents in enumerate(sets):
            stood = turned_places(len(documents), turn, n_orders)
            read = in_thirds(documents, range(len(documents)) if by_documents else stood)
            text = summary(read, corpus.manner, generator, halved)
            found[-1].append(LabelledSummary(str(name), corpus.values, documents, text, places=stood))
    return found


def effects(systems: Sequence[Sequence[LabelledSummary]]) -> dict[tuple[str, str | None], Number]:
    """By what a gap follows and the third."""
    found, tests = effects_of([measured(ORDER, each) for each in systems], PLAN.bootstrap)
    _, (said,) = concluded([], [tests], LEVEL)
    return {
        (each.measure, each.side): judged(each, said, k, PLAN.bootstrap, LEAST_SETS) for k, each in enumerate(found)
    }


def count_places(corpus: Corpus, halved: Halved, trials: int, *, blocks: bool = False) -> int:
    """Trials in which a third is named where nobody or a value is halved, or in which the halved third is named."""
    said = 0
    for generator in generators(corpus, trials):
        found = verdicts(ORDER, items(corpus, halved, generator, blocks=blocks))
        if halved in THIRDS:
            said += found[halved].verdict == "lower"
        else:
            said += any(gap.is_clear for gap in found.values())
    return said


def count_effects(corpus: Corpus, halved: Halved, trials: int, *, by_documents: bool) -> tuple[int, int]:
    """Trials in which the wrong one of place and documents is said to matter, and in which the right one is found."""
    wrong = right = 0
    truth, other = ("documents", "place") if by_documents else ("place", "documents")
    for generator in generators(corpus, trials):
        found = effects(orders(corpus, halved, generator, 3, by_documents=by_documents))
        wrong += any(found[other, third].is_clear for third in THIRDS)
        right += halved in THIRDS and found[truth, halved].verdict == "lower"
    return wrong, right


def main() -> None:
    """Print the table."""
    given = asked(__doc__, (40, "corpora of each kind"), ([12, 30, 200], "document sets of a corpus"))
    manners, all_sizes = get_args(Manner), ((4, 4), (7, 1), (5, 2, 1))
    print_heads("sets", "documents stand", "halved", "a third is named")
    for n_sets in given.sets:
        kinds = [Corpus(sizes, n_sets, own, how) for sizes in all_sizes for own in (0.0, 0.3) for how in manners]
        n = given.trials * len(kinds)
        for blocks, halved in (*((False, each) for each in get_args(Halved)), (True, "value")):
            said = sum(count_places(kind, halved, given.trials, blocks=blocks) for kind in kinds)
            print_row(n_sets, "in blocks" if blocks else "mixed", halved, f"{said} of {n}")
        for what, by_documents in (("in three orders", False), ("in three orders, its documents", True)):
            counts = [count_effects(kind, "middle third", given.trials, by_documents=by_documents) for kind in kinds]
            wrong, right = (sum(column) for column in zip(*counts, strict=True))
            print_row(n_sets, what, "middle third", f"{right} of {n}, the wrong cause {wrong}")


if __name__ == "__main__":
    main()
