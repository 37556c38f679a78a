"""What the examples of a first page are called: by whether they gained or lost, whichever of the two a high score is."""

import pytest

from evenhand.evaluation.report.systems.contents import Examples, ExampleSummary, JudgeNote, RequestExample
from evenhand.evaluation.report.systems.look import to_look_at


def example(difference: float) -> RequestExample:
    summaries = tuple(ExampleSummary(system=name, text="a ferry", issues=(), scores={}) for name in ("base", "dpo"))
    return RequestExample(
        request_id="r", topic=f"{difference:g}", side="all", difference=difference, summaries=summaries, documents=()
    )


def opened(better: str, *differences: float, shown: tuple[str, ...] = ("dpo", "base")) -> tuple[str, list[str]]:
    examples = Examples(
        comparison="dpo - base", measure="fit", among=9, examples=tuple(map(example, sorted(differences)))
    )
    judge = JudgeNote(name="fit", signature="s", role="report", better=better)
    lead, *headings = (
        block for block in to_look_at(examples, shown, {}, [judge], has_sides=False) if hasattr(block, "level")
    )
    return lead.lead.split(": ")[1].split(".")[0], [heading.text for heading in headings]


@pytest.mark.parametrize(
    ("better", "differences", "said", "topics"),
    [
        ("higher", (-0.2, 0.1, 0.3), "largest loss and largest gain", ["-0.2", "0.3"]),
        ("lower", (-0.2, 0.1, 0.3), "largest loss and largest gain", ["0.3", "-0.2"]),
        ("higher", (0.0, 0.3), "smallest and largest gain", ["0", "0.3"]),
        ("higher", (-0.3, -0.1), "largest and smallest loss", ["-0.3", "-0.1"]),
        ("lower", (-0.3, -0.1), "smallest and largest gain", ["-0.1", "-0.3"]),
        ("higher", (0.1, 0.1), "two examples", ["0.1", "0.1"]),
        ("higher", (0.1, 0.1 + 1e-12), "two examples", ["0.1", "0.1"]),
        ("higher", (0.1,), "an example", ["0.1"]),
    ],
)
def test_examples_are_called_what_they_are(
    better: str, differences: tuple[float, ...], said: str, topics: list[str]
) -> None:
    assert opened(better, *differences) == (said, topics)


def test_of_one_system_there_is_no_gain() -> None:
    assert opened("lower", 0.1, 0.9, shown=("base",)) == ("worst and best", ["0.9", "0.1"])
