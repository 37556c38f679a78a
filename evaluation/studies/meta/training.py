"""What judges and counts say of controlled summaries as features, the line that is fitted to them, and what it is worth."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ....config.combined import COUNTED, Combination, Feature, Sign
from ....config.needs import Purpose
from ....corpora.controlled import ControlledSet, topics_of
from ....errors import DataError
from ....judges.calibration import Figure
from ....judges.combined import counts
from ....records import Judgement, Record
from ....resampling import LEAST_SETS, Floats, TInterval, jackknife_t
from .agreement import STATISTICS, without_topics
from .benchmark import Benchmark
from .line import Held, Line, fit_best, leave_topic_out, moments_by_topic
from .scoring import articles_of, scores_by_judge

# what the trained line is called beside its judges
COMBINED = "combined"


@dataclass(frozen=True)
class Table:
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
        low = [0.0 if signs.get(name) == "up" else -np.inf for name in self.names]
        high = [0.0 if signs.get(name) == "down" else np.inf for name in self.names]
        return Held(np.array(low), np.array(high))


def features(sets: Sequence[ControlledSet], judgements: Sequence[Judgement], purpose: Purpose) -> Table:
    """The table of these sets: judges in order of first appearance, then what is counted.

    Args:
        sets: the controlled sets.
        judgements: of each of their summaries by each judge, in the order of sets and summaries.
        purpose: which truth is known.

    Raises:
        DataError: too few topics are left to learn from.
    """
    judges = list(dict.fromkeys(each.judge for each in judgements))
    scores = {(each.candidate_id, each.judge): each.score for each in judgements}
    rows, truths, topics, places = [], [], [], []
    for each, topic in zip(sets, topics_of(sets), strict=True):
        for place, (summary, truth) in enumerate(zip(each.summaries, each.truths, strict=True)):
            known = [scores[f"{each.id}#{place}", judge] for judge in judges]
            value = getattr(truth, purpose)
            if value is not None and None not in known:
                rows.append([*known, *counts(summary.text, each.source).values()])
                truths.append(value)
                topics.append(topic)
                places.append((each.id, place))
    if len(set(topics)) < LEAST_SETS:
        raise DataError(
            f"{len(set(topics))} topics have summaries with a known {purpose} and a score by every judge, but it takes at least "
            f"{LEAST_SETS} to see what a trained judge is worth on another; add articles, or leave out judges that score few"
        )
    n_all = sum(len(each.summaries) for each in sets)
    table = np.array(rows, dtype=float)
    return Table((*judges, *COUNTED), table, np.array(truths), tuple(topics), tuple(places), n_all - len(rows))


@dataclass(frozen=True)
class Fitted:
    """The line of all topics, and what lines said that never saw the topic."""

    line: Line
    said: Floats  # (summaries,)
    # topic -> penalty of the line that did not see it
    penalties: dict[str, float]


def train(table: Table, signs: Mapping[str, Sign]) -> Fitted:
    """Fit the line, and lines without each topic."""
    held = table.held(signs)
    said, penalties = leave_topic_out(table.rows, table.truths, table.topics, held)
    by_topic = moments_by_topic(table.rows, table.truths, table.topics)
    return Fitted(fit_best(list(by_topic.values()), held), said, penalties)


def terms(table: Table, line: Line, signs: Mapping[str, Sign]) -> tuple[Feature, ...]:
    """The line's terms as they are saved."""
    return tuple(
        Feature(
            name=name,
            coefficient=float(line.coefficients[place]),
            mean=float(line.means[place]),
            scale=float(line.scales[place]),
            low=float(table.rows[:, place].min()),
            high=float(table.rows[:, place].max()),
            sign=signs.get(name),
        )
        for place, name in enumerate(table.names)
    )


def unseen(table: Table, said: Floats, sets: Sequence[ControlledSet], signature: str) -> list[Judgement]:
    """What the lines that never saw the topic said, as judgements of every summary."""
    known = dict(zip(table.places, said, strict=True))
    found = []
    for each in sets:
        for place in range(len(each.summaries)):
            score = known.get((each.id, place))
            found.append(
                Judgement(
                    candidate_id=f"{each.id}#{place}",
                    request_id=each.id,
                    judge=COMBINED,
                    signature=signature,
                    score=None if score is None else float(score),
                    unscored="no truth, or a judge left it unscored" if score is None else None,
                )
            )
    return found


class Gap(Record):
    """How much better the trained judge agrees with the truth than another, on topics that it was not fitted to."""

    other: str
    # whether the other agrees better turned round, as length with faithfulness does, and is compared so
    is_reversed: bool
    pooled: Figure
    by_article: Figure

    @property
    def is_above(self) -> bool:
        """Whether both intervals are above zero."""
        return all(each.low is not None and each.low > 0 for each in (self.pooled, self.by_article))


class Training(Record):
    """All that is reported; `training.json`."""

    judge: Combination
    # every judge, and the trained one on topics that it was not fitted to
    benchmark: Benchmark
    # to length, the best ROUGE and the best other judge
    gaps: tuple[Gap, ...]
    # topic -> penalty of the line that did not see it
    penalties: dict[str, float]


def gaps(
    sets: Sequence[ControlledSet],
    judgements: Sequence[Judgement],
    purpose: Purpose,
    others: Sequence[str],
    level: float,
) -> tuple[Gap, ...]:
    """The trained judge's agreement less each other's, with Student's t intervals by the jackknife over topics."""
    topics, scores = topics_of(sets), scores_by_judge(judgements)
    ours, ours_without = without_topics(articles_of(sets, scores[COMBINED], purpose), topics)
    found = []
    for other in others:
        theirs, theirs_without = without_topics(articles_of(sets, scores[other], purpose), topics)
        pooled = STATISTICS.index("spearman_pooled")
        sign = -1.0 if theirs[pooled] < 0 else 1.0
        rests_on = np.ones(ours_without.shape, dtype=bool)
        gap = jackknife_t(ours - sign * theirs, ours_without - sign * theirs_without, rests_on, level)
        found.append(
            Gap(
                other=other,
                is_reversed=sign < 0,
                pooled=_statistic(gap, pooled),
                by_article=_statistic(gap, STATISTICS.index("spearman_macro")),
            )
        )
    return tuple(found)


def _statistic(found: TInterval, place: int) -> Figure:
    value, low, high, _ = found.at(place)
    return Figure(value=value, low=low, high=high)
