"""The first page of a benchmark of judges, and of a judge that was trained: every judge's agreement with known truth."""

from collections.abc import Mapping, Sequence

from ...pages.blocks import Lane, Mark, Overview, Picture, PicturePart, PictureRow, bounds
from ...pages.words import counted, headline
from .benchmark import ATTRIBUTES, Benchmark, BenchmarkRow
from .scoring import LENGTH

# no judge's lead over another is tested here; a trained judge's gain is clear by its intervals
NOT_TESTED, CLEAR_GAIN, NO_GAIN = "No lead tested", "Clear by intervals", "No clear gain"


def benchmark_overview(found: Benchmark) -> Overview:
    """Who agrees best with each attribute."""
    rows: dict[tuple[str, str], BenchmarkRow] = {
        (each.judge, each.attribute): each for each in found.rows if each.side is None
    }
    best = []
    for attribute in ATTRIBUTES:
        known = [
            each for each in rows.values() if each.attribute == attribute and each.spearman_pooled.value is not None
        ]
        if known:
            best.append(f"{attribute} by {max(known, key=_pooled).judge}")
    return Overview(
        headline=headline(
            *([f"best agreement: {', '.join(best)}"] if best else []),
            f"agreement of {counted(len(found.signatures), 'judge')} with known truth",
        ),
        sure=NOT_TESTED,
        text=f"Spearman\u2019s \u03c1 over all summaries of {found.file}; length alone is among the judges.",
        picture=agreement_picture(found, rows, ATTRIBUTES, list(found.signatures)),
    )


def trained_overview(found: Benchmark, attribute: str, title: str, *, is_above: bool) -> Overview:
    """A trained judge among those that it was made of.

    Args:
        found: agreement on topics that the judge has not seen.
        attribute: what it is to measure.
        title: of its page.
        is_above: whether it is clearly above all others.
    """
    rows: dict[tuple[str, str], BenchmarkRow] = {
        (each.judge, each.attribute): each for each in found.rows if each.side is None
    }
    return Overview(
        headline=headline(title, f"trained judge of {attribute}"),
        sure=CLEAR_GAIN if is_above else NO_GAIN,
        text=f"On topics of {found.file} that it was not fitted to, beside every judge that it was made of.",
        picture=agreement_picture(found, rows, (attribute,), list(dict.fromkeys(each.judge for each in found.rows))),
    )


def agreement_picture(
    found: Benchmark, rows: Mapping[tuple[str, str], BenchmarkRow], attributes: Sequence[str], judges: Sequence[str]
) -> Picture:
    """A row for each judge, a mark for each attribute."""

    def lane(judge: str, place: int, attribute: str) -> Lane:
        row = rows.get((judge, attribute))
        if row is None or row.spearman_pooled.value is None:
            return Lane(attribute, ())
        agreed = row.spearman_pooled
        is_clear = agreed.low is not None and agreed.low > 0
        return Lane(attribute, (Mark(agreed.value or 0.0, bounds(agreed), place),), is_clear=is_clear)

    drawn = [
        PictureRow(
            judge,
            tuple(lane(judge, k, each) for k, each in enumerate(attributes)),
            note="no judge" if judge == LENGTH else "",
        )
        for judge in judges
    ]
    return Picture(
        name="overview",
        rows_are="judge",
        title="Agreement of every judge with known truth over all summaries",
        parts=(PicturePart(tuple(drawn), "", 2, "Spearman\u2019s \u03c1: 1 agrees, 0 is a coin"),),
        keys=("clear: above 0", "unsure: not clearly above 0", f"interval: {100 * found.level:g} % interval"),
    )


def _pooled(row: BenchmarkRow) -> float:
    return row.spearman_pooled.value or 0.0
