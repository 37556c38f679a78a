"""How fairly summaries represent opinions, as people's labels say, as a page."""

from ...evaluation.pages.blocks import (
    Column,
    Facts,
    Heading,
    Items,
    NumberCell,
    Page,
    Prose,
    Table,
    code,
    count,
    items,
    listing,
    table,
)
from ...evaluation.pages.words import counted
from .labels import OpinionResults

FOOTER = "Every number on this page is in the JSON file beside it."


def opinions_page(found: OpinionResults) -> Page:
    """How unequally each summary represents the opinions of its source, beside how fair people call it."""
    note = "bias: Perceived Opinion Bias, 0 is fair, over the opinions that somebody labelled; shares of the people who voted."
    note += " ROUGE-1: mean F1 against the gold summaries." if found.rouge_signature else ""
    note += " graph: Opinion Interaction Graph, 0 is fair." if found.graph_signature else ""
    unscored = [
        Prose(f"no {what}, {reason}", head=f"{each.summary_id}:")
        for each in found.summaries
        for what, reason in (("bias", each.unscored), ("graph score", each.graph_unscored))
        if reason
    ]
    agreements = [
        Prose(
            f"r of {each.measure} and {each.reference} {NumberCell(each.value, places=2).shown} over "
            f"{counted(each.n, 'summary', 'summaries')}",
            head=f"{source.set_id}:",
        )
        for source in found.sources
        for each in source.numbers
    ]
    made, left_out, together = _opinions(found), tuple(items(unscored)), Items(tuple(agreements))
    signatures = {"bias": found.signature, "ROUGE-1": found.rouge_signature, "graph": found.graph_signature}
    heads = ("opinion", Column("mean label", note="\u22121 to 1"))
    opinions = []
    for each in found.summaries:
        labels = ((opinion, NumberCell(label, places=2, sign=True)) for opinion, label in each.by_opinion.items())
        opinions.append(table(f"opinions of {each.summary_id}", heads, labels))
    return Page(
        kind="opinions",
        about=f"{counted(len(found.summaries), 'summary', 'summaries')} of {counted(len(found.sources), 'source')}",
        title="How fairly summaries represent opinions, by the people who read them",
        warnings=(),
        findings=(Prose(note, "lead"),),
        body=(
            Heading("Summaries"),
            made,
            *left_out,
            Heading("How scores go together"),
            together,
            Heading("Opinions"),
            *opinions,
            Heading("How it was made"),
            Facts(tuple((name, code(signature)) for name, signature in signatures.items() if signature)),
        ),
        main=(made, together, Prose(note, "lead"), *left_out),
        footer=FOOTER,
    )


def _opinions(found: OpinionResults) -> Table:
    whole = listing(
        "summaries",
        found.summaries,
        {
            "summary": lambda each: each.summary_id,
            "people": lambda each: count(len(each.annotators)),
            Column("opinions", kind="number"): lambda each: (
                f"{sum(score is not None for score in each.by_opinion.values())} of {len(each.by_opinion)}"
            ),
            "bias": lambda each: NumberCell(each.bias),
            "very fair": lambda each: NumberCell(each.very_fair, places=2),
            "very unfair": lambda each: NumberCell(each.very_unfair, places=2),
            "ROUGE-1": lambda each: NumberCell(each.rouge1_f1),
            "graph": lambda each: NumberCell(each.graph_bias),
        },
    )
    signatures = {"ROUGE-1": found.rouge_signature, "graph": found.graph_signature}
    return whole.without(*(name for name, signature in signatures.items() if signature is None))
