"""The first pages of studies of judges: every judge's agreement with known truth, as a picture with a row for each judge."""

from collections.abc import Sequence

from ...config.needs import Purpose
from ...evaluation.pages.blocks import Lane, Mark, Overview, Picture, PicturePart, PictureRow, Text, Tone
from ...evaluation.pages.words import TOO_FEW, counted, headline
from ...evaluation.worth import accused_of, standing
from ...judges.benchmark import ATTRIBUTES, Benchmark, BenchmarkRow
from ...judges.calibration import LENGTH, Calibration, JudgeCalibration
from ...number import Number

# no judge's lead over another is tested in a benchmark; a trained judge's gain is clear by its intervals
NOT_TESTED, CLEAR, NO_GAIN = "No lead tested", "Clear by intervals", "No clear gain"


def audit_overview(found: Calibration, title: str) -> Overview:
    """Who agrees with known truth better than length does, and who can be led astray.

    Args:
        found: the audit.
        title: its longer sentence.
    """
    better = sum(each.beats_length for each in found.judges)
    accused = sum(bool(each.accusations) for each in found.judges)
    counts = f"{better} of {counted(len(found.judges), 'judge')} above length; {accused} can be led astray"
    return Overview(
        headline=headline(title, counts),
        sure=CLEAR if any(each.has_interval for each in found.judges) else TOO_FEW,
        text=f"{counted(found.n_articles, 'article')} of {counted(found.n_topics, 'topic')}, with summaries of known quality.",
        picture=_picture(
            [_audited(each) for each in found.judges],
            "within articles, beside that of length alone",
            "within articles",
            ("clear: the judge", "unsure: the length of the summary alone"),
            found.level,
        )
        if found.judges
        else None,
    )


def benchmark_overview(found: Benchmark) -> Overview:
    """Who agrees best with each attribute."""
    best = [f"{attribute} by {highest.judge}" for attribute in ATTRIBUTES if (highest := best_of(found, attribute))]
    return Overview(
        headline=headline(
            *([f"best agreement: {', '.join(best)}"] if best else []),
            f"agreement of {counted(len(found.signatures), 'judge')} with known truth",
        ),
        sure=NOT_TESTED,
        text=f"Spearman\u2019s \u03c1 over all summaries of {found.file}; length alone is among the judges.",
        picture=_benchmarked(found, ATTRIBUTES),
    )


def best_of(found: Benchmark, attribute: str) -> BenchmarkRow | None:
    """The judge whose correlation with an attribute is the highest, over all articles; None where none has one."""
    rows = [each for each in found.rows if (each.attribute, each.side) == (attribute, None)]
    return max(
        (each for each in rows if each.pooled.value is not None),
        key=lambda each: each.pooled.value or 0.0,
        default=None,
    )


def trained_overview(found: Benchmark, attribute: Purpose, title: str, *, is_above: bool) -> Overview:
    """A trained judge among those that it was made of.

    Args:
        found: agreement on topics that the judge has not seen.
        attribute: what it is to measure.
        title: of its page.
        is_above: whether it is clearly above all others.
    """
    return Overview(
        headline=headline(title, f"trained judge of {attribute}"),
        sure=CLEAR if is_above else NO_GAIN,
        text=f"On topics of {found.file} that it was not fitted to, beside every judge that it was made of.",
        picture=_benchmarked(found, (attribute,)),
    )


def _benchmarked(found: Benchmark, attributes: Sequence[Purpose]) -> Picture:
    """A row for each judge, a mark for each attribute."""
    agreed = {(each.judge, each.attribute): each.pooled for each in found.rows if each.side is None}
    rows = []
    for judge in dict.fromkeys(each.judge for each in found.rows):
        lanes = []
        for place, attribute in enumerate(attributes):
            number = agreed[judge, attribute]
            lanes.append(Lane(attribute, _marks(number, place), is_clear=(number.low or 0.0) > 0))
        rows.append(PictureRow(judge, tuple(lanes), note="no judge" if judge == LENGTH else ""))
    keys = "clear: above 0", "unsure: not clearly above 0"
    return _picture(rows, "over all summaries", "", keys, found.level)


def _audited(judge: JudgeCalibration) -> PictureRow:
    said, accused = standing(judge), accused_of(judge).text
    lanes = (
        Lane("judge", _marks(judge.own.within, said.tone or "neutral"), is_clear=True),
        Lane("length", _marks(judge.length.within, "unsure")),
    )
    verdict = Text(said.text, note=f"accused of {accused}" if judge.is_tried else accused, tone=said.tone)
    return PictureRow(judge.judge, lanes, note=f"is to measure {judge.purpose}", verdict=verdict)


def _picture(rows: Sequence[PictureRow], title: str, which: str, keys: tuple[str, str], level: float) -> Picture:
    """A row for each judge.

    Args:
        rows: of the picture.
        title: what of the agreement is shown.
        which: correlation, if not over all summaries.
        keys: of the marks.
        level: of the intervals.
    """
    axis = f"Spearman\u2019s \u03c1{f' {which}' if which else ''}: 1 agrees, 0 is a coin"
    return Picture(
        name="overview",
        rows_are="judge",
        title=f"Agreement of every judge with known truth {title}",
        parts=(PicturePart(tuple(rows), "", 2, axis),),
        keys=(*keys, f"interval: {100 * level:g} % interval"),
    )


def _marks(number: Number, style: int | Tone) -> tuple[Mark, ...]:
    return () if number.value is None else (Mark(number, style),)
