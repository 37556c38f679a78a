"""The audit of judges as a page: what each is worth beside length, what leads it astray, and what it costs."""

from collections.abc import Iterator

from ...evaluation.pages.blocks import Block, Heading, Overview, Page, Prose, items
from ...evaluation.pages.cells import Column, NumberCell, Table, Text
from ...evaluation.pages.picture import Picture, PictureRow, lane
from ...evaluation.pages.tables import (
    Columns,
    code,
    count,
    estimate,
    estimates_scale,
    group,
    grouped,
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
from .study_page import CLEAR, not_tried, picture, study_page, texts_of, truth_of, warnings_of

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


def page(audit: Calibration) -> Page:
    """The audit as blocks."""
    n_accused, title = sum(bool(judge.accusations) for judge in audit.judges), _title(audit)
    n_better, topics = sum(judge.beats_length for judge in audit.judges), counted(audit.n_topics, "topic")
    judges = counted(len(audit.judges), "judge")
    return study_page(
        audit,
        "calibration.json",
        body=(
            Heading(f"Agreement with {truth_of(audit)}", lead=MEANING),
            *_agreements(audit),
            Heading("What leads a judge astray", lead=PROBES),
            *(block for judge in audit.judges for block in _probes(judge)),
            Heading("Asked again, and cost", lead=AGAIN),
            _again(audit),
        ),
        left_out=items(_left_out(audit), "Everything was tried, and every summary scored."),
        facts=(
            *([("people's scores", ", ".join(audit.human))] if audit.human else []),
            ("date", audit.date),
            *((judge.judge, code(judge.signature)) for judge in audit.judges),
        ),
        kind="audit of judges",
        about=f"{audit.file}: {texts_of(audit.n_articles, audit.n_summaries)}, {topics}",
        title=title,
        overview=Overview(
            headline=headline(title, f"{n_better} of {judges} above length; {n_accused} can be led astray"),
            sure=CLEAR if any(judge.has_interval for judge in audit.judges) else TOO_FEW,
            text=f"{counted(audit.n_articles, 'article')} of {topics}, {_quality(audit)}.",
            picture=_picture(audit) if audit.judges else None,
        ),
        warnings=(*warnings_of(audit), *_warnings(audit)),
        findings=(
            worth_table("judges", {judge.judge: judge for judge in audit.judges}, audit.level),
            *_accusations(audit),
        ),
    )


def _quality(audit: Calibration) -> str:
    if audit.n_raters is None:
        return "with summaries of known quality"
    who = f"{counted(audit.n_raters, 'person', 'people')} scored" if audit.n_raters else "people scored"
    return f"whose summaries {who}"


def _title(audit: Calibration) -> str:
    better = [judge.judge for judge in audit.judges if judge.beats_length]
    accused = [judge.judge for judge in audit.judges if judge.accusations]
    n = len(audit.judges)
    title = f"Of {counted(n, 'judge')}, {len(better)} clearly {'agrees' if len(better) == 1 else 'agree'} better than length"
    if not any(judge.has_interval for judge in audit.judges):
        title = f"What {counted(n, 'judge is', 'judges are')} worth is not clear from so little"
    if accused:
        return f"{title}; {joined(accused, 4)} can be led astray"
    n_tried = sum(judge.is_tried for judge in audit.judges)
    return (
        f"{title}; {'none' if n_tried == n else f'of {n_tried} none'} failed what could be tried" if n_tried else title
    )


def _picture(audit: Calibration) -> Picture:
    """A row for each judge: its agreement beside that of length, and what is concluded of it."""
    rows = []
    for judge in audit.judges:
        outcome, accused = standing(judge), accused_of(judge).text
        lanes = (
            lane(judge.own.within, "judge", outcome.tone or "neutral", is_clear=True),
            lane(judge.length.within, "length", "unsure", is_clear=False),
        )
        note = f"accused of {accused}" if judge.is_tried else accused
        verdict = Text(outcome.text, note=note, tone=outcome.tone)
        rows.append(PictureRow(judge.judge, lanes, note=f"is to measure {judge.purpose}", verdict=verdict))
    keys = "clear: the judge", "unsure: the length of the summary alone"
    return picture(rows, audit, "within articles, beside that of length alone", "within articles", *keys)


def _warnings(audit: Calibration) -> Iterator[str]:
    if caution := too_few(audit.n_topics, subject="The audit", unit="topic"):
        yield caution
    if audit.topics_unknown:
        yield (
            f"The topic of {counted(audit.topics_unknown, 'article')} is unknown, so each stands for a topic of its own. If "
            "several are of one, the intervals are too narrow and faults are found too often."
        )
    for judge in audit.judges:
        if judge.scores_nothing:
            yield f"{judge.judge} scores nothing: every summary is left unscored."
        elif judge.is_constant:
            yield f"{judge.judge} is constant: every summary has the same score."
        elif judge.has_interval and not judge.has_agreement:
            yield f"{judge.judge}: no agreement with {judge.purpose} could be shown."


def _accusations(audit: Calibration) -> Iterator[Block]:
    return items(
        Prose(f"{capital(probe.note)}: {with_interval(estimate(probe, 2, sign=True))}.", head=f"{judge.judge}:")
        for judge in audit.judges
        for probe in judge.accusations
    )


def _agreements(audit: Calibration) -> Iterator[Block]:
    for purpose, judges in grouped(audit.judges, lambda judge: judge.purpose).items():
        baselines = {agreement.of: agreement for judge in judges for agreement in judge.beside}
        columns: Columns[tuple[str, Agreement, Agreement | None]] = {
            "judge": lambda row: row[0],
            "\u03c1 within articles": lambda row: estimate(row[1].within, 2),
            "plot": lambda row: strip([(row[1].within, 0)]),
            "\u03c1 pooled": lambda row: estimate(row[1].pooled, 2),
            "with the other attribute, within": lambda row: estimate(row[2].within, 2) if row[2] else NumberCell(None),
            "articles": lambda row: count(row[1].within.n),
        }
        groups = [
            group(rows_of(((judge.judge, judge.own, judge.other) for judge in judges), columns)),
            group(
                rows_of(((name, agreement, None) for name, agreement in baselines.items()), columns), "without a model"
            ),
        ]
        shown = (agreement.within for agreement in (*(judge.own for judge in judges), *baselines.values()))
        yield Heading(purpose, 3)
        yield table(f"agreement with {purpose}", columns, groups, estimates_scale(shown, zero=True))
        yield listing(
            f"{purpose} beside other measures",
            (
                (judge.judge, agreement.of, agreement.difference or Number())
                for judge in judges
                for agreement in judge.beside
            ),
            {
                "judge": lambda row: row[0],
                "less that of": lambda row: row[1],
                "\u03c1 within": lambda row: estimate(row[2], 2, sign=True),
                "verdict": lambda row: row[2].verdict or "",
            },
        )


def _probes(judge: JudgeCalibration) -> Iterator[Block]:
    yield Heading(judge.judge, 3, f"is to measure {judge.purpose}")
    yield listing(
        f"probes of {judge.judge}",
        judge.probes,
        {
            "probe": lambda probe: probe.name,
            Column("question", "long"): lambda probe: Text(probe.question, probe.note, style="long"),
            "effect": lambda probe: estimate(probe, 2, sign=True),
            "adjusted p": lambda probe: NumberCell(probe.adjusted, unit="p"),
            "outcome": lambda probe: Text(probe.verdict or "", style="strong" if probe.verdict == "accused" else ""),
        },
    )


def _again(audit: Calibration) -> Table:
    return listing(
        "asked again",
        audit.judges,
        {
            "judge": lambda judge: judge.judge,
            "flips when asked again": lambda judge: NumberCell(judge.flips_again.value, places=1, unit="%"),
            "flips when turned round": lambda judge: NumberCell(judge.flips_reversed.value, places=1, unit="%"),
            "deviation when asked again, in spreads": lambda judge: NumberCell(judge.repeat, places=2),
            "spread of scores": lambda judge: NumberCell(judge.spread),
            "seconds": lambda judge: NumberCell(judge.cost.seconds, places=1),
            "prompt tokens": lambda judge: NumberCell(judge.cost.prompt_tokens, places=0),
            "unscored": lambda judge: count(judge.unscored),
        },
    )


def _left_out(audit: Calibration) -> Iterator[Prose]:
    yield from not_tried(audit)
    alike = ((name, reason, judge.judge) for judge in audit.judges for name, reason in judge.untried.items())
    for (name, reason), rows in grouped(alike, lambda row: row[:2]).items():
        names = "every judge" if len(rows) == len(audit.judges) else joined([judge for *_, judge in rows])
        yield Prose(f"of {names}: {reason}", head=f"probe {name!r} not tried")
    articles = counted(audit.n_articles, "article")
    for judge in audit.judges:
        if judge.n_seen:
            seen = f"{judge.n_seen:,} of {articles}: it was trained on them, or on their topics"
            yield Prose(seen, head=f"not asked of {judge.judge}:")
    if audit.human_left_out:
        yield Prose(f"{counted(audit.human_left_out, 'document')} of people's scores: not finished")
    for judge in audit.judges:
        if judge.unscored:
            unscored = f"{judge.unscored:,} of {judge.n_summaries:,} summaries"
            yield Prose(unscored, head=f"left unscored by {judge.judge}:")
