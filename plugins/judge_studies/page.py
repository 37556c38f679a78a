"""The audit of judges as a page: what each is worth beside length, what leads it astray, and what it costs."""

from collections.abc import Iterator

from ...evaluation.pages.blocks import (
    Block,
    Column,
    Columns,
    Heading,
    NumberCell,
    Overview,
    Page,
    Picture,
    PictureRow,
    Prose,
    Table,
    Text,
    code,
    count,
    estimate,
    estimates_scale,
    group,
    grouped,
    items,
    lane,
    listing,
    rows_of,
    strip,
    table,
)
from ...evaluation.pages.words import TOO_FEW, capital, counted, headline, joined, with_interval
from ...evaluation.worth import accused_of, standing, worth_table
from ...judges.calibration import Agreement, Calibration, JudgeCalibration
from ...number import Number
from ...resampling import too_few
from .study_page import CLEAR, not_tried, picture, study_page, texts_of

MEANING = (
    "\u03c1 is Spearman's correlation of scores with what is known of the summaries: 1 is perfect agreement, 0 that of a coin. "
    "Within articles it is the mean of the articles' own, and says whether a judge can choose among summaries of one source; "
    "an article whose summaries all get the same score counts 0. Length is taken in the direction that agrees better. A judge "
    "is above another measure where the interval of the difference, over the same articles, lies above 0."
)
PROBES = (
    "Each summary is asked about once more, changed in one thing that must not change its grade. An effect is in standard "
    "deviations of the judge's scores within an article, and of agreement in correlations. It accuses where it is at least 0.2 "
    "and clear: had each topic as well said the opposite, or articles been dealt otherwise, the largest effect of all probes and "
    "judges of this page would be as large in at most 5 % of the cases. What is only reported is observed, not caused."
)
AGAIN = (
    "Every summary was asked about a second time, past the cache. Flips are shares of an article's pairs of summaries whose "
    "order changes; next to them those when the order of passages and sentences is reversed. Seconds and tokens are of 1,000 "
    "judgements, by the median batch, on the machine that asked."
)


def page(found: Calibration) -> Page:
    """The audit as blocks."""
    n_accused, title = sum(bool(each.accusations) for each in found.judges), _title(found)
    n_better, topics = sum(each.beats_length for each in found.judges), counted(found.n_topics, "topic")
    judges = counted(len(found.judges), "judge")
    return study_page(
        found,
        "calibration.json",
        body=(
            Heading("Agreement with known truth", lead=MEANING),
            *_agreements(found),
            Heading("What leads a judge astray", lead=PROBES),
            *(block for judge in found.judges for block in _probes(judge)),
            Heading("Asked again, and cost", lead=AGAIN),
            _again(found),
        ),
        left_out=items(_left_out(found), "Everything was tried, and every summary scored."),
        facts=(
            *([("people's scores", ", ".join(found.human))] if found.human else []),
            ("date", found.date),
            *((each.judge, code(each.signature)) for each in found.judges),
        ),
        kind="audit of judges",
        about=f"{found.file}: {texts_of(found.n_articles, found.n_summaries)}, {topics}",
        title=title,
        overview=Overview(
            headline=headline(title, f"{n_better} of {judges} above length; {n_accused} can be led astray"),
            sure=CLEAR if any(each.has_interval for each in found.judges) else TOO_FEW,
            text=f"{counted(found.n_articles, 'article')} of {topics}, with summaries of known quality.",
            picture=_picture(found) if found.judges else None,
        ),
        warnings=tuple(_warnings(found)),
        findings=(
            worth_table("judges", {each.judge: each for each in found.judges}, found.level),
            *_accusations(found),
        ),
    )


def _title(found: Calibration) -> str:
    better = [each.judge for each in found.judges if each.beats_length]
    accused = [each.judge for each in found.judges if each.accusations]
    n = len(found.judges)
    said = f"Of {counted(n, 'judge')}, {len(better)} clearly {'agrees' if len(better) == 1 else 'agree'} better than length"
    if not any(each.has_interval for each in found.judges):
        said = f"What {counted(n, 'judge is', 'judges are')} worth is not clear from so little"
    if accused:
        return f"{said}; {joined(accused, 4)} can be led astray"
    n_tried = sum(each.is_tried for each in found.judges)
    return f"{said}; {'none' if n_tried == n else f'of {n_tried} none'} failed what could be tried" if n_tried else said


def _picture(found: Calibration) -> Picture:
    """Every judge beside length, and what is concluded of it."""
    rows = []
    for judge in found.judges:
        said, accused = standing(judge), accused_of(judge).text
        lanes = (
            lane(judge.own.within, "judge", said.tone or "neutral", is_clear=True),
            lane(judge.length.within, "length", "unsure", is_clear=False),
        )
        note = f"accused of {accused}" if judge.is_tried else accused
        verdict = Text(said.text, note=note, tone=said.tone)
        rows.append(PictureRow(judge.judge, lanes, note=f"is to measure {judge.purpose}", verdict=verdict))
    keys = "clear: the judge", "unsure: the length of the summary alone"
    return picture(rows, found, "within articles, beside that of length alone", "within articles", *keys)


def _warnings(found: Calibration) -> Iterator[str]:
    if few := too_few(found.n_topics, subject="The audit", unit="topic"):
        yield few
    if found.topics_unknown:
        yield (
            f"The topic of {counted(found.topics_unknown, 'article')} is unknown, so each stands for a topic of its own. If "
            "several are of one, the intervals are too narrow and faults are found too often."
        )
    for name, why in found.not_tried.items():
        yield f"{name} was not tried: {why}."
    for each in found.judges:
        if each.scores_nothing:
            yield f"{each.judge} scores nothing: every summary is left unscored."
        elif each.is_constant:
            yield f"{each.judge} is constant: every summary has the same score."
        elif each.has_interval and not each.has_agreement:
            yield f"{each.judge}: no agreement with {each.purpose} could be shown."


def _accusations(found: Calibration) -> Iterator[Block]:
    return items(
        Prose(f"{capital(probe.note)}: {with_interval(estimate(probe, 2, sign=True))}.", head=f"{each.judge}:")
        for each in found.judges
        for probe in each.accusations
    )


def _agreements(found: Calibration) -> Iterator[Block]:
    for purpose, mine in grouped(found.judges, lambda each: each.purpose).items():
        others = {beside.of: beside for each in mine for beside in each.beside}
        columns: Columns[tuple[str, Agreement, Agreement | None]] = {
            "judge": lambda each: each[0],
            "\u03c1 within articles": lambda each: estimate(each[1].within, 2),
            "plot": lambda each: strip([(each[1].within, 0)]),
            "\u03c1 pooled": lambda each: estimate(each[1].pooled, 2),
            "with the other attribute, within": lambda each: (
                estimate(each[2].within, 2) if each[2] else NumberCell(None)
            ),
            "articles": lambda each: count(each[1].within.n),
        }
        groups = [
            group(rows_of(((each.judge, each.own, each.other) for each in mine), columns)),
            group(rows_of(((name, each, None) for name, each in others.items()), columns), "without a model"),
        ]
        shown = (each.within for each in (*(judge.own for judge in mine), *others.values()))
        yield Heading(purpose, 3)
        yield table(f"agreement with {purpose}", columns, groups, estimates_scale(shown, zero=True))
        yield listing(
            f"{purpose} beside other measures",
            ((each.judge, beside.of, beside.difference or Number()) for each in mine for beside in each.beside),
            {
                "judge": lambda each: each[0],
                "less that of": lambda each: each[1],
                "\u03c1 within": lambda each: estimate(each[2], 2, sign=True),
                "verdict": lambda each: each[2].verdict or "",
            },
        )


def _probes(judge: JudgeCalibration) -> Iterator[Block]:
    yield Heading(judge.judge, 3, f"is to measure {judge.purpose}")
    yield listing(
        f"probes of {judge.judge}",
        judge.probes,
        {
            "probe": lambda each: each.name,
            Column("question", "long"): lambda each: Text(each.question, each.note, style="long"),
            "effect": lambda each: estimate(each, 2, sign=True),
            "adjusted p": lambda each: NumberCell(each.adjusted, unit="p"),
            "outcome": lambda each: Text(each.verdict or "", style="strong" if each.verdict == "accused" else ""),
        },
    )


def _again(found: Calibration) -> Table:
    return listing(
        "asked again",
        found.judges,
        {
            "judge": lambda each: each.judge,
            "flips when asked again": lambda each: NumberCell(each.flips_again.value, places=1, unit="%"),
            "flips when turned round": lambda each: NumberCell(each.flips_reversed.value, places=1, unit="%"),
            "deviation when asked again, in spreads": lambda each: NumberCell(each.repeat, places=2),
            "spread of scores": lambda each: NumberCell(each.spread),
            "seconds": lambda each: NumberCell(each.cost.seconds, places=1),
            "prompt tokens": lambda each: NumberCell(each.cost.prompt_tokens, places=0),
            "unscored": lambda each: count(each.unscored),
        },
    )


def _left_out(found: Calibration) -> Iterator[Prose]:
    yield from not_tried(found)
    alike = ((name, why, judge.judge) for judge in found.judges for name, why in judge.untried.items())
    for (name, why), mine in grouped(alike, lambda each: each[:2]).items():
        whose = "every judge" if len(mine) == len(found.judges) else joined([judge for *_, judge in mine])
        yield Prose(f"of {whose}: {why}", head=f"probe {name!r} not tried")
    articles = counted(found.n_articles, "article")
    for each in found.judges:
        if each.n_seen:
            seen = f"{each.n_seen:,} of {articles}: it was trained on them, or on their topics"
            yield Prose(seen, head=f"not asked of {each.judge}:")
    if found.human_left_out:
        yield Prose(f"{counted(found.human_left_out, 'document')} of people's scores: not finished")
    for each in found.judges:
        if each.unscored:
            unscored = f"{each.unscored:,} of {each.n_summaries:,} summaries"
            yield Prose(unscored, head=f"left unscored by {each.judge}:")
