"""The first page of an audit of judges: who agrees with known truth better than length does, and who can be led astray."""

from ....judges.calibration import Agreement, Calibration, JudgeCalibration
from ...pages.blocks import Lane, Mark, Overview, Picture, PicturePart, PictureRow, Text, Tone, bounds
from ...pages.words import TOO_FEW, counted, headline
from .worth import accused_of, standing


def overview(found: Calibration, title: str) -> Overview:
    """The first page.

    Args:
        found: the audit.
        title: its longer sentence.
    """
    better = sum(each.beats_length for each in found.judges)
    accused = sum(bool(each.accusations) for each in found.judges)
    counts = f"{better} of {counted(len(found.judges), 'judge')} above length; {accused} can be led astray"
    return Overview(
        headline=headline(title, counts),
        sure="Clear by intervals" if any(each.has_interval for each in found.judges) else TOO_FEW,
        text=f"{counted(found.n_articles, 'article')} of {counted(found.n_topics, 'topic')}, with summaries of known quality.",
        picture=_picture(found),
    )


def _picture(found: Calibration) -> Picture | None:
    if not found.judges:
        return None
    return Picture(
        name="overview",
        rows_are="judge",
        title="Agreement of every judge with known truth within articles, beside that of length alone",
        parts=(
            PicturePart(
                tuple(map(_row, found.judges)), "", 2, "Spearman\u2019s \u03c1 within articles: 1 agrees, 0 is a coin"
            ),
        ),
        keys=(
            "clear: the judge",
            "unsure: the length of the summary alone",
            f"interval: {100 * found.level:g} % interval",
        ),
    )


def _row(judge: JudgeCalibration) -> PictureRow:
    said = standing(judge)
    accused = accused_of(judge).text
    lanes = (
        Lane("judge", _marks(judge.own, said.tone or "neutral"), is_clear=True),
        Lane("length", _marks(judge.length, "unsure")),
    )
    verdict = Text(said.text, note=f"accused of {accused}" if judge.is_tried else accused, tone=said.tone)
    return PictureRow(judge.judge, lanes, note=f"is to measure {judge.purpose}", verdict=verdict)


def _marks(found: Agreement, tone: Tone) -> tuple[Mark, ...]:
    value = found.within
    return () if value.value is None else (Mark(value.value, bounds(value), tone),)
