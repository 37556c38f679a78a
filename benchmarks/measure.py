"""Contenders timed side by side.

A shared machine is fast in one minute and slow in the next. So contenders take turns (A B C, A B C, ...), and what counts is the
ratio of their medians within one run; the seconds stand beside it, and claim nothing of another machine or another day.
"""

import gc
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from statistics import median
from typing import Any

from .memory import Meter, memory_meter, out_of_memory

# what a run counted: tokens, candidates, ...; whatever JSON can hold
Counts = Mapping[str, Any]


@dataclass(frozen=True)
class Extrapolated:
    """Only a part of the work is run, and its seconds are scaled to the whole; tables and figures mark it.

    Right for work that repeats one unit; what is done once (loading, a first pass) belongs in `prepare`.
    """

    measured: int
    whole: int
    # what is counted: "pairs"
    unit: str

    def __post_init__(self) -> None:
        assert 0 < self.measured <= self.whole, f"{self.measured} of {self.whole} {self.unit}"

    @property
    def factor(self) -> float:
        """What the measured seconds are multiplied by, at least 1."""
        return self.whole / self.measured

    def __str__(self) -> str:
        return f"extrapolated from {self.measured} of {self.whole} {self.unit}"


@dataclass(frozen=True)
class Contender:
    """A way of doing the work."""

    name: str
    # does the work once; returns what it counted, of the part that was run when `extrapolated`
    run: Callable[[], Counts]
    # brings everything into the state before the work; untimed, before each run, the warm-up included
    prepare: Callable[[], None] | None = None
    extrapolated: Extrapolated | None = None


@dataclass(frozen=True)
class Run:
    """One timed run."""

    # wall seconds as measured, never scaled
    seconds: float
    peak_bytes: int
    counts: Counts


@dataclass(frozen=True)
class Row:
    """All runs of one contender."""

    name: str
    runs: tuple[Run, ...]
    extrapolated: Extrapolated | None = None
    # why there are fewer runs than asked for: "out of memory"
    failure: str | None = None

    @property
    def measured_seconds(self) -> float | None:
        """Median of the seconds as measured; None without a run."""
        return median(run.seconds for run in self.runs) if self.runs else None

    @property
    def seconds(self) -> float | None:
        """Median of the seconds for the whole work, scaled where only a part was run; None without a run."""
        measured = self.measured_seconds
        return None if measured is None else measured * self._factor

    @property
    def spread(self) -> tuple[float, float] | None:
        """Least and most seconds, scaled like the median; None without a run."""
        if not self.runs:
            return None
        found = [run.seconds * self._factor for run in self.runs]
        return min(found), max(found)

    @property
    def peak_bytes(self) -> int | None:
        """The highest peak of all runs; None without a run."""
        return max((run.peak_bytes for run in self.runs), default=None)

    @property
    def counts(self) -> Counts:
        """What the last run counted; {} without a run."""
        return self.runs[-1].counts if self.runs else {}

    @property
    def _factor(self) -> float:
        return self.extrapolated.factor if self.extrapolated else 1.0


@dataclass(frozen=True)
class Table:
    """Contenders that did the same work in turn."""

    title: str
    rows: tuple[Row, ...]
    repeats: int
    # names of the rows that the others are compared with
    baselines: tuple[str, ...]
    # what peak_bytes are
    memory: str

    def row(self, name: str) -> Row:
        """The row of that contender."""
        return next(row for row in self.rows if row.name == name)

    def time_ratio(self, name: str, baseline: str) -> float | None:
        """Median seconds of a contender over those of the baseline: below 1 is faster; None when one of them has no run."""
        own, other = self.row(name).seconds, self.row(baseline).seconds
        return None if own is None or other is None else own / other

    def as_json(self) -> dict[str, Any]:
        """Everything that was measured, and the ratios."""
        return {
            "title": self.title,
            "repeats": self.repeats,
            "memory": self.memory,
            "baselines": list(self.baselines),
            "rows": [self._row_json(row) for row in self.rows],
        }

    def _row_json(self, row: Row) -> dict[str, Any]:
        part = row.extrapolated
        scaled = part and {"measured_seconds": row.measured_seconds, "factor": part.factor, **asdict(part)}
        least, most = row.spread or (None, None)
        ratios = {name: self.time_ratio(row.name, name) for name in self.baselines}
        return {
            "name": row.name,
            "seconds": row.seconds,
            "least_seconds": least,
            "most_seconds": most,
            "extrapolated": scaled,
            "failure": row.failure,
            "peak_bytes": row.peak_bytes,
            "counts": dict(row.counts),
            "time_ratio": ratios,
            "speed_ratio": {name: 1 / ratio if ratio else None for name, ratio in ratios.items()},
            "runs": [asdict(run) for run in row.runs],
        }


@dataclass(frozen=True)
class Instruments:
    """What runs are measured with."""

    clock: Callable[[], float] = time.perf_counter
    # asked for once the warm-ups have loaded what the work needs
    meter: Callable[[], Meter] = field(default=memory_meter)


def compare(
    title: str,
    contenders: Sequence[Contender],
    repeats: int,
    baseline: str | Sequence[str] | None = None,
    *,
    warm_up: bool = True,
    instruments: Instruments | None = None,
) -> Table:
    """Run the contenders in turn and time them.

    Args:
        title: what the table is about.
        contenders: ways of doing the same work; a contender that runs out of memory is not run again, any other error
            ends the comparison.
        repeats: timed runs of each contender, at least 1.
        baseline: the contender, or several, whose median the others are divided by.
        warm_up: run each contender once untimed first, in the same order.
        instruments: the clock and the memory meter; the real ones unless a test brings others.
    """
    names = [each.name for each in contenders]
    baselines = (baseline,) if isinstance(baseline, str) else tuple(baseline or ())
    assert repeats >= 1, "a median needs a run"
    assert len(set(names)) == len(names), f"names occur twice: {names}"
    assert set(baselines) <= set(names), f"baselines {baselines} are not all among {names}"
    tools = instruments or Instruments()
    runs: dict[str, list[Run]] = {name: [] for name in names}
    failures: dict[str, str] = {}
    meter = None
    for turn in range(-1 if warm_up else 0, repeats):
        if turn == 0:
            meter = tools.meter()
        for each in contenders:
            if each.name in failures:
                continue
            try:
                run = _run(each, tools.clock, meter)
            except out_of_memory():
                failures[each.name] = "out of memory"
                continue
            if run is not None:
                runs[each.name].append(run)
    rows = tuple(Row(c.name, tuple(runs[c.name]), c.extrapolated, failures.get(c.name)) for c in contenders)
    return Table(title, rows, repeats, baselines, meter.what if meter else "")


def _run(contender: Contender, clock: Callable[[], float], meter: Meter | None) -> Run | None:
    """One run; a warm-up, which has no meter, gives None."""
    if contender.prepare:
        contender.prepare()
    gc.collect()
    if meter is None:
        contender.run()
        return None
    with meter:
        start = clock()
        counts = contender.run()
        meter.settle()
        seconds = clock() - start
    return Run(seconds, meter.peak_bytes, counts)
