"""Which summaries people rate next: drawn at random, evenly of each system and side.

Evenly, because systems differ more than anything that a judge knows of their summaries; at random within, because only then do
ratings speak of the summaries that nobody rated. That drawing whole document sets, or by strata of a judge's score, gains no more
was simulated: benchmarks/RESULTS.md#would-say.
"""

from collections.abc import Mapping
from itertools import chain, zip_longest
from pathlib import Path

import numpy as np

from ....errors import DataError
from ....evaluation.report.people.build import summary_key
from ....records import BestSummary, SummaryRequest
from ....runfolder.phases import BEST, REQUESTS
from ....storage import read_jsonl
from ....text.cells import csv_text
from ..ratings.articles import RatingsRequest
from ..ratings.rated import read_rated
from .page import phase_folder

COLUMNS = ("id", "summary", "rater", "score")
# id as ratings name it, and text
Summary = tuple[str, str]


def drawn_summaries(systems: Mapping[str, Path], count: int, seed: int, ratings: Path | None) -> list[Summary]:
    """Summaries to rate, in the order in which they are to be: however many are rated, they are a random draw.

    Args:
        systems: label -> a phase's folder, or one of `evenhand score`.
        count: most summaries.
        seed: of the draw.
        ratings: what is rated already, and not drawn again.

    Raises:
        StorageError: a file cannot be read.
        DataError: the ratings are wrong, or nothing is left to rate.
    """
    folders = {label: phase_folder(path) for label, path in systems.items()}
    rated = _rated(folders, ratings) if ratings else set()
    cells: dict[tuple[str, str], dict[Summary, None]] = {}
    for label, folder in folders.items():
        for best in read_jsonl(folder / BEST, BestSummary):
            if best.text and summary_key(best) not in rated:
                cells.setdefault((label, best.side), {})[summary_key(best)] = None
    generator = np.random.default_rng(seed)
    shuffled = [[list(cell)[place] for place in generator.permutation(len(cell))] for cell in cells.values()]
    # one of each cell after the other; what two systems wrote alike is rated once
    in_turn = dict.fromkeys(filter(None, chain.from_iterable(zip_longest(*shuffled))))
    if not in_turn:
        raise DataError(f"{' and '.join(systems)}: every summary is rated already, or there is none")
    return list(in_turn)[:count]


def _rated(folders: Mapping[str, Path], ratings: Path) -> set[Summary]:
    requests = [request for folder in folders.values() for request in read_jsonl(folder / REQUESTS, SummaryRequest)]
    sets = {request.document_set.id: request.document_set for request in requests}
    attribute = next((request.perspective.attribute for request in requests if request.perspective), None)
    articles = read_rated(RatingsRequest(ratings, list(sets.values()), attribute)).sets
    return {(article.id, summary.text) for article in articles for summary in article.summaries}


def rating_sheet(summaries: list[Summary]) -> str:
    """The summaries as a table that `--ratings` reads once people have filled in who they are and what they say."""
    return csv_text([COLUMNS, *((*summary, "", "") for summary in summaries)])
