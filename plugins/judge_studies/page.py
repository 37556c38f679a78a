"""The audit of judges as a page: what each is worth beside length, what leads it astray, and what it costs."""

from collections.abc import Iterator

from ...evaluation.pages.blocks import (
    Block,
    Column,
    Fact,
    Heading,
    NumberCell,
    Page,
    Prose,
    Strip,
    Table,
    Text,
    code,
    count,
    estimate,
    estimates_scale,
    group,
    grouped,
    items,
    listing,
    strip,
    table,
)
from ...evaluation.pages.words import capital, counted, joined, with_interval
from ...evaluation.worth import accused_of, standing
from ...judges.calibration import Agreement, Calibration, JudgeCalibration
from ...number import Number
from ...resampling import too_few
from .overview import audit_overview
from .study_page import FOOTER, completed

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
    made = Page(
        kind="audit of judges",
        about=f"{found.file}: {counted(found.n_articles, 'article')}, {counted(found.n_summaries, 'summary', 'summaries')}, "
        f"{counted(found.n_topics, 'topic')}",
        title=_title(found),
        footer=FOOTER.format("calibration.json"),
        overview=audit_overview(found, _title(found)),
        warnings=tuple(_warnings(found)),
        findings=(_headline(found), *_accusations(found)),
        body=(
            Heading("Agreement with known truth", lead=MEANING),
            *_agreements(found),
            Heading("What leads a judge astray", lead=PROBES),
            *(block for judge in found.judges for block in _probes(judge)),
            Heading("Asked again, and cost", lead=AGAIN),
            _again(found),
        ),
    )
    facts: tuple[Fact, ...] = (
        *([("people's scores", ", ".join(found.human))] if found.human else []),
        ("date", found.date),
        *((each.judge, code(each.signature)) for each in found.judges),
    )
    return completed(made, found, _left_out(found), facts)


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


def _headline(found: Calibration) -> Table:
    level = f"{100 * found.level:g} % interval"
    return listing(
        "judges",
        found.judges,
        {
            "judge": lambda each: each.judge,
            "is to measure": lambda each: each.purpose,
            Column("\u03c1 within", note=level): lambda each: estimate(each.own.within, 2),
            Column("length's", note=level): lambda each: estimate(each.length.within, 2),
            "beside length": standing,
            "accused of": accused_of,
        },
    )


def _accusations(found: Calibration) -> Iterator[Block]:
    return items(
        Prose(f"{capital(probe.note)}: {with_interval(estimate(probe, 2, sign=True))}.", head=f"{each.judge}:")
        for each in found.judges
        for probe in each.accusations
    )


def _agreements(found: Calibration) -> Iterator[Block]:
    for purpose, mine in grouped(found.judges, lambda each: each.purpose).items():
        others = {beside.of: beside for each in mine for beside in each.beside}
        rows = [
            group(_agreement_row(each.judge, each.own, each.other) for each in mine),
            group((_agreement_row(name, each, None) for name, each in others.items()), "without a model"),
        ]
        axis = estimates_scale((each.within for each in (*(judge.own for judge in mine), *others.values())), zero=True)
        heads = (
            "judge", "\u03c1 within articles", "plot", "\u03c1 pooled", "with the other attribute, within", "articles",
        )  # fmt: skip
        yield Heading(purpose, 3)
        yield table(f"agreement with {purpose}", heads, rows, axis)
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


def _agreement_row(name: str, own: Agreement, other: Agreement | None) -> tuple[Text | NumberCell | Strip, ...]:
    return (
        Text(name), estimate(own.within, 2), strip([(own.within, 0)]), estimate(own.pooled, 2),
        estimate(other.within, 2) if other else NumberCell(None), count(own.within.n),
    )  # fmt: skip


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
    rows = (
        (
            each.judge, NumberCell(each.flips_again.value, places=1, unit="%"),
            NumberCell(each.flips_reversed.value, places=1, unit="%"), NumberCell(each.repeat, places=2), NumberCell(each.spread),
            NumberCell(each.cost.seconds, places=1), NumberCell(each.cost.prompt_tokens, places=0), count(each.unscored),
        )
        for each in found.judges
    )  # fmt: skip
    heads = (
        "judge", "flips when asked again", "flips when turned round", "deviation when asked again, in spreads",
        "spread of scores", "seconds", "prompt tokens", "unscored",
    )  # fmt: skip
    return table("asked again", heads, rows)


def _left_out(found: Calibration) -> Iterator[Block]:
    untried = [Prose(f"{name}, because {why}", head="not tried:") for name, why in found.not_tried.items()]
    alike = ((name, why, judge.judge) for judge in found.judges for name, why in judge.untried.items())
    probes = grouped(alike, lambda each: each[:2])
    untried += [
        Prose(
            f"of {'every judge' if len(mine) == len(found.judges) else joined([judge for *_, judge in mine])}: {why}",
            head=f"probe {name!r} not tried",
        )
        for (name, why), mine in probes.items()
    ]
    untried += [
        Prose(
            f"{each.n_seen:,} of {counted(found.n_articles, 'article')}: it was trained on them, or on their topics",
            head=f"not asked of {each.judge}:",
        )
        for each in found.judges
        if each.n_seen
    ]
    if found.human_left_out:
        untried.append(Prose(f"{counted(found.human_left_out, 'document')} of people's scores: not finished"))
    untried += [
        Prose(f"{each.unscored:,} of {each.n_summaries:,} summaries", head=f"left unscored by {each.judge}:")
        for each in found.judges
        if each.unscored
    ]
    yield from items(untried, "Everything was tried, and every summary scored.")
