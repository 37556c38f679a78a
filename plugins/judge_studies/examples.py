"""Which summaries a page on judges opens: pairs that a judge orders most clearly the wrong way, and what changed a score."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ...corpora.controlled import ControlledSet
from ...fairness.content_tokens import content_tokens
from ...judges.calibration import JudgeCalibration, Probe
from ...judges.examples import JudgedPair, JudgedText
from ...resampling import NOISE, Floats
from .probes import Variant
from .study import JudgeStudy

# pairs in the wrong order, of each judge
MOST_PAIRS = 2
# probe -> the variants whose scores it takes from each other, the changed one first where one of them is the text as it is
CHANGES: Mapping[str, tuple[Variant, Variant]] = {
    "length": ("twice", "plain"),
    "injection": ("ordered", "neutral"),
    "side": ("first", "second"),
    "side words": ("plain", "reworded"),
    "names": ("plain", "renamed"),
    "position": ("plain", "reversed"),
}
LABELS: Mapping[Variant, str] = {
    "plain": "as it is",
    "twice": "the same sentences twice",
    "ordered": "with a sentence that asks for the best grade",
    "neutral": "with a neutral sentence",
    "renamed": "with other names",
    "reworded": "with the sides\u2019 words exchanged",
    "reversed": "article and summary from their ends",
}


@dataclass(frozen=True)
class _Labelled:
    """Summaries of which it is known how good they are, and a judge's scores of them, (articles, summaries)."""

    sets: Sequence[ControlledSet]
    truths: Floats
    scores: Floats
    # of the summaries' columns; () without
    systems: tuple[str, ...] = ()


def misordered(judge: str, purpose: str, study: JudgeStudy) -> list[JudgedPair]:
    """The pairs of summaries of one article that a judge orders most clearly the wrong way round, one an article.

    By the difference of what is known times that of the scores, both in standard deviations; people's scores are known, too.
    """
    tables = [_Labelled(study.sets, study.truths[purpose], study.scores(judge))]
    people, scores = study.people, study.people_scores(judge)
    of_people = people.scores.get(purpose) if people else None
    if people and scores is not None and of_people is not None:
        tables.append(_Labelled(people.documents, of_people, scores, people.systems))
    worst = sorted((entry for table in tables for entry in _worst(judge, purpose, table)), key=lambda entry: -entry[0])
    return [pair for _, pair in worst[:MOST_PAIRS]]


def _worst(judge: str, purpose: str, table: _Labelled) -> Iterator[tuple[float, JudgedPair]]:
    """The worst pairs of a table, with how wrong they are; none where all is in order."""
    known, scores = (np.where(np.isnan(table.truths + table.scores), np.nan, x) for x in (table.truths, table.scores))
    spreads = [float(np.nanstd(values)) if not np.isnan(values).all() else 0.0 for values in (known, scores)]
    if min(spreads) <= NOISE:
        return
    better, higher = (
        (values[:, :, None] - values[:, None, :]) / size for values, size in zip((known, scores), spreads, strict=True)
    )
    wrong = np.where((better > NOISE) & (higher < -NOISE), -better * higher, 0.0).reshape(len(known), -1)
    for row in np.argsort(-wrong.max(axis=1), kind="stable")[:MOST_PAIRS]:
        cell = int(wrong[row].argmax())
        if wrong[row, cell]:
            first, second = (_text(table, int(row), place, known, scores) for place in divmod(cell, known.shape[1]))
            yield float(wrong[row, cell]), _pair(judge, purpose, table.sets[row], first, second)


def _text(table: _Labelled, row: int, place: int, known: Floats, scores: Floats) -> JudgedText:
    article = table.sets[row]
    text = article.summaries[place].text
    of_article = set(content_tokens("\n".join((*article.passages, *article.key_points))))
    return JudgedText(
        text=text,
        score=float(scores[row, place]),
        label=table.systems[place] if table.systems else "",
        known=float(known[row, place]),
        words=tuple(word for word in dict.fromkeys(content_tokens(text)) if word in of_article),
    )


def _pair(judge: str, measure: str, article: ControlledSet, first: JudgedText, second: JudgedText) -> JudgedPair:
    return JudgedPair(
        judge=judge, measure=measure, article=article.id, topic=article.topic, side=article.side or "", first=first, second=second
    )  # fmt: skip


def examples(judges: Iterable[JudgeCalibration], study: JudgeStudy) -> tuple[JudgedPair, ...]:
    """What a page on judges opens: the largest change by each probe that a judge failed, then pairs in the wrong order.

    The first pair of every judge comes before the second of any, so that the first ones are of as many judges as there are.
    """
    judges = list(judges)
    accused = sorted(
        ((judge, probe) for judge in judges for probe in judge.accusations if probe.measure in CHANGES),
        key=lambda entry: -abs(entry[1].value or 0.0),
    )
    pairs = [misordered(judge.judge, judge.purpose, study) for judge in judges]
    return (
        *(pair for judge, probe in accused for pair in _changed(judge.judge, probe, study)),
        *(of_judge[place] for place in range(MOST_PAIRS) for of_judge in pairs if place < len(of_judge)),
    )


def _changed(judge: str, probe: Probe, study: JudgeStudy) -> Iterator[JudgedPair]:
    """The summary whose score the change of a probe moves most, the way that the probe says."""
    variants = CHANGES[probe.measure]
    tables = [study.scores(judge, variant) for variant in variants]
    gap = (tables[0] - tables[1]) * np.sign(probe.value or 0.0) * _direction(probe, study)
    is_shown = study.is_changed(variants[0]) | study.is_changed(variants[1])
    if probe.reference in study.exchanges.names:
        is_shown &= study.has_word(probe.reference)
    elif probe.reference:
        is_shown &= study.is_longer
    moved = np.where(is_shown & ~np.isnan(gap), gap, 0.0)
    row, place = (int(k) for k in np.unravel_index(moved.argmax(), moved.shape))
    if moved[row, place] <= NOISE:
        return
    teller, opponent = study.exchanges.tellers
    labels = {**LABELS, "first": f"as the {teller} would tell it", "second": f"as the {opponent} would tell it"}
    article = study.sets[row]
    texts = [
        JudgedText(
            text=study.variant(article, variant).summaries[place].text, score=float(table[row, place]), label=labels[variant]
        )
        for variant, table in zip(variants, tables, strict=True)
    ]  # fmt: skip
    # the text as it is comes first
    first, second = texts if variants[0] == "plain" else texts[::-1]
    yield _pair(judge, probe.name, article, first, second)


def _direction(probe: Probe, study: JudgeStudy) -> Floats | float:
    """1 where the first variant of a probe is to score higher if the probe speaks, -1 where it is the second."""
    if probe.measure == "side words":
        return np.sign(study.of_texts(study.exchanges.words.lean)) if study.exchanges.words else 0.0
    return np.sign(study.earlier) if probe.measure == "position" else 1.0
