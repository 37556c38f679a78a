"""What an audit says of one summarizer with the documents in several orders: what gaps follow, their place or the documents."""

from collections.abc import Iterator, Sequence

from ...evaluation.audit.cells import gap
from ...evaluation.pages.blocks import Block, Heading, Prose
from ...evaluation.pages.cells import Column
from ...evaluation.pages.tables import Heads, row, table
from ...evaluation.pages.words import joined
from ...number import Number


def headline(effects: Sequence[Number]) -> str:
    """The third that has clearly less room whatever stands there, or more where none has less."""
    thirds = [effect for effect in effects if effect.measure == "place" and effect.value is not None]
    if not thirds:
        return "Place and documents cannot be separated: documents do not stand in all thirds"
    clear = sorted(
        (effect for effect in thirds if effect.is_clear), key=lambda effect: (effect.verdict != "lower", -effect.size)
    )
    for effect in clear[:1]:
        direction = "less" if effect.verdict == "lower" else "more"
        return f"The {effect.side} of a set has {100 * effect.size:.1f} points {direction} room, whatever stands there"
    return order_sentence(effects, "place").removesuffix(".")


def order_sentence(effects: Sequence[Number], follows: str) -> str:
    """Which thirds have clearly more or less room by their place, or by their documents, in a sentence."""
    thirds = [effect for effect in effects if effect.measure == follows]
    clear = [effect for effect in thirds if effect.is_clear]
    if all(effect.value is None for effect in thirds):
        return "Place and documents cannot be separated: the orders do not move documents through all thirds of their sets."
    is_place = follows == "place"
    where = "Whatever documents stand in it" if is_place else "Wherever they stand"
    if not clear:
        return f"{where}, {'no third of a set has' if is_place else 'the documents of no third have'} clearly more or less room."
    gaps = [f"{100 * effect.size:.1f} points {'less' if effect.verdict == 'lower' else 'more'}" for effect in clear]
    first, *tail = zip(clear, gaps, strict=True)
    subject = f"the {first[0].side} of a set has" if is_place else f"the documents of the {first[0].side} have"
    clauses = [f"{subject} {first[1]} of the room than is expected"]
    clauses += [f"{'the' if is_place else 'those of the'} {effect.side} {gap}" for effect, gap in tail]
    return f"{where}, {joined(clauses)}."


def place_or_documents(effects: Sequence[Number], n_orders: int, value_noun: str) -> Iterator[Block]:
    """What follows the place and what the documents."""
    follows = list(dict.fromkeys(effect.measure for effect in effects))
    yield Heading(
        "Place or documents",
        lead=f"The same documents in {n_orders} orders, over {effects[0].n_sets:,} sets scored in all of them: "
        "gaps in points of room to what is expected of documents written alike, where those by place ask within each "
        f"{value_noun}. First the gap of each third in the order of the file; then the gap of any documents at "
        "that place; then the gap of its documents at any place. The first is about the sum of the others.",
    )
    rows = (
        row(
            third,
            *(
                gap(effect)
                for wanted in follows
                for effect in effects
                if (effect.side, effect.measure) == (third, wanted)
            ),
        )
        for third in dict.fromkeys(effect.side or "" for effect in effects)
    )
    heads: Heads = ("place", *(Column(name, note="" if name == follows[0] else "follows it") for name in follows))
    yield table("place or documents", heads, rows)
    sentences = dict.fromkeys(order_sentence(effects, cause) for cause in ("place", "documents"))
    yield Prose(" ".join(sentences))
