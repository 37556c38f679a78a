"""Example requests on a first page: what two systems wrote, with words marked that only other documents have."""

from collections.abc import Iterator, Mapping, Sequence

from ....fairness.content_tokens import content_tokens
from ...pages.blocks import Block, Heading
from ...pages.marked import marked
from ...pages.numbers import signed
from .contents import Examples, JudgeNote, RequestExample

MOST_EXAMPLES = 2


def to_look_at(
    examples: Examples,
    shown: Sequence[str],
    plain: Mapping[str, str],
    judges: Sequence[JudgeNote],
    *,
    has_sides: bool,
) -> Iterator[Block]:
    """The requests of the lowest and of the highest difference, the less gain first.

    Args:
        examples: in the order of their differences.
        shown: systems whose summaries are shown, the last one first.
        plain: what judges are called.
        judges: of the page.
        has_sides: whether there are several sides; else words are marked that no document has.
    """
    if not examples.examples:
        return
    is_lower_better = any(judge.name == examples.measure and judge.better == "lower" for judge in judges)
    chosen = examples.examples[:: max(len(examples.examples) - 1, 1)][:: -1 if is_lower_better else 1][:MOST_EXAMPLES]
    mark = "words that only the other side\u2019s documents have" if has_sides else "words that no document has"
    selection = _selection([-e.difference if is_lower_better else e.difference for e in chosen], len(shown))
    yield Heading(
        "Look for yourself", lead=f"By {plain.get(examples.measure, examples.measure)}: {selection}. Marked: {mark}."
    )
    for example in chosen:
        yield from _example(example, shown, has_sides=has_sides)


def _selection(gains: Sequence[float], n_systems: int) -> str:
    """ "largest loss and largest gain"; of one system alone lowest and highest score."""
    low, high = min(gains), max(gains)
    # as they are written
    if len(gains) == 1 or signed(low) == signed(high):
        return "an example" if len(gains) == 1 else "two examples"
    if n_systems == 1:
        return "worst and best"
    if low >= 0:
        return "smallest and largest gain"
    return "largest and smallest loss" if high <= 0 else "largest loss and largest gain"


def _example(example: RequestExample, shown: Sequence[str], *, has_sides: bool) -> Iterator[Block]:
    side = example.side if has_sides else ""
    difference = signed(example.difference) if len(shown) > 1 else ""
    yield Heading(example.topic, 3, note=", ".join(filter(None, (side, difference))))
    side_words = {
        word
        for side, text in example.documents
        if side in ("", example.side) or not has_sides
        for word in content_tokens(text)
    }
    other_words = {word for side, text in example.documents if side != example.side for word in content_tokens(text)}
    for summary in sorted(
        (summary for summary in example.summaries if summary.system in shown),
        key=lambda summary: -shown.index(summary.system),
    ):
        words = set(content_tokens(summary.text))
        yield marked(
            summary.text or "(empty)",
            (words & other_words) - side_words if has_sides else words - side_words,
            f"{summary.system}:",
        )
