"""How fairly summaries represent opinions, as people's labels say, as a page."""

from ...evaluation.pages.blocks import Facts, Heading, Items, Page, Prose, items
from ...evaluation.pages.cells import Column, NumberCell, Table
from ...evaluation.pages.tables import code, count, listing, table
from ...evaluation.pages.words import counted
from .labels import OpinionResults

FOOTER = "Every number on this page is in the JSON file beside it."


def opinions_page(results: OpinionResults) -> Page:
    """How unequally each summary represents the opinions of its source, beside how fair people call it."""
    note = "bias: Perceived Opinion Bias, 0 is fair, over the opinions that somebody labelled; shares of the people who voted."
    note += " ROUGE-1: mean F1 against the gold summaries." if results.rouge_signature else ""
    note += " graph: Opinion Interaction Graph, 0 is fair." if results.graph_signature else ""
    unscored = [
        Prose(f"no {score}, {reason}", head=f"{summary.summary_id}:")
        for summary in results.summaries
        for score, reason in (("bias", summary.unscored), ("graph score", summary.graph_unscored))
        if reason
    ]
    agreements = [
        Prose(
            f"r of {number.measure} and {number.reference} {NumberCell(number.value, places=2).shown} over "
            f"{counted(number.n, 'summary', 'summaries')}",
            head=f"{source.set_id}:",
        )
        for source in results.sources
        for number in source.numbers
    ]
    summary_table, left_out, together = _opinions(results), tuple(items(unscored)), Items(tuple(agreements))
    signatures = {"bias": results.signature, "ROUGE-1": results.rouge_signature, "graph": results.graph_signature}
    heads = ("opinion", Column("mean label", note="\u22121 to 1"))
    opinions = []
    for summary in results.summaries:
        labels = ((opinion, NumberCell(label, places=2, sign=True)) for opinion, label in summary.by_opinion.items())
        opinions.append(table(f"opinions of {summary.summary_id}", heads, labels))
    return Page(
        kind="opinions",
        about=f"{counted(len(results.summaries), 'summary', 'summaries')} of {counted(len(results.sources), 'source')}",
        title="How fairly summaries represent opinions, by the people who read them",
        warnings=(),
        findings=(Prose(note, "lead"),),
        body=(
            Heading("Summaries"),
            summary_table,
            *left_out,
            Heading("How scores go together"),
            together,
            Heading("Opinions"),
            *opinions,
            Heading("How it was made"),
            Facts(tuple((name, code(signature)) for name, signature in signatures.items() if signature)),
        ),
        main=(summary_table, together, Prose(note, "lead"), *left_out),
        footer=FOOTER,
    )


def _opinions(results: OpinionResults) -> Table:
    summary_table = listing(
        "summaries",
        results.summaries,
        {
            "summary": lambda summary: summary.summary_id,
            "people": lambda summary: count(len(summary.annotators)),
            Column("opinions", kind="number"): lambda summary: (
                f"{sum(score is not None for score in summary.by_opinion.values())} of {len(summary.by_opinion)}"
            ),
            "bias": lambda summary: NumberCell(summary.bias),
            "very fair": lambda summary: NumberCell(summary.very_fair, places=2),
            "very unfair": lambda summary: NumberCell(summary.very_unfair, places=2),
            "ROUGE-1": lambda summary: NumberCell(summary.rouge1_f1),
            "graph": lambda summary: NumberCell(summary.graph_bias),
        },
    )
    signatures = {"ROUGE-1": results.rouge_signature, "graph": results.graph_signature}
    return summary_table.without(*(name for name, signature in signatures.items() if signature is None))
