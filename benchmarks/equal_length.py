"""What judges are worth beside people's scores at equal length: rank correlation within articles, beyond the number of words.

    evenhand judges benchmark reviews.jsonl --ratings ratings.jsonl --judges judges.yaml --out out
    python -m evenhand.benchmarks.equal_length --ratings ratings.jsonl --out out

makes the table "At equal length" of benchmarks/RESULTS.md. By its rule the quickstart's reward is chosen: pairs are held to
nearly equal length there, so what a judge owes to length teaches nothing.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from scipy.stats import ttest_1samp

from ..config.command_line import SingleValues
from ..plugins.judge_studies.ratings.rows import RatingRow
from ..records import Judgement
from ..resampling import Floats
from ..storage import read_jsonl
from .approval import correlation
from .simulate import print_heads, print_row

DIMENSIONS = ("faithfulness", "aspect coverage")
LENGTH = "length"
LEVEL = 0.95


def people_of(rows: Sequence[RatingRow], dimensions: Sequence[str] = DIMENSIONS) -> dict[str, Floats]:
    """Mean score of people by summary, as the judgements name it, (dimensions,)."""
    texts: dict[str, dict[tuple[str, str], dict[str, list[float]]]] = defaultdict(dict)
    for row in rows:
        scores = texts[row.set_id].setdefault((row.summary, row.system), defaultdict(list))
        scores[row.dimension].append(row.score)
    return {
        f"{set_id}#{place}": np.array([np.mean(scores[dimension]) for dimension in dimensions])
        for set_id, of_set in texts.items()
        for place, scores in enumerate(of_set.values())
    }


def at_equal_length(scores: Mapping[str, float], words: Mapping[str, float], people: Mapping[str, Floats]) -> Floats:
    """Rank correlations of a judge with people, given the number of words, (articles, dimensions); nan for constant scores.

    Args:
        scores: of the judge, by summary.
        words: of the summaries.
        people: what they say, by summary.
    """
    articles: dict[str, list[str]] = defaultdict(list)
    for summary in people:
        articles[summary.rpartition("#")[0]].append(summary)
    return np.array(
        [
            correlation(
                np.array([scores.get(summary, np.nan) for summary in names]),
                np.array([people[summary] for summary in names]),
                np.array([[words[summary]] for summary in names]),
            )
            for names in articles.values()
        ]
    )


def said(values: Floats) -> str:
    """Mean over the articles and its interval: ".17 [.05, .28]"."""
    known = values[~np.isnan(values)]
    low, high = ttest_1samp(known, 0).confidence_interval(LEVEL)
    return f"{known.mean():.2f} [{low:.2f}, {high:.2f}]"


def main() -> None:
    """Print the table."""
    parser = SingleValues(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--ratings", type=Path, required=True, help="ratings of every summary, as importers write them")
    parser.add_argument("--out", type=Path, required=True, help="folder of `evenhand judges benchmark` with them")
    options = parser.parse_args()
    people = people_of(read_jsonl(options.ratings, RatingRow))
    by_judge: dict[str, dict[str, float]] = defaultdict(dict)
    for judgement in read_jsonl(options.out / "judgements.jsonl", Judgement):
        if judgement.score is not None:
            by_judge[judgement.judge][judgement.candidate_id] = judgement.score
    words = by_judge.pop(LENGTH)
    print_heads("judge", *DIMENSIONS)
    for name, scores in by_judge.items():
        rho = at_equal_length(scores, words, people)
        print_row(name, *(said(column) for column in rho.T))


if __name__ == "__main__":
    main()
