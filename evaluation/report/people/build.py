"""From a file of ratings and the summaries in systems' folders to what people would say of all of them."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations, product
from pathlib import Path
from typing import Literal

import numpy as np

from ....number import Number, what_sets_say
from ....records import BestSummary, SummaryRequest
from ....resampling import NOISE
from ....runfolder.phases import BEST, REQUESTS
from ....storage import read_jsonl
from ....text import n_words
from ...pages.words import counted
from ..systems.contents import Difference, JudgeNote, PeoplesNumber, PeoplesNumbers, Score, SystemPair
from .inference import LEAST_RATERS, Inference, Parts, RatedScores, infer, selection_p_value
from .ratings import RatedTexts, RatingsFile, SummaryRatings, rated_name, read_ratings

# rated document sets from which on intervals hold what they say; simulated: benchmarks/RESULTS.md#would-say
LEAST_RATED_SETS = 20
# rated summaries in which a mean has a spread
LEAST_OF_CELL = 2
# below, rated summaries are told from the others too surely to have been drawn at random
SELECTED = 0.005


@dataclass(frozen=True)
class JudgedFolder:
    """A system with one summary of each request."""

    label: str
    # as its scores on the page have it
    k: int
    # with `requests.jsonl` and `best.jsonl`
    folder: Path


@dataclass(frozen=True)
class JudgedPage:
    """What a page says of its systems without ratings."""

    folders: Sequence[JudgedFolder]
    attribute: str
    judges: Sequence[JudgeNote]
    sides: Sequence[str]
    # ids of its document sets
    sets: Sequence[str]
    # means and differences over all sides
    scores: Sequence[Score]
    # of intervals
    level: float


def peoples_numbers(file: RatingsFile, page: JudgedPage) -> PeoplesNumbers:
    """What people would say of all summaries, by each judge: means, differences to the first system, and gaps of sides.

    Raises:
        StorageError: a file cannot be read.
        DataError: the ratings are wrong, or of none of the summaries.
    """
    summaries = _Summaries(file, page)
    numbers = [number for judge in page.judges for number in summaries.numbers(judge)]
    return PeoplesNumbers(
        file=file.path.name,
        dimension=summaries.people.dimension,
        n_rated=int((~np.isnan(summaries.ratings)).any(axis=1).sum()),
        n_raters=len(list(filter(None, summaries.raters))),
        n=len(summaries.best),
        notes=(*summaries.people.notes, *summaries.notes()),
        numbers=tuple(numbers),
    )


class _Summaries:
    """The summaries of all systems, a row each, and what people said of them."""

    def __init__(self, file: RatingsFile, page: JudgedPage) -> None:
        self.page = page
        requests = read_jsonl(page.folders[0].folder / REQUESTS, SummaryRequest)
        by_system = {system.label: read_jsonl(system.folder / BEST, BestSummary) for system in page.folders}
        self.best = [(label, best) for label, summaries in by_system.items() for best in summaries if best.text]
        self.people = self._read(file, requests)
        self.raters = list(dict.fromkeys(name for row in self.people.scores.values() for name in row))
        self.ratings = np.full((len(self.best), len(self.raters)), np.nan)
        for place, (_, best) in enumerate(self.best):
            for rater, score in self.people.scores.get(summary_key(best), {}).items():
                self.ratings[place, self.raters.index(rater)] = score

    def _read(self, file: RatingsFile, requests: Sequence[SummaryRequest]) -> SummaryRatings:
        documents = {request.document_set.id: request.document_set for request in requests}
        texts: dict[str, dict[str, str]] = {}
        for label, best in self.best:
            texts.setdefault(label, {})[summary_key(best)[0]] = best.text or ""
        return read_ratings(file, RatedTexts(list(documents.values()), self.page.attribute, texts))

    @cached_property
    def cells(self) -> dict[tuple[str, str], int]:
        """System and side -> its cell."""
        return {
            key: k for k, key in enumerate(product((folder.label for folder in self.page.folders), self.page.sides))
        }

    @cached_property
    def names(self) -> list[str]:
        """What each cell is called."""
        has_sides = len(self.page.sides) > 1
        return [f"{label}, {side}" if has_sides else label for label, side in self.cells]

    def notes(self) -> Iterator[str]:
        """What is to be known of the ratings beside these summaries."""
        keys = {summary_key(best) for _, best in self.best}
        if stray := sum(key not in keys for key in self.people.scores):
            yield f"{counted(stray, 'rated text')} of the file {'is' if stray == 1 else 'are'} of none of these systems."
        n = len(list(filter(None, self.raters)))
        if n < LEAST_RATERS:
            yield (
                "Intervals are of what these raters would say of all summaries, not of what other people would: "
                f"how far people differ can be told from {LEAST_RATERS} named raters on."
            )

    def numbers(self, judge: JudgeNote) -> Iterator[PeoplesNumber]:
        """By a judge: each system's mean, its difference to the first, and each side's gap to all sides."""
        scored = [place for place, (_, best) in enumerate(self.best) if best.scores.get(judge.name) is not None]
        column = _Column(self, judge, scored)
        first = self.page.folders[0]
        for folder in self.page.folders:
            yield column.number("mean", folder, self._mean(folder))
        for folder in self.page.folders[1:]:
            mean, reference = self._mean(folder), self._mean(first)
            parts = {**mean, **{cell: -part for cell, part in reference.items()}}
            yield column.number("difference", folder, parts, reference=first)
        for folder in self.page.folders if len(self.page.sides) > 1 else ():
            for side in self.page.sides:
                n = len(self.page.sides)
                parts = {self.cells[folder.label, name]: (name == side) - 1 / n for name in self.page.sides}
                yield column.number("gap", folder, parts, side=side)

    def _mean(self, folder: JudgedFolder) -> dict[int, float]:
        """Each side by its share of the system's summaries."""
        sides = [best.side for label, best in self.best if label == folder.label] or [self.page.sides[0]]
        return {self.cells[folder.label, side]: sides.count(side) / len(sides) for side in dict.fromkeys(sides)}


class _Column:
    """The scores of one judge."""

    def __init__(self, summaries: _Summaries, judge: JudgeNote, rows: Sequence[int]) -> None:
        self.summaries, self.judge, self.page = summaries, judge, summaries.page
        best = [summaries.best[row] for row in rows]
        sets = {name: place for place, name in enumerate(self.page.sets)}
        self.table = RatedScores(
            scores=np.array([row.scores[judge.name] for _, row in best], dtype=float),
            sets=np.array([sets[row.set_id] for _, row in best], dtype=np.intp),
            cells=np.array([summaries.cells[label, row.side] for label, row in best], dtype=np.intp),
            ratings=summaries.ratings[list(rows)],
        )
        self.words = np.array([n_words(row.text or "") for _, row in best], dtype=float)

    def number(
        self,
        kind: Literal["mean", "difference", "gap"],
        folder: JudgedFolder,
        parts: Parts,
        *,
        reference: JudgedFolder | None = None,
        side: str | None = None,
    ) -> PeoplesNumber:
        """What people would say of a sum of cells' means, or why that is not known."""
        table = self.table.of(parts)
        n, n_sets = int(table.is_rated.sum()), len(np.unique(table.sets[table.is_rated]))
        reason = self._reason(parts, n_sets) or (self._apart(parts) if kind != "mean" else "")
        common = {
            "kind": kind, "measure": self.judge.name, "system": folder.label, "k": folder.k, "side": side,
            "reference": reference.label if reference else "", "reference_k": reference.k if reference else 0,
            "n": n, "n_sets": n_sets,
            "judge": self._judged(folder, reference, parts, side),
        }  # fmt: skip
        alone = None if reason else infer(self.table, parts, 0.0)
        if alone is None or alone.error <= NOISE:
            reason = reason or "all rated ones have one score"
            return PeoplesNumber.model_validate({**common, "alone": Number(), "reason": reason})
        numbers = infer(self.table, parts)
        needed = numbers.ratings_for(0.5, n)
        more = math.ceil(needed) - n if needed <= len(table.scores) else None
        worth = min(alone.ratings_for(numbers.error / alone.error, n), len(table.scores))
        by_set = {self.page.sets[place]: value for place, value in numbers.by_set.items()}
        return PeoplesNumber.model_validate(
            {
                **common, **self._bounds(numbers), "alone": Number.model_validate(self._bounds(alone)), "error": numbers.error,
                "degrees": numbers.degrees, "worth": worth, "more": more,
                "by_set": what_sets_say(by_set.get(name, math.nan) for name in self.page.sets),
            }
        )  # fmt: skip

    def _bounds(self, inference: Inference) -> dict[str, float]:
        reach = inference.reach(self.page.level)
        return {"value": inference.value, "low": inference.value - reach, "high": inference.value + reach}

    def _judged(self, folder: JudgedFolder, reference: JudgedFolder | None, parts: Parts, side: str | None) -> Number:
        """What the page says by the judge; of gaps of sides, which it has in other forms, the value."""
        if side is None:
            of_judge = (each for each in self.page.scores if each.side is None and each.measure == self.judge.name)
            systems = SystemPair(folder.label, k=folder.k)
            if reference:
                systems = replace(systems, reference=reference.label, reference_k=reference.k)
            of_page = next((each for each in of_judge if _systems(each) == systems), Number())
            return Number(value=of_page.value, low=of_page.low, high=of_page.high)
        means = {cell: self.table.scores[self.table.cells == cell] for cell in parts}
        known = all(len(scores) for scores in means.values())
        return Number(value=sum(part * means[cell].mean() for cell, part in parts.items()) if known else None)

    def _apart(self, parts: Parts) -> str:
        """Why cells cannot be compared that other people rated, whose severity would be the difference; "" where they can."""
        is_used = {cell: (~np.isnan(self.table.ratings[self.table.cells == cell])).any(axis=0) for cell in parts}
        for first, second in combinations(parts, 2):
            if not (is_used[first] & is_used[second]).any():
                return f"nobody rated both {self.summaries.names[first]} and {self.summaries.names[second]}"
        return ""

    def _reason(self, parts: Parts, n_sets: int) -> str:
        """Why nothing is told of what people would say; "" where it can be."""
        for cell in parts:
            inside = self.table.cells == cell
            n, name = int(self.table.is_rated[inside].sum()), self.summaries.names[cell]
            if n < LEAST_OF_CELL:
                return f"{n} rated of {name}" if inside.any() else f"no score of {name}"
        if n_sets < LEAST_RATED_SETS:
            return f"{counted(n_sets, 'rated set')}, {LEAST_RATED_SETS} are needed"
        if min(selection_p_value(values, self.table, parts) for values in (self.table.scores, self.words)) < SELECTED:
            return "rated ones are not like the others"
        return ""


def _systems(score: Score) -> SystemPair:
    return score.systems if isinstance(score, Difference) else SystemPair(score.system, k=score.k)


def summary_key(best: BestSummary) -> tuple[str, str]:
    """What was summarised, as files of ratings name it, and the text."""
    return rated_name(best.set_id, best.side), (best.text or "").strip()
