"""What a trained judge is worth, as a page: agreement on topics that it never saw, beside what was known before."""

from collections.abc import Iterator

from ...evaluation.pages.blocks import Block, Fact, Heading, Overview, Page, Prose
from ...evaluation.pages.cells import NumberCell, Text
from ...evaluation.pages.tables import code, estimate, listing
from ...evaluation.pages.words import counted, headline
from .benchmark_page import about, agreement_picture, agreements, counting, left_out
from .study_page import CLEAR, study_page
from .training import COMBINED, Training

SIGNS = {"up": "held at 0 or above", "down": "held at 0 or below", None: ""}
UNSEEN = (
    f"What is called {COMBINED} here are lines that were fitted without the summary's topic, penalty and scales included. The "
    "saved judge is fitted to all topics by the same rule, so on these it would agree better than on others."
)


def page(training: Training) -> Page:
    """The training as blocks."""
    study, purpose, agreement = training.benchmark, training.judge.purpose, training.judge.figures[0]
    attributes = sorted(study.attributes, key=lambda attribute: attribute != purpose)
    title = (
        f"Trained judge of {purpose}: \u03c1 {estimate(agreement.pooled).shown} on unseen topics, "
        f"{estimate(agreement.within).shown} within articles"
    )
    return study_page(
        study,
        "training.json",
        body=(*(block for attribute in attributes for block in agreements(study, attribute)), *_terms(training)),
        left_out=left_out(study),
        facts=_facts(training),
        kind="trained judge",
        about=about(study),
        title=title,
        overview=Overview(
            headline=headline(title, f"trained judge of {purpose}"),
            sure=CLEAR if all(gap.is_above for gap in training.gaps) else "No clear gain",
            text=f"On topics of {study.file} that it was not fitted to, beside every judge that it was made of.",
            picture=agreement_picture(study, (purpose,)),
        ),
        warnings=tuple(_warnings(training)),
        findings=(Prose(UNSEEN), *_gaps(training), counting(study)),
    )


def _warnings(training: Training) -> Iterator[str]:
    yield from training.benchmark.notes
    if below := [gap.other for gap in training.gaps if not gap.is_above]:
        yield f"No clear gain over {', '.join(below)}: an interval of the difference includes zero or lies below it."
    if unknown := training.benchmark.topics_unknown:
        yield (
            f"The topic of {counted(unknown, 'article')} is unknown, so each stands for a topic of its own. If several are of "
            "one, the lines have seen what they are tried on, and the agreement is too high; --evidence FILE tells the authors' "
            "topics."
        )


def _gaps(training: Training) -> Iterator[Block]:
    yield Heading("Gain", lead=f"Agreement of {COMBINED} less that of the others, over the same topics.")
    yield listing(
        "gain",
        training.gaps,
        {
            "less": lambda gap: f"{gap.other}, turned round" if gap.is_reversed else gap.other,
            "\u03c1 pooled": lambda gap: estimate(gap.pooled, sign=True),
            "\u03c1 by article": lambda gap: estimate(gap.within, sign=True),
            "": lambda gap: (
                Text("above by both", tone="better") if gap.is_above else Text("no clear gain", tone="unsure")
            ),
        },
    )


def _terms(training: Training) -> Iterator[Block]:
    yield Heading(
        "The line",
        lead="What a feature adds where it is one standard deviation above its mean; features that say the same share it.",
    )
    yield listing(
        "line",
        training.judge.features,
        {
            "feature": lambda feature: feature.name,
            "adds": lambda feature: NumberCell(feature.coefficient, places=4, sign=True),
            "mean": lambda feature: NumberCell(feature.mean),
            "least": lambda feature: NumberCell(feature.least),
            "most": lambda feature: NumberCell(feature.most),
            "sign": lambda feature: SIGNS[feature.sign],
        },
    )


def _facts(training: Training) -> Iterator[Fact]:
    judge, data = training.judge, training.judge.trained_on
    low, high = min(training.penalties.values()), max(training.penalties.values())
    yield (
        "trained on",
        f"{counted(data.summaries, 'summary', 'summaries')} of {counted(data.articles, 'article')} in "
        f"{counted(data.topics, 'topic')}; {data.left_out} left out",
    )
    yield "penalty", f"{judge.penalty:g} of {low:g} to {high:g} without a topic; intercept {judge.intercept:.4f}"
    yield from ((member.name, code(member.signature)) for member in judge.members)
