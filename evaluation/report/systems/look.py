"""Example requests on a first page: what two systems wrote, with words marked that only other documents have."""

from collections.abc import Iterator, Mapping, Sequence

from ....fairness.content_tokens import content_tokens
from ...pages.blocks import Block, Heading
from ...pages.marked import marked
from ...pages.numbers import signed
from .contents import Examples, RequestExample

MOST_EXAMPLES = 2


def to_look_at(
    examples: Examples, shown: Sequence[str], plain: Mapping[str, str], *, has_sides: bool
) -> Iterator[Block]:
    """The requests of the largest loss and gain.

    Args:
        examples: in that order.
        shown: systems whose summaries are shown, the last one first.
        plain: what judges are called.
        has_sides: whether there are several sides; else words are marked that no document has.
    """
    if not examples.examples:
        return
    chosen = list(dict.fromkeys((0, len(examples.examples) - 1)))[:MOST_EXAMPLES]
    mark = "words that only the other side\u2019s documents have" if has_sides else "words that no document has"
    selection = "largest loss and largest gain" if len(chosen) > 1 else "an example"
    yield Heading(
        "Look for yourself", lead=f"By {plain.get(examples.measure, examples.measure)}: {selection}. Marked: {mark}."
    )
    for place in chosen:
        yield from _example(examples.examples[place], shown, has_sides=has_sides)


def _example(example: RequestExample, shown: Sequence[str], *, has_sides: bool) -> Iterator[Block]:
    yield Heading(
        example.topic, 3, note=f"{example.side}, {signed(example.difference)}" if len(shown) > 1 else example.side
    )
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
