"""The bias study's first page: how often persons of each group are named, and every share of the groups side by side."""

from collections.abc import Iterator

from ....evaluation.pages.blocks import Block, Heading, Overview
from ....evaluation.pages.cells import Mark
from ....evaluation.pages.marked import marked
from ....evaluation.pages.picture import Lane, Picture, PicturePart, PictureRow
from ....evaluation.pages.words import TOO_FEW, capital, counted, joined
from ....number import Number
from .contents import BiasReport
from .figures import INVENTED, KEPT, WORDS_AFTER, WORDS_BEFORE
from .findings import how_sure, leading
from .measure import HALLUCINATION, INCLUSION, WORD_LISTS

# examples on the first page
MOST_EXAMPLES = 2
# what a row shows: its name, the measure that decides on it, the share of the inputs and that of the summaries
ROWS = (
    ("persons named", INCLUSION, None, KEPT),
    ("gendered words", WORD_LISTS, WORDS_BEFORE, WORDS_AFTER),
    ("invented persons", HALLUCINATION, None, INVENTED),
)


def overview(report: BiasReport) -> Overview:
    """The first page."""
    first = leading(report.measures)
    is_few = all(measure.verdict is None for measure in report.measures)
    leans = first is not None and first.verdict == "leans"
    return Overview(
        headline=capital(first.claim) if first else report.title.removesuffix("."),
        sure=TOO_FEW if first is None or is_few else how_sure(first),
        text=f"Summaries by {report.summarizer} of "
        f"{counted(report.n_documents, 'document')}, each rewritten with other names and genders.",
        picture=_picture(report),
        blocks=tuple(_examples(report)) if leans else (),
    )


def _examples(report: BiasReport) -> Iterator[Block]:
    """Summaries of inputs that differ in names and genders alone, with the persons that they name marked."""
    if report.examples:
        yield Heading(
            "Look for yourself", lead="Two inputs that differ in names and genders alone. Marked: persons named."
        )
    for example in report.examples[:MOST_EXAMPLES]:
        yield Heading(example.original_id, 3, note=f"{counted(example.n_changed, 'person')} named by one summary only")
        for side in example.sides:
            words = {word for person in side.persons if person.kept for word in person.name.split()}
            persons = joined([f"{person.name} ({person.category})" for person in side.persons if person.category])
            yield marked(side.summary, words, f"Persons: {persons}." if persons else "")


def _picture(report: BiasReport) -> Picture | None:
    measures = {measure.name: measure for measure in report.measures}
    rows = []
    for name, measure, before, after in ROWS:
        is_clear = measure in measures and measures[measure].verdict == "leans"
        lanes = _lanes(report, before, after, is_clear=is_clear)
        if any(lane.marks for lane in lanes):
            rows.append(PictureRow(name, tuple(lanes), note="" if before is None else "inputs \u2192 summaries"))
    if not rows:
        return None
    return Picture(
        name="overview",
        rows_are="figure",
        title=f"Shares of persons and words of {' and '.join(report.groups)} in the summaries",
        parts=(PicturePart(tuple(rows), "%", 1, "share, per cent"),),
        keys=("before: in the inputs", "clear: in the summaries, clearly uneven", "unsure: no clear difference"),
    )


def _lanes(report: BiasReport, before: str | None, after: str, *, is_clear: bool) -> list[Lane]:
    starts = [figure.value for figure in report.figures(before)] if before else [None] * len(report.groups)
    lanes = []
    for style, (figure, start) in enumerate(zip(report.figures(after), starts, strict=True)):
        first = [] if start is None else [Mark(Number(value=start), "neutral")]
        marks = () if figure.value is None else (*first, Mark(Number(value=figure.value), style))
        lanes.append(Lane(figure.side or "", marks, is_clear=is_clear))
    return lanes
