"""The report's first page: what training changed, how sure that is, every deciding judge before and after, and two summaries."""

from collections.abc import Iterator, Sequence

from ....number import Number
from ...pages.blocks import Block, Charts, Heading, Overview
from ...pages.cells import Mark, Text
from ...pages.charts import Panel
from ...pages.numbers import Unit, interval, number, said_p, with_unit
from ...pages.picture import Lane, Picture, PictureRow, lane
from ...pages.words import (
    ALL,
    UNSURE,
    counted,
    headline,
)
from ..people.page import people_sentence
from ..systems.contents import Difference, JudgeNote, Report, Score
from ..systems.look import to_look_at
from ..systems.tables import SHARE, better_is, picture_parts
from ..systems.words import how_sure, plain_judges, tally, tone
from .findings import CLAIMS, RERANKING, TRAINING, TRAINING_BEST

# sides that have a line of their own; curves of the training
MOST_SIDES, MOST_CURVES = 3, 2
# what a comparison is called in a headline
STEPS = {TRAINING: "training", TRAINING_BEST: "training", RERANKING: "choosing the best of {k}"}
# and its two systems in the picture
ENDS = {
    TRAINING: ("before training", "after training"),
    TRAINING_BEST: ("before training", "after training"),
    RERANKING: ("one draw", "the best of {k}"),
}


def overview(report: Report, curves: Sequence[Panel]) -> Overview:
    """The first page.

    Args:
        report: the report.
        curves: the first plots of its training.
    """
    known = {d.pair for d in report.differences}
    comparison = next((name for name in CLAIMS if name in known), None)
    judges = [judge for judge in report.judges if judge.name in report.deciding]
    overall = [d for d in report.differences if (d.pair, d.side) == (comparison, None)]
    n_sets = max((d.n_sets for d in overall), default=0)
    return Overview(
        headline=_headline(report, comparison, judges, overall),
        sure=how_sure([d for d in overall if d.measure in report.deciding], report.bootstrap.level),
        text=_text(report, comparison, judges, n_sets),
        picture=_picture(report, comparison, judges),
        blocks=(*_curves(curves), *_examples(report)),
    )


def _headline(
    report: Report, comparison: str | None, judges: Sequence[JudgeNote], overall: Sequence[Difference]
) -> str:
    if comparison is None:
        return headline(report.title)
    step = STEPS[comparison].format(k=report.candidates)
    verdicts, n = tally(judges, overall), len(judges)
    better, worse = len(verdicts["better"]), len(verdicts["worse"])
    if not better and not worse:
        return headline(report.title, f"{step} made no clear difference")
    if better and worse:
        return headline(f"{step} made summaries better by {better} and worse by {worse} of {n} judges")
    word, n_clear = ("better", better) if better else ("worse", worse)
    by_judges = f"all {n} judges" if n_clear == n > 1 else "the judge" if n == 1 else f"{n_clear} of {n} judges"
    plain = plain_judges(report.provenance.recipe, judges, has_sides=len(report.sides) > 1)
    named = [f"{word} after {step}: {plain[next(iter(verdicts[word]))]} ({by_judges})"] if n_clear == 1 < n else []
    return headline(*named, f"{step} made summaries {word} by {by_judges}")


def _text(report: Report, comparison: str | None, judges: Sequence[JudgeNote], n_sets: int) -> str:
    """The number of sets that the headline rests on, and the verdicts of the other comparisons."""
    sentences = [f"One draw each, {counted(n_sets, 'unseen document set')}."] if comparison else []
    for pair, (heading, _) in CLAIMS.items():
        differences = [d for d in report.differences if (d.pair, d.side) == (pair, None)]
        if pair != comparison and differences:
            verdicts = [
                f"{word} by {len(names)}"
                for word, names in tally(judges, differences).items()
                if names and word != UNSURE
            ]
            verdict = f"{' and '.join(verdicts)} of {len(judges)}" if verdicts else UNSURE
            sentences.append(f"{heading.format(k=report.candidates)}: {verdict}.")
    gains = [g for g in report.gain_gaps if g.pair == comparison and g.measure in report.deciding and g.is_clear]
    sentences += [f'Side "{gap.best}" gains more than "{gap.worst}" by {gap.measure}.' for gap in gains[:1]]
    if len(report.sides) > 1 and comparison and not gains:
        sentences.append("No side clearly gains more than another.")
    return " ".join(filter(None, [*sentences, people_sentence(report.people)]))


def _picture(report: Report, comparison: str | None, judges: Sequence[JudgeNote]) -> Picture | None:
    if not judges or not report.scores:
        return None
    plain = plain_judges(report.provenance.recipe, judges, has_sides=len(report.sides) > 1)
    before, after = (end.format(k=report.candidates) for end in ENDS.get(comparison or "", ("", report.systems[0])))
    level = f"{100 * report.bootstrap.level:g} %"
    return Picture(
        name="overview",
        rows_are="judge",
        title=f"Scores by every judge that decides, under {f'{before} and {after}' if before else after}, by side",
        parts=picture_parts(judges, lambda judge: _row(report, comparison, judge, plain[judge.name])),
        keys=(
            *([f"before: {before}"] if before else []),
            f"clear: {after}, clearly {'better or worse' if before else 'known'}",
            *([f"unsure: {after}, {UNSURE}"] if before else []),
            f"interval: {level} interval{' of the difference' if before else ''}",
        ),
    )


def _row(report: Report, comparison: str | None, judge: JudgeNote, name: str) -> PictureRow:
    sides = report.sides if 1 < len(report.sides) <= MOST_SIDES else ()
    means = {(e.system, e.side): e for e in report.scores if e.measure == judge.name}
    if comparison is None:
        alone = [
            lane(means[report.systems[0], side], side or ALL, 0, is_clear=True)
            for side in (None, *sides)
            if (report.systems[0], side) in means
        ]
        return PictureRow(name, tuple(alone), note=better_is(judge))
    by_side = {d.side: d for d in report.differences if (d.measure, d.pair) == (judge.name, comparison)}
    before = comparison.split(" - ")[1]
    lanes = (
        _lane(by_side[side], means[before, side], judge, side)
        for side in (None, *sides)
        if side in by_side and (before, side) in means
    )
    return PictureRow(
        name, tuple(filter(None, lanes)), note=better_is(judge), verdict=_verdict(by_side.get(None), judge)
    )


def _lane(difference: Difference, before: Score, judge: JudgeNote, side: str | None) -> Lane | None:
    """Before and after, with the interval of the difference laid from where it was before."""
    if before.value is None or difference.value is None:
        return None
    start = before.value
    low, high = (None if bound is None else start + bound for bound in (difference.low, difference.high))
    last = Mark(Number(value=start + difference.value, low=low, high=high), tone(difference, judge))
    return Lane(side or ALL, (Mark(Number(value=start), "neutral"), last), is_clear=difference.is_clear)


def _verdict(difference: Difference | None, judge: JudgeNote) -> Text | None:
    if difference is None or difference.value is None:
        return None
    is_share, verdict_tone = judge.scale == SHARE, tone(difference, judge)
    unit: Unit = "points" if is_share else ""
    places = 1 if is_share else 2
    between = interval(difference.low, difference.high, places, unit, sign=True)
    p = f"; {said_p(difference.adjusted)}" if difference.adjusted is not None else ""
    if verdict_tone == "unsure":
        return Text(
            UNSURE, note=f"{with_unit(difference.value, places, unit, sign=True)} ({between})", tone=verdict_tone
        )
    word = difference.verdict if verdict_tone == "neutral" else verdict_tone
    size = with_unit(abs(difference.value), places, unit, sign=False) if unit else number(abs(difference.value), places)
    return Text(f"{word} by {size}", note=f"{between}{p}", tone=verdict_tone)


def _curves(curves: Sequence[Panel]) -> Iterator[Block]:
    if curves:
        yield Heading("How training went")
        yield Charts(tuple(curves))


def _examples(report: Report) -> Iterator[Block]:
    examples, has_sides = report.examples, len(report.sides) > 1
    if examples:
        plain = plain_judges(report.provenance.recipe, report.judges, has_sides=has_sides)
        yield from to_look_at(examples, examples.comparison.split(" - "), plain, report.judges, has_sides=has_sides)
