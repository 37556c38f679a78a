"""What a trained judge is worth, as a page: agreement on topics that it never saw, beside what was known before."""

from collections.abc import Iterator

from ...evaluation.pages.blocks import (
    Block,
    Fact,
    Heading,
    NumberCell,
    Overview,
    Page,
    Prose,
    Text,
    code,
    estimate,
    listing,
)
from ...evaluation.pages.words import counted, headline
from ...judges.benchmark import ATTRIBUTES
from .benchmark_page import about, agreement_picture, agreements, counting, left_out
from .study_page import CLEAR, study_page
from .training import COMBINED, Training

SIGNS = {"up": "held at 0 or above", "down": "held at 0 or below", None: ""}
UNSEEN = (
    f"What is called {COMBINED} here are lines that were fitted without the summary's topic, penalty and scales included. The "
    "saved judge is fitted to all topics by the same rule, so on these it would agree better than on others."
)


def page(found: Training) -> Page:
    """The training as blocks."""
    study, purpose, own = found.benchmark, found.judge.purpose, found.judge.figures[0]
    attributes = sorted(ATTRIBUTES, key=lambda each: each != purpose)
    title = (
        f"Trained judge of {purpose}: \u03c1 {estimate(own.pooled).shown} on unseen topics, "
        f"{estimate(own.within).shown} within articles"
    )
    return study_page(
        study,
        "training.json",
        body=(*(block for attribute in attributes for block in agreements(study, attribute)), *_terms(found)),
        left_out=left_out(study),
        facts=_facts(found),
        kind="trained judge",
        about=about(study),
        title=title,
        overview=Overview(
            headline=headline(title, f"trained judge of {purpose}"),
            sure=CLEAR if all(each.is_above for each in found.gaps) else "No clear gain",
            text=f"On topics of {study.file} that it was not fitted to, beside every judge that it was made of.",
            picture=agreement_picture(study, (purpose,)),
        ),
        warnings=tuple(_warnings(found)),
        findings=(Prose(UNSEEN), *_gaps(found), counting(study)),
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
    yield listing(
        "gain",
        found.gaps,
        {
            "less": lambda each: f"{each.other}, turned round" if each.is_reversed else each.other,
            "\u03c1 pooled": lambda each: estimate(each.pooled, sign=True),
            "\u03c1 by article": lambda each: estimate(each.within, sign=True),
            "": lambda each: (
                Text("above by both", tone="better") if each.is_above else Text("no clear gain", tone="unsure")
            ),
        },
    )


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
