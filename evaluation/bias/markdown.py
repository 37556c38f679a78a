"""The report of a bias study as Markdown, for pull requests and notes."""

from ..markdown import markdown_table, plain
from ..text_numbers import NONE, number, percent
from .contents import BiasReport, GroupFigures, Measure, Trials
from .findings import LEAST_DOCUMENTS
from .numbers import all_bounds, lean, score, signed_score

INTERVALS = (
    "s draws the assignments of names and genders within each document, d draws the documents. Scores of inclusion and "
    "hallucination cannot fall below 0, so chance alone puts them above; their signed figures are centred on 0. A measure leans "
    "when its d interval, of the signed figure where there is one, leaves out 0 and at least {least} documents count. Of such "
    "verdicts on fair summaries at least {both} lean by chance (groups are told apart in at least {one}), and with few documents "
    "more."
)


def render_markdown(report: BiasReport) -> str:
    """The report as GitHub-flavoured Markdown."""
    parts = [
        f"# {plain(report.title)}",
        f"Bias study `{plain(report.name)}` of {plain(report.summarizer)}. Setting: {plain(report.setting)}; "
        f"{report.n_documents} documents, {report.assignments} assignments each. The full report is index.html beside this file.",
        *(f"> **Warning.** {plain(warning)}" for warning in report.warnings),
        "## By group",
        markdown_table(["figure", *report.groups], group_rows(report)),
        "## Measures",
        markdown_table(
            ["measure", "score", f"{report.level:.0%} intervals", "signed", "verdict"], map(_row, report.measures)
        ),
        how_told(report),
        *(f"**{m.name}.** {plain(m.sentence)} {' '.join(map(plain, m.notes))}" for m in report.measures),
        *(f"**{plain(row.name)}** was not measured: {plain(row.reason)}." for row in report.not_measured),
        "## Summaries",
        markdown_table(
            ["inputs", "documents", "made", "measured", "words", "persons", "of them invented"], _designs(report)
        ),
        "## Left out",
        _left_out(report),
        f"Summarizer: `{plain(report.signature)}`; persons: `{plain(report.recogniser)}`; seed {report.seed}, "
        f"{report.resamples} draws.",
    ]
    return "\n\n".join(parts) + "\n"


def how_told(report: BiasReport) -> str:
    """What the intervals are, when a measure leans, and how often it does by chance."""
    # signed figures may lean to either side, distinguishability to one
    chance = 1 - report.level
    return INTERVALS.format(least=LEAST_DOCUMENTS, both=percent(chance), one=percent(chance / 2))


def group_rows(report: BiasReport) -> list[list[str]]:
    """The figures of each group, figures down and groups across; those that no group has are left out."""
    rows = [
        ["persons in the inputs", *(f"{g.persons:,}" for g in report.by_group)],
        ["of them found in the inputs themselves", *(percent(g.recognised_share) for g in report.by_group)],
        ["of them named in summaries", *(_share(g.kept, g.kept_share) for g in report.by_group)],
        ["name in the summary, missed by the recogniser", *(_missed(g) for g in report.by_group)],
        ["gendered words of the inputs", *(_share(g.input_words, g.input_share) for g in report.by_group)],
        ["gendered words of the summaries", *(_share(g.summary_words, g.summary_share) for g in report.by_group)],
        ["invented persons", *(_share(g.invented, g.invented_share) for g in report.by_group)],
        ["summaries of uniform inputs", *(f"{g.uniform_summaries:,}" for g in report.by_group)],
        ["by words nearer to their own group", *(_won(g.by_words) for g in report.by_group)],
        ["by words equally near to both", *(_tied(g.by_words) for g in report.by_group)],
        ["by embeddings nearer to their own group", *(_won(g.by_embeddings) for g in report.by_group)],
        ["by embeddings equally near to both", *(_tied(g.by_embeddings) for g in report.by_group)],
    ]
    return [row for row in rows if any(cell != NONE for cell in row[1:])]


def _missed(group: GroupFigures) -> str:
    return NONE if group.missed is None or not group.written else _share(group.missed, group.missed / group.written)


def _won(trials: Trials | None) -> str:
    return NONE if trials is None or not trials.n else percent(trials.won / trials.n)


def _tied(trials: Trials | None) -> str:
    return NONE if trials is None or not trials.n else percent(trials.tied / trials.n)


def _share(count: int | None, share: float | None) -> str:
    if count is None:
        return NONE
    return f"{count:,}" if share is None else f"{count:,} ({percent(share)})"


def _row(measure: Measure) -> list[str]:
    signed = measure.signed
    return [
        measure.name,
        score(measure.score),
        all_bounds(measure.intervals),
        f"{signed_score(signed.value)} ({all_bounds(signed.intervals, sign=True)})" if signed else NONE,
        lean(measure),
    ]


def _designs(report: BiasReport) -> list[list[str]]:
    return [
        [
            row.design, str(row.documents), f"{row.inputs:,}", f"{row.summaries:,}", number(row.words, 1),
            number(row.persons, 2), percent(row.invented_share),
        ]
        for row in report.designs
    ]  # fmt: skip


def _left_out(report: BiasReport) -> str:
    if not report.left_out:
        return "Nothing."
    return markdown_table(
        ["stage", "what", "reason", "count"],
        ([row.stage, row.what, row.reason, str(row.count)] for row in report.left_out),
    )
