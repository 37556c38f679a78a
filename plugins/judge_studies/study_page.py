"""What pages on studies of judges have in common: a picture with a row for each judge, what was left out, and how it was made."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ...evaluation.pages.blocks import (
    Block,
    Fact,
    Heading,
    Page,
    Picture,
    PicturePart,
    PictureRow,
    Prose,
    code,
    how_made,
)
from ...evaluation.pages.words import counted
from ...judges.benchmark import Benchmark
from ...judges.calibration import Calibration

CLEAR = "Clear by intervals"


def study_page(
    study: Benchmark | Calibration,
    json: str,
    body: Iterable[Block],
    left_out: Iterable[Block],
    facts: Iterable[Fact],
    **of_page: Any,
) -> Page:
    """A page on a study of judges.

    Args:
        study: what it rests on.
        json: the file beside it that has every number.
        body: its sections, before what was left out and how it was made.
        left_out: what was not tried or scored.
        facts: how it was made, besides the summaries and the intervals.
        of_page: the rest of `Page`.
    """
    intervals = f"{100 * study.level:g} %, Student's t by the jackknife over topics"
    all_facts = (("controlled summaries", code(f"{study.file} {study.digest}")), *facts, ("intervals", intervals))
    footer = f"Every number on this page is in {json} beside it, every judgement in judgements.jsonl."
    sections = (*body, Heading("Left out"), *left_out, *how_made(all_facts, study.versions))
    return Page(body=sections, footer=footer, **of_page)


def texts_of(articles: int, summaries: int) -> str:
    """ "16 articles, 64 summaries"."""
    return f"{counted(articles, 'article')}, {counted(summaries, 'summary', 'summaries')}"


def not_tried(study: Benchmark | Calibration) -> Iterator[Prose]:
    """Judges that were not tried."""
    return (Prose(f"{name}, because {reason}", head="not tried:") for name, reason in study.not_tried.items())


def picture(rows: Sequence[PictureRow], study: Benchmark | Calibration, title: str, scope: str, *keys: str) -> Picture:
    """A row for each judge.

    Args:
        rows: of the picture.
        study: whose agreements they are.
        title: what of the agreement is shown.
        scope: correlation, if not over all summaries.
        keys: of the marks.
    """
    axis = f"Spearman\u2019s \u03c1{f' {scope}' if scope else ''}: 1 agrees, 0 is a coin"
    return Picture(
        name="overview",
        rows_are="judge",
        title=f"Agreement of every judge with known truth {title}",
        parts=(PicturePart(tuple(rows), "", 2, axis),),
        keys=(*keys, f"interval: {100 * study.level:g} % interval"),
    )
