"""What a trained judge is worth, as a page: agreement on topics that it never saw, beside what was known before."""

from collections.abc import Iterator

from ...evaluation.pages.blocks import (
    Block,
    Fact,
    Heading,
    NumberCell,
    Page,
    Prose,
    Row,
    Text,
    code,
    estimate,
    listing,
    row,
    table,
)
from ...evaluation.pages.words import counted
from ...judges.benchmark import ATTRIBUTES
from .benchmark_page import agreements, articles, counting, left_out
from .overview import trained_overview
from .study_page import FOOTER, completed
from .training import COMBINED, Gap, Training

SIGNS = {"up": "held at 0 or above", "down": "held at 0 or below", None: ""}
UNSEEN = (
    f"What is called {COMBINED} here are lines that were fitted without the summary's topic, penalty and scales included. The "
    "saved judge is fitted to all topics by the same rule, so on these it would agree better than on others."
)


def page(found: Training) -> Page:
    """The training as blocks."""
    purpose = found.judge.purpose
    whole = next(row for row in found.benchmark.rows if row.side is None)
    attributes = sorted(ATTRIBUTES, key=lambda each: each != purpose)
    made = Page(
        kind="trained judge",
        about=f"{found.benchmark.file}: {articles(whole)}",
        title=_title(found),
        footer=FOOTER.format("training.json"),
        overview=trained_overview(
            found.benchmark, purpose, _title(found), is_above=all(each.is_above for each in found.gaps)
        ),
        warnings=tuple(_warnings(found)),
        findings=(Prose(UNSEEN), *_gaps(found), Prose(counting(found.benchmark, whole), "lead")),
        body=(*(block for attribute in attributes for block in agreements(found.benchmark, attribute)), *_terms(found)),
    )
    facts = _facts(found)
    return completed(made, found.benchmark, left_out(found.benchmark), facts)


def _title(found: Training) -> str:
    own = found.judge.figures[0]
    return (
        f"Trained judge of {found.judge.purpose}: \u03c1 {estimate(own.pooled).shown} on unseen topics, "
        f"{estimate(own.within).shown} within articles"
    )


def _warnings(found: Training) -> Iterator[str]:
    if below := [each.other for each in found.gaps if not each.is_above]:
        yield f"No clear gain over {', '.join(below)}: an interval of the difference includes zero or lies below it."
    if unknown := found.benchmark.topics_unknown:
        yield (
            f"The topic of {counted(unknown, 'article')} is unknown, so each stands for a topic of its own. If several are of "
            "one, the lines have seen what they are tried on, and the agreement is too high; --evidence FILE tells the authors' "
            "topics."
        )


def _gaps(found: Training) -> Iterator[Block]:
    yield Heading("Gain", lead=f"Agreement of {COMBINED} less that of the others, over the same topics.")
    heads = ("less", "\u03c1 pooled", "\u03c1 by article", "")
    yield table("gain", heads, map(_row, found.gaps))


def _row(gap: Gap) -> Row:
    pooled, own = (estimate(each, sign=True) for each in (gap.pooled, gap.within))
    said = Text("above by both", tone="better") if gap.is_above else Text("no clear gain", tone="unsure")
    return row(f"{gap.other}, turned round" if gap.is_reversed else gap.other, pooled, own, said)


def _terms(found: Training) -> Iterator[Block]:
    yield Heading(
        "The line",
        lead="What a feature adds where it is one standard deviation above its mean; features that say the same share it.",
    )
    yield listing(
        "line",
        found.judge.features,
        {
            "feature": lambda each: each.name,
            "adds": lambda each: NumberCell(each.coefficient, places=4, sign=True),
            "mean": lambda each: NumberCell(each.mean),
            "least": lambda each: NumberCell(each.least),
            "most": lambda each: NumberCell(each.most),
            "sign": lambda each: SIGNS[each.sign],
        },
    )


def _facts(found: Training) -> Iterator[Fact]:
    judge, data = found.judge, found.judge.trained_on
    least, most = min(found.penalties.values()), max(found.penalties.values())
    yield (
        "trained on",
        f"{counted(data.summaries, 'summary', 'summaries')} of {counted(data.articles, 'article')} in "
        f"{counted(data.topics, 'topic')}; {data.left_out} left out",
    )
    yield "penalty", f"{judge.penalty:g} of {least:g} to {most:g} without a topic; intercept {judge.intercept:.4f}"
    yield from ((member.name, code(member.signature)) for member in judge.members)
