"""How often the intervals of an audit's numbers have the true number in them, of few document sets.

    python -m evenhand.benchmarks.calibration_intervals --trials 500

makes the table "Intervals of audits" of benchmarks/RESULTS.md. Of each kind of corpus `POPULATION` sets are made and measured
once; what an audit says of all of them is true, and audits of few sets are of sets drawn from them with replacement. Beside its
own intervals stand those of Student's t with the jackknife.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from ..evaluation.audit.figures import Family, Measured, bounds_of
from ..resampling import LEAST_SETS, NOISE, Bootstrap, Bounds, t_interval
from .calibration import LEVEL, Corpus, Manner, coverage, drawn_sets, items, measured, shares
from .simulate import asked, print_heads, print_row

POPULATION = 400
# documents of each value, share of a value's own words, and the manner of writing
KINDS: tuple[tuple[tuple[int, ...], float, Manner], ...] = (
    ((4, 4), 0.0, "extract"), ((7, 1), 0.3, "extract"), ((5, 2, 1), 0.3, "common words"),
)  # fmt: skip
HEADS = ("measure", "sets", "holds", "by t alone", "width")
FAMILIES: dict[str, Callable[[tuple[str, ...]], Family]] = {"shares": shares, "coverage": coverage}


@dataclass
class Held:
    """What became of the intervals of one measure and number of sets."""

    # whether they have the true number in them: its own, and those of t
    own: list[bool] = field(default_factory=list)
    by_t: list[bool] = field(default_factory=list)
    # how wide its own are in units of those of t
    widths: list[float] = field(default_factory=list)

    def __iadd__(self, more: "Held") -> "Held":
        self.own += more.own
        self.by_t += more.by_t
        self.widths += more.widths
        return self


def population(measure: str, corpus: Corpus) -> Measured:
    """What a family finds in summaries of many sets that take no side."""
    generator = np.random.default_rng(POPULATION)
    given = items(corpus, drawn_sets(corpus, generator), generator)
    return measured(FAMILIES[measure](corpus.values), given)


def count_held(found: Measured, n_sets: int, trials: int, smallest: str) -> dict[str, Held]:
    """By measure, of audits of as many sets; of values the smallest one.

    Args:
        found: of the population.
        n_sets: of an audit.
        trials: audits.
        smallest: name of the value with the fewest documents.
    """
    counted: dict[str, Held] = {}
    figures = found.figures
    true = figures.all_sets()
    for trial in range(trials):
        rows = np.random.default_rng([n_sets, trial]).integers(len(figures.columns), size=n_sets)
        drawn = figures.only(rows)
        students = t_interval(drawn.reduce, drawn.columns, drawn.rests_on, LEVEL)
        said, plan = drawn.said(), Bootstrap(LEVEL, seed=trial)
        for k, quantity in enumerate(figures.quantities):
            if quantity.side in (None, smallest) and drawn.rests_on[:, k].sum() >= LEAST_SETS:
                own, by_t = bounds_of(students.at(k)[0], said[:, k], quantity.kind, plan), students.at(k)[1:3]
                held = Held([holds(own, true[k])], [holds(by_t, true[k])], _width(own, by_t))
                counted.setdefault(quantity.kind.name, Held())
                counted[quantity.kind.name] += held
    return counted


def _width(own: Bounds, by_t: Bounds) -> list[float]:
    """Of one interval in units of the other, where both are there and have a width."""
    if None in own or None in by_t:
        return []
    mine, other = (float(high) - float(low) for low, high in (own, by_t))  # type: ignore[arg-type]
    return [mine / other] if other > NOISE else []


def holds(bounds: Bounds, true: float) -> bool:
    """Whether the number is in the interval; where there is none nothing is claimed."""
    low, high = bounds
    return low is None or high is None or bool(low - NOISE <= true <= high + NOISE)


def main() -> None:
    """Print the table."""
    given = asked(__doc__, (500, "audits of each kind"), ([5, 8, 12, 30], "document sets of an audit"))
    counted: dict[tuple[str, int], Held] = {}
    for sizes, own, manner in KINDS:
        corpus = Corpus(sizes, POPULATION, own, manner)
        for measure in FAMILIES:
            found = population(measure, corpus)
            for n_sets in given.sets:
                for name, more in count_held(found, n_sets, given.trials, corpus.values[-1]).items():
                    counted.setdefault((name, n_sets), Held())
                    counted[name, n_sets] += more
    print_heads(*HEADS)
    for (name, n_sets), each in sorted(counted.items()):
        held = (f"{100 * float(np.mean(its)):.1f} %" if its else "" for its in (each.own, each.by_t))
        width = f"{float(np.median(each.widths)):.2f}" if each.widths else ""
        print_row(name, n_sets, *held, width)


if __name__ == "__main__":
    main()
