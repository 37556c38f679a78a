"""How often intervals of what people would say hold it, and how many ratings a judge is worth.

    python -m evenhand.benchmarks.ratings --trials 1000
    python -m evenhand.benchmarks.ratings --trials 500 --ratings ratings.jsonl --scores out

makes the tables "What people would say" of benchmarks/RESULTS.md: in a made-up world where the judge prefers length, and of real
ratings, of which all but some are hidden. `out` is the folder of `evenhand score` with each system's summaries under its name.
"""

import csv
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from ..evaluation.report.people.inference import Parts, RatedScores, infer, selection_p_value
from ..plugins.judge_studies.ratings.rows import RatingRow
from ..resampling import Floats
from ..storage import read_jsonl
from .simulate import asked, print_heads, print_row

LEVEL = 0.95
SETS, CELLS = 100, 4
# two systems and two sides: cell -> its part
PARTS: Mapping[str, Parts] = {
    "mean": dict.fromkeys(range(CELLS), 0.25),
    "difference": {0: -0.5, 1: -0.5, 2: 0.5, 3: 0.5},
    "gap": {0: 0.5, 2: 0.5, 1: -0.5, 3: -0.5},
}
TRUTH = {"mean": 3.15, "difference": 0.3, "gap": 0.2}
DRAWS = ("evenly", "anywhere", "whole sets", "long ones")


@dataclass(frozen=True)
class World:
    """Summaries, each by one of the raters, of whom each has a severity of their own."""

    # (SETS * CELLS,); set after set, in it cell after cell
    quality: Floats
    length: Floats
    scores: Floats

    @classmethod
    def made(cls, generator: np.random.Generator) -> "World":
        """Articles differ; the judge prefers length, of which the second system and the first side have more for no reason."""
        article, side = generator.normal(0, 0.5, (SETS, 1, 1)), generator.normal(0, 0.3, (SETS, 1, 2))
        systems, sides = np.array([0, 0.3])[:, None], np.array([0.1, -0.1])
        quality = 3 + article + systems + sides + side + generator.normal(0, 0.5, (SETS, 2, 2))
        longer = np.array([0, 0.8])[:, None] + np.array([0.8, 0])
        length = 0.5 * (quality - 3) + longer + generator.normal(0, 0.7, (SETS, 2, 2))
        scores = 3.4 + 0.7 * length + generator.normal(0, 0.4, (SETS, 2, 2))
        return cls(quality.ravel(), length.ravel(), scores.ravel())

    def rows(self, n: int, draw: str, generator: np.random.Generator) -> list[int]:
        """Which summaries are rated."""
        if draw == "anywhere":
            anywhere: list[int] = generator.permutation(SETS * CELLS)[:n].tolist()
            return anywhere
        if draw == "whole sets":
            return [CELLS * k + cell for k in generator.permutation(SETS)[: n // CELLS] for cell in range(CELLS)]
        rows = []
        for cell in range(CELLS):
            order = generator.permutation(SETS)
            if draw == "long ones":
                order = np.argsort(generator.normal(0, 0.5, SETS) - self.length[cell::CELLS])
            rows += (CELLS * order[: n // CELLS + (cell < n % CELLS)] + cell).tolist()
        return rows

    def rated(self, n: int, n_raters: int, draw: str, generator: np.random.Generator) -> RatedScores:
        """What a judge and people say, each rated summary by one person."""
        severity = generator.normal(0, 0.4, n_raters)
        ratings = np.full((SETS * CELLS, n_raters), np.nan)
        for row in self.rows(n, draw, generator):
            rater = generator.integers(n_raters)
            ratings[row, rater] = self.quality[row] + severity[rater] + generator.normal(0, 0.5)
        return RatedScores(self.scores, np.repeat(np.arange(SETS), CELLS), np.tile(np.arange(CELLS), SETS), ratings)


def _judge_alone(table: RatedScores, parts: Parts) -> tuple[float, float]:
    """What the judge says, and the reach of its interval over document sets."""
    whole = replace(table, ratings=table.scores[:, None])
    said = infer(whole, parts, 0.0)
    return said.value, said.reach(LEVEL)


def simulate(trials: int) -> None:
    """Print how often each interval holds the truth in the made-up world."""
    print_heads("draw", "raters", "rated", "number", "judge holds", "ratings hold", "both hold", "width", "told apart")
    by_draw = [(draw, 10, n) for draw in DRAWS for n in (30, 50, 100, 200)]
    for draw, n_raters, n in [*by_draw, *(("evenly", n_raters, 100) for n_raters in (3, 5, 20))]:
        generator = np.random.default_rng(0)
        numbers = defaultdict[str, list[tuple[float, ...]]](list)
        for _ in range(trials):
            table = World.made(generator).rated(n, n_raters, draw, generator)
            if np.bincount(table.cells[table.is_rated], minlength=CELLS).min() < 2:
                continue
            for name, parts in PARTS.items():
                alone, both = infer(table, parts, 0.0), infer(table, parts)
                value, reach = _judge_alone(table, parts)
                numbers[name].append((
                    abs(value - TRUTH[name]) <= reach,
                    abs(alone.value - TRUTH[name]) <= alone.reach(LEVEL),
                    abs(both.value - TRUTH[name]) <= both.reach(LEVEL),
                    both.reach(LEVEL) / alone.reach(LEVEL),
                    selection_p_value(table.scores, table, parts) < 0.005,
                ))  # fmt: skip
        for name, rows in numbers.items():
            judge, ratings, held, width, told = np.mean(rows, axis=0)
            most = max(row[3] for row in rows)
            shares = (f"{100 * share:.1f} %" for share in (judge, ratings, held))
            print_row(draw, n_raters, n, name, *shares, f"{width:.3f}, at most {most:.3f}", f"{100 * told:.1f} %")


@dataclass(frozen=True)
class RatedReviews:
    """Real summaries, all of which people rated."""

    # judge -> its scores, (summaries,)
    scores: Mapping[str, Floats]
    sets: np.ndarray
    systems: np.ndarray
    # (summaries, raters)
    ratings: Floats

    @classmethod
    def read(cls, folder: Path, rows: Sequence[RatingRow], dimension: str) -> "RatedReviews":
        """The summaries of a folder of `evenhand score`, by the ratings of one dimension."""
        said = {(row.set_id, row.summary, row.rater): row.score for row in rows if row.dimension == dimension}
        raters = sorted({rater for _, _, rater in said})
        entries = [
            (place, entry)
            for place, path in enumerate(sorted(folder.glob("*/scores.csv")))
            for entry in csv.DictReader(path.open(encoding="utf-8"))
        ]
        judges = [name for name in entries[0][1] if name not in {"set", "side", "text", "cut", "unscored", "id"}]
        _, sets = np.unique([entry["set"] for _, entry in entries], return_inverse=True)
        return cls(
            {name: np.array([float(entry[name]) for _, entry in entries]) for name in judges},
            sets,
            np.array([place for place, _ in entries]),
            np.array([[said[entry["set"], entry["text"], rater] for rater in raters] for _, entry in entries]),
        )

    def draws(self, n: int, *, by_system: bool, trials: int) -> Iterator[np.ndarray]:
        """Which summaries are rated, (summaries,) of each draw."""
        generator = np.random.default_rng(0)
        n_systems = int(self.systems.max()) + 1
        for _ in range(trials):
            is_rated = np.zeros(len(self.systems), dtype=bool)
            if not by_system:
                is_rated[generator.permutation(len(is_rated))[:n]] = True
            for turn, system in enumerate(generator.permutation(n_systems) if by_system else ()):
                rows = np.flatnonzero(self.systems == system)
                is_rated[generator.permutation(rows)[: n // n_systems + (turn < n % n_systems)]] = True
            yield is_rated


def hide(reviews: RatedReviews, dimension: str, trials: int) -> None:
    """Print what intervals are worth when all but some ratings are hidden; the truth is the mean of all."""
    n_systems = int(reviews.systems.max()) + 1
    people = reviews.ratings.mean(axis=1)
    pooled, each = {0: 1.0}, dict.fromkeys(range(n_systems), 1 / n_systems)
    means = [people[reviews.systems == system].mean() for system in range(n_systems)]
    pairs = [({0: -1.0, k: 1.0}, means[k] - means[0]) for k in range(1, n_systems)]
    for name, scores in reviews.scores.items():
        for n in (52, 104, 208):
            for draw in ("anywhere", "evenly of each system", "differences of two systems"):
                cells = np.zeros_like(reviews.systems) if draw == "anywhere" else reviews.systems
                of_all = [(pooled if draw == "anywhere" else each, people.mean())]
                wanted = pairs if draw.startswith("differences") else of_all
                rows = []
                for is_rated in reviews.draws(n, by_system=draw != "anywhere", trials=trials // len(wanted)):
                    ratings = np.where(is_rated[:, None], reviews.ratings, np.nan)
                    table = RatedScores(scores, reviews.sets, cells, ratings)
                    rows += [_beside(table, parts, truth) for parts, truth in wanted]
                alone, both, width, narrower, worth = np.mean(rows, axis=0)
                print_row(
                    dimension, name, n, draw, f"{100 * alone:.1f} %", f"{100 * both:.1f} %", f"{width:.3f}",
                    f"{narrower:.3f}", f"{100 * worth / n:.0f}" if len(wanted) == 1 else "-",
                )  # fmt: skip


def _beside(table: RatedScores, parts: Parts, truth: float) -> tuple[float, ...]:
    alone, both = infer(table, parts, 0.0), infer(table, parts)
    return (
        abs(alone.value - truth) <= alone.reach(LEVEL),
        abs(both.value - truth) <= both.reach(LEVEL),
        2 * alone.reach(LEVEL),
        2 * both.reach(LEVEL),
        alone.ratings_for(both.error / alone.error, int(table.is_rated.sum())),
    )


def main() -> None:
    """Print the tables."""
    options = asked(
        __doc__,
        (1000, "draws of ratings"),
        ratings={"type": Path, "help": "ratings of every summary, as importers write them"},
        scores={"type": Path, "help": "folder of `evenhand score` with these summaries"},
    )
    if options.ratings is None:
        simulate(options.trials)
        return
    rows = read_jsonl(options.ratings, RatingRow)
    print_heads(
        "dimension",
        "judge",
        "rated",
        "draw",
        "ratings hold",
        "both hold",
        "width of ratings",
        "of both",
        "100 are worth",
    )
    for dimension in ("faithfulness", "aspect coverage"):
        hide(RatedReviews.read(options.scores, rows, dimension), dimension, options.trials)


if __name__ == "__main__":
    main()
