"""How often a report is wrong about its rounds: simulated runs whose reward and report judges rise together, or part.

    python -m evenhand.benchmarks.rounds --trials 400

makes the table of docs/rounds.md#parting. Scores are in standard deviations of summaries. How fast they rise differs
between sets, by half of the rise. A set drifts by a random walk from round to round. It has two requests, each the mean of
some draws, and what is noise in reward and report judges goes together (correlation 0.3).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from zlib import crc32

import numpy as np

from ..evaluation.report.checkpoint.rounds import part, parting
from ..evaluation.report.systems.ranked import Floats
from ..evaluation.report.systems.worst_group import choice_alone, worst_groups
from ..resampling import Bootstrap
from .report import count
from .simulate import asked, print_heads, print_row

LEVEL = 0.95
# of a set's rise, of a round's drift, of a request's draws, and between reward and report judges
OWN_RISE, DRIFT, DRAWS, TOGETHER = 0.5, 0.1, 0.4, 0.3
# kind of run -> gain of the reward and of the report's judges at shares of the run, 0 to 1
Curve = Sequence[tuple[float, float]]
RUNS: dict[str, tuple[Curve, Curve]] = {
    "both flat": ([(0, 0), (1, 0)], [(0, 0), (1, 0)]),
    "both rise": ([(0, 0), (1, 0.8)], [(0, 0), (1, 0.5)]),
    "both rise, ever slower": ([(0, 0), (0.4, 0.6), (1, 0.9)], [(0, 0), (0.4, 0.4), (1, 0.6)]),
    "judges rise little": ([(0, 0), (1, 0.8)], [(0, 0), (1, 0.15)]),
    "judges slow down to two thirds": ([(0, 0), (1, 0.8)], [(0, 0), (0.4, 0.3), (1, 0.6)]),
    "judges flat": ([(0, 0), (1, 0.8)], [(0, 0), (1, 0)]),
    "reward stops, judges fall": ([(0, 0), (0.4, 0.5), (1, 0.5)], [(0, 0), (0.4, 0.3), (1, 0.0)]),
    "judges stop": ([(0, 0), (1, 1.0)], [(0, 0), (0.4, 0.5), (1, 0.5)]),
    "judges fall": ([(0, 0), (1, 1.0)], [(0, 0), (0.4, 0.3), (1, 0.0)]),
    "judges fall far": ([(0, 0), (1, 1.0)], [(0, 0), (0.4, 0.3), (1, -0.5)]),
}
PARTING = ("judges stop", "judges fall", "judges fall far")


@dataclass(frozen=True)
class Run:
    """A kind of run."""

    # a key of RUNS
    kind: str
    n_rounds: int
    n_sets: int

    @property
    def truth(self) -> Floats:
        """Gains of reward and report judges at the untrained model and after each round, (2, rounds + 1)."""
        shares = np.linspace(0, 1, self.n_rounds + 1)
        return np.array([np.interp(shares, *np.transpose(curve)) for curve in RUNS[self.kind]])


def drawn(run: Run, generator: np.random.Generator) -> tuple[Floats, Floats, list[str]]:
    """Reward and report judges of every request, (rounds + 1, requests), and the requests' sets."""
    shape = (2, run.n_rounds + 1, run.n_sets)
    rise = run.truth[:, :, None] * (1 + OWN_RISE * generator.standard_normal((2, 1, run.n_sets)))
    steps = DRIFT * _together(generator, shape)
    steps[:, 0] = 0.0
    of_sets = np.repeat(rise + steps.cumsum(axis=1), 2, axis=2)  # (2, rounds + 1, requests)
    reward, report = of_sets + DRAWS * _together(generator, of_sets.shape)
    return reward, report, [str(number // 2) for number in range(2 * run.n_sets)]


def _together(generator: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    """Standard normal noise that reward and report judges, the first axis, have in common by TOGETHER."""
    own, common = generator.standard_normal(shape), generator.standard_normal((1, *shape[1:]))
    return np.asarray(np.sqrt(1 - TOGETHER) * own + np.sqrt(TOGETHER) * common)


@dataclass(frozen=True)
class Counts:
    """Runs of which something was said."""

    trials: int
    # that reward and report judges part; and that, from a round between which and the last they do not
    parted: int = 0
    false: int = 0
    # that a round is the best by its worst side; and that, where another is better
    chosen: int = 0
    wrong: int = 0


def is_true(run: Run, since: int) -> bool:
    """Whether from that place on the reward rises, and the judges fall, or rise by under half of their earlier pace."""
    reward, report = run.truth
    rise, change = reward[-1] - reward[since], report[-1] - report[since]
    before = report[since] / reward[since] if since and reward[since] else 0.0
    return bool(rise > 0 and (change < 0 or (before > 0 and change < before * rise / 2)))


def count_parted(run: Run, trials: int) -> Counts:
    """How often reward and report judges are said to part."""
    numbers = [None, *range(run.n_rounds)]
    parted = false = 0
    for generator in generators(run, trials):
        found = parting(part(numbers, *drawn(run, generator), Bootstrap(LEVEL)))
        if found is not None:
            parted += 1
            false += not is_true(run, numbers.index(found.since))
    return Counts(trials, parted, false)


def count_chosen(run: Run, trials: int) -> Counts:
    """How often a round is said to be the best by its worst side; the second side of a set is half as high as the first."""
    names = [str(place) for place in range(run.n_rounds + 1)]
    worst = np.minimum(run.truth[1], run.truth[1] / 2)
    chosen = wrong = 0
    for number, generator in enumerate(generators(run, trials)):
        _, report, _ = drawn(run, generator)
        table = report.reshape(len(names), run.n_sets, 2) - np.stack([0 * worst, run.truth[1] / 2], axis=-1)[:, None]
        plan = Bootstrap(LEVEL, 1000, number)
        found = choice_alone(table, worst_groups(table, names, ("first", "second"), plan), plan)
        if found.choice is not None:
            chosen += 1
            wrong += bool(worst[names.index(found.choice)] < worst.max() - 1e-9)
    return Counts(trials, chosen=chosen, wrong=wrong)


def generators(run: Run, trials: int) -> Iterator[np.random.Generator]:
    """One a trial; other kinds of runs have others, so that their trials may be added."""
    return (np.random.default_rng([crc32(repr(run).encode()), trial]) for trial in range(trials))


def main() -> None:
    """Print the table."""
    sets, rounds = ([5, 12, 30, 100], "document sets of a run"), count([2, 4, 10], "rounds of a run")
    given = asked(__doc__, (400, "runs of each kind"), sets, rounds=rounds)
    print_heads("run", "rounds", "sets", "parting said", "falsely", "round chosen", "wrongly")
    for kind, n_rounds, n_sets in product(RUNS, given.rounds, given.sets):
        run = Run(kind, n_rounds, n_sets)
        found, choice = count_parted(run, given.trials), count_chosen(run, given.trials // 4)
        shares = [100 * n / found.trials for n in (found.parted, found.false)]
        shares += [100 * n / choice.trials for n in (choice.chosen, choice.wrong)] if choice.trials else []
        print_row(kind, n_rounds, n_sets, *(f"{share:.1f} %" for share in shares))


if __name__ == "__main__":
    main()
