"""What judges and counts say of controlled summaries as features, the line that is fitted to them, and what it is worth."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from ...config.needs import Purpose
from ...corpora.controlled import ControlledSet
from ...errors import DataError
from ...judges.benchmark import Benchmark
from ...number import Number
from ...records import Judgement, Record
from ...resampling import LEAST_SETS, Floats
from .agreement import correlation, lead_pooled, lead_within
from .combination import COUNTED, Combination, Feature, Sign
from .combined import counts
from .line import FittedLine, Held
from .study import JudgeStudy

# what the trained line is called beside its judges
COMBINED = "combined"


@dataclass(frozen=True)
class FeatureTable:
    """The summaries that can be trained on: those with a truth and every feature."""

    # of the columns
    names: tuple[str, ...]
    rows: Floats  # (summaries, features)
    truths: Floats  # (summaries,)
    # of each row
    topics: tuple[str, ...]
    # set and place of the summary in it, of each row
    places: tuple[tuple[str, int], ...]
    left_out: int

    def held(self, signs: Mapping[str, Sign]) -> Held:
        """Bounds of the coefficients."""
        column_signs = [signs.get(name) for name in self.names]
        low, high = (
            [0.0 if x == "up" else -np.inf for x in column_signs],
            [0.0 if x == "down" else np.inf for x in column_signs],
        )
        return np.array(low), np.array(high)


def features(study: JudgeStudy, purpose: Purpose, *, but: Sequence[str] = ()) -> FeatureTable:
    """The table of a study: judges in order of first appearance, then what is counted.

    Args:
        study: what judges said.
        purpose: which truth is known.
        but: judges that are left out.

    Raises:
        DataError: too few topics are left to learn from.
    """
    judges = [name for name in study.judges if name not in but]
    truths, scores = study.truths[purpose], np.stack([study.scores(name) for name in judges], axis=-1)
    is_known = ~np.isnan(truths) & ~np.isnan(scores).any(axis=-1)
    cells = [(study.sets[row], int(place), study.topics[row]) for row, place in np.argwhere(is_known)]
    topics = tuple(topic for _, _, topic in cells)
    refuse_few_topics(
        topics, f"a known {purpose} and a score by every judge", "add articles, or leave out judges that score few"
    )
    counted = [[*counts(article.summaries[place].text, article.source).values()] for article, place, _ in cells]
    places = tuple((article.id, place) for article, place, _ in cells)
    rows = np.column_stack([scores[is_known], np.array(counted, dtype=float)])
    return FeatureTable((*judges, *COUNTED), rows, truths[is_known], topics, places, study.n_summaries - len(rows))


def refuse_few_topics(topics: Iterable[str], known: str, remedy: str) -> None:
    """Refuse topics too few to learn from.

    Raises:
        DataError: they are.
    """
    if (n := len(set(topics))) < LEAST_SETS:
        raise DataError(
            f"{n} topics have summaries with {known}, but it takes at least {LEAST_SETS} to see what a trained judge is worth on "
            f"another; {remedy}"
        )


def terms(table: FeatureTable, line: FittedLine, signs: Mapping[str, Sign]) -> tuple[Feature, ...]:
    """The line's terms as they are saved."""
    columns = line.coefficients, line.means, line.scales, table.rows.min(axis=0), table.rows.max(axis=0)
    return tuple(
        Feature(name=name, coefficient=coefficient, mean=mean, scale=scale, least=low, most=high, sign=signs.get(name))
        for name, coefficient, mean, scale, low, high in zip(table.names, *map(np.ndarray.tolist, columns), strict=True)
    )


def unseen(table: FeatureTable, predictions: Floats, sets: Sequence[ControlledSet], signature: str) -> list[Judgement]:
    """The predictions of lines that never saw the topic, as judgements of every summary."""
    prediction_by_place = dict(zip(table.places, predictions.tolist(), strict=True))
    return [
        Judgement(
            candidate_id=f"{set_id}#{place}",
            request_id=set_id,
            judge=COMBINED,
            signature=signature,
            score=prediction_by_place.get((set_id, place)),
            unscored=None if (set_id, place) in prediction_by_place else "no truth, or a judge left it unscored",
        )
        for set_id, place in ((article.id, place) for article in sets for place in range(len(article.summaries)))
    ]


class Gap(Record):
    """How much better the trained judge agrees with the truth than another, on topics that it was not fitted to."""

    other: str
    # whether the other agrees better turned round, as length with faithfulness does, and is compared so
    is_reversed: bool
    # by correlation over all summaries, and within articles
    pooled: Number
    within: Number

    @property
    def is_above(self) -> bool:
        """Whether both intervals are above zero."""
        return all(lead.low is not None and lead.low > 0 for lead in (self.pooled, self.within))


class Training(Record):
    """The trained judge with all that is reported of it; `training.json`."""

    format: Literal["evenhand-judge-training/2"] = "evenhand-judge-training/2"
    judge: Combination
    # every judge, and the trained one on topics that it was not fitted to
    benchmark: Benchmark
    # to length, the best ROUGE and the best other judge
    gaps: tuple[Gap, ...]
    # topic -> penalty of the line that did not see it
    penalties: dict[str, float]


def gaps(study: JudgeStudy, purpose: Purpose, rivals: Sequence[str]) -> tuple[Gap, ...]:
    """The trained judge's agreement less each rival's, with Student's t intervals by the jackknife over topics."""
    truths, trained_scores = study.truths[purpose], study.scores(COMBINED)
    leads = []
    for rival in rivals:
        scores = study.scores(rival)
        is_reversed = correlation(truths, scores, chooses=False) < 0
        arguments = truths, trained_scores, -scores if is_reversed else scores, study.topics
        leads.append(
            Gap(other=rival, is_reversed=is_reversed, pooled=lead_pooled(*arguments), within=lead_within(*arguments))
        )
    return tuple(leads)
