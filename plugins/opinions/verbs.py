"""`evenhand human opinions`: how people find the opinions of a source represented."""

from pathlib import Path
from typing import Annotated

import typer

from ...cli.door import Verb
from ...cli.inputs import SummaryColumns
from ...cli.outputs import keep_result, refuse_outputs, show_result
from ...errors import DataError


def opinions(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="How people find opinions represented: JSON lines, or a table (.csv, .tsv, .parquet, .xlsx).",
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option(help="JSON file for the scores, opinion by opinion; a page, .report.html, next to it."),
    ] = None,
    texts: Annotated[
        Path | None,
        typer.Option(help="Sources, gold summaries and summaries as JSON lines: adds ROUGE-1 and the opinion graph."),
    ] = None,
    summary_columns: SummaryColumns = None,
) -> None:
    """Perceived Opinion Bias of each summary, and how many call it very fair or very unfair.

    With --texts also ROUGE-1 against gold summaries and the Opinion Interaction Graph, and how they go with what people say. Its
    lines are {"set_id", "units": [...]}, {"set_id", "gold": [...]} and {"set_id", "summary_id", "summary"}.
    """
    from ...corpora.summary_columns import columns_of
    from .labels import opinion_results
    from .labels_page import opinions_page
    from .reader import read_opinions
    from .texts import NO_TEXTS, read_opinion_texts

    if out:
        refuse_outputs(out, ".json", [file, texts] if texts else [file])
    if summary_columns and not texts:
        raise DataError("--summary-columns is of the summaries of --texts and has no effect here; leave it out")
    annotated = read_opinions(file)
    labelled = [(summary.set_id, summary.summary_id) for summary in annotated]
    read = read_opinion_texts(texts, labelled, columns_of(summary_columns)) if texts else NO_TEXTS
    results = opinion_results(annotated, texts=read)
    if out:
        keep_result(results, opinions_page(results), out)
    show_result(opinions_page(results), out)


OPINIONS = Verb(opinions, epilog="Example: evenhand human opinions opinions.jsonl --out opinions.json", at_end=True)
