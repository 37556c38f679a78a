"""What pages on studies of judges have in common: a picture with a row for each judge, what was left out, and how it was made."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from ...evaluation.pages.blocks import Block, Details, Fact, Heading, Marked, Overview, Page, Prose, how_made
from ...evaluation.pages.marked import changes, marked
from ...evaluation.pages.numbers import number, percent, places_for
from ...evaluation.pages.picture import Picture, PicturePart, PictureRow
from ...evaluation.pages.tables import code
from ...evaluation.pages.words import capital, counted
from ...judges.benchmark import Benchmark
from ...judges.calibration import Calibration
from ...judges.examples import JudgedPair, JudgedText

CLEAR = "Clear by intervals"
# on the first page
MOST_EXAMPLES = 2
# what is marked in a summary before and after a change, and in one that is in the wrong order
CHANGED, SHARED = "what was changed", "words that the article has, too"


def study_page(
    study: Benchmark | Calibration,
    json: str,
    body: Iterable[Block],
    left_out: Iterable[Block],
    facts: Iterable[Fact],
    *,
    overview: Overview,
    **of_page: Any,
) -> Page:
    """A page on a study of judges.

    Args:
        study: what it rests on.
        json: the file beside it that has every number.
        body: its sections, before what was left out and how it was made.
        left_out: what was not tried or scored.
        facts: how it was made, besides the summaries and the intervals.
        overview: its first page, without examples.
        of_page: the rest of `Page`.
    """
    intervals = f"{100 * study.level:g} %, Student's t by the jackknife over topics"
    all_facts = ((_summaries(study), code(f"{study.file} {study.digest}")), *facts, ("intervals", intervals))
    footer = f"Every number on this page is in {json} beside it, every judgement in judgements.jsonl."
    sections = (
        *body,
        *_all_opened(study.examples),
        Heading("Left out"),
        *left_out,
        *how_made(all_facts, study.versions),
    )
    # a change, where one leads a judge astray, and a pair in the wrong order
    changed, misordered = (
        [pair for pair in study.examples if _is_change(pair) == is_change] for is_change in (True, False)
    )
    first = [*changed[:1], *misordered, *changed[1:]][:MOST_EXAMPLES]
    return Page(body=sections, footer=footer, overview=replace(overview, blocks=tuple(_opened(first))), **of_page)


def _summaries(study: Benchmark | Calibration) -> str:
    return "controlled summaries" if study.n_raters is None else "rated summaries"


def truth_of(study: Benchmark | Calibration) -> str:
    """What judges agree with."""
    return "known truth" if study.n_raters is None else "people"


def _is_change(pair: JudgedPair) -> bool:
    """Whether it is one summary before and after a change, of which nothing needs to be known."""
    return pair.first.known is None


def _opened(pairs: Sequence[JudgedPair]) -> Iterator[Block]:
    """The examples of the first page."""
    if pairs:
        yield Heading("Look for yourself", lead=_marks(pairs))
    for pair in pairs:
        note = ", ".join(filter(None, (pair.side, _subject(pair))))
        yield Heading(pair.topic or pair.article, 3, note=note)
        yield from _texts(pair)


def _all_opened(pairs: Sequence[JudgedPair]) -> Iterator[Block]:
    """All examples, folded."""
    if pairs:
        lead = "The largest change by each probe that a judge failed, and the pairs that are most clearly in the wrong order."
        yield Heading("Examples", lead=f"{lead} {_marks(pairs)}")
    for pair in pairs:
        heading = ", ".join(filter(None, (pair.topic, pair.article)))
        yield Details(heading, tuple(_texts(pair)), _subject(pair), is_example=True)


def _subject(pair: JudgedPair) -> str:
    """Whose example it is, and of what."""
    return f"{pair.judge}, {f'probe {pair.measure!r}' if _is_change(pair) else 'in the wrong order'}"


def _marks(pairs: Sequence[JudgedPair]) -> str:
    changed = {_is_change(pair) for pair in pairs}
    words = [text for is_change, text in ((True, CHANGED), (False, SHARED)) if is_change in changed]
    return f"Marked: {'; '.join(words)}."


def _texts(pair: JudgedPair) -> tuple[Marked, Marked]:
    """Both texts, with what is known of them and what the judge says."""
    places = places_for([pair.first.score, pair.second.score])
    first, second = (
        f"{capital(', '.join(_said(pair, text)))}, score {number(text.score, places)}:"
        for text in (pair.first, pair.second)
    )
    if _is_change(pair):
        return changes(pair.first.text, pair.second.text, (first, second))
    return marked(pair.first.text, pair.first.words, first), marked(pair.second.text, pair.second.words, second)


def _said(pair: JudgedPair, text: JudgedText) -> Iterator[str]:
    if text.label:
        yield text.label
    if text.known is not None:
        yield f"{pair.measure} {number(text.known, 1) if pair.of_people else percent(text.known, 0)}"


def texts_of(articles: int, summaries: int) -> str:
    """ "16 articles, 64 summaries"."""
    return f"{counted(articles, 'article')}, {counted(summaries, 'summary', 'summaries')}"


def warnings_of(study: Benchmark | Calibration) -> tuple[str, ...]:
    """The judges that were not tried, first, as only some warnings stand on the first page; then what is known of the ratings."""
    untried = "; ".join(f"{name} ({reason})" for name, reason in study.not_tried.items())
    return (*[f"Not tried: {untried}."] * bool(untried), *study.notes)


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
        title=f"Agreement of every judge with {truth_of(study)} {title}",
        parts=(PicturePart(tuple(rows), "", 2, axis, has_zero=True),),
        keys=(*keys, f"interval: {100 * study.level:g} % interval"),
    )
