"""People's scores and their agreement as tables for the terminal: made for 100 columns, whole at 80."""

from collections.abc import Iterator

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from ..text_numbers import number
from .agreement import AnnotatorAgreement, TextAgreement
from .group_agreement import GroupAgreement
from .opinions import OpinionResults, SourceAgreement
from .results import LEAST_SETS, Estimate, HumanResults


def results_table(found: HumanResults) -> RenderableType:
    """The scores of every system and side, and what they rest on."""
    table = _table(padding=0)
    by_side = any(row.side for row in found.rows)
    table.add_column("", overflow="fold", min_width=8, max_width=30)
    if by_side:
        table.add_column("side", overflow="fold", min_width=5, max_width=10)
    for name in ("n", "sets", "coverage", "faithfulness", "incl.", "omit.", "hall.", "words"):
        table.add_column(name, justify="right", no_wrap=True)
    shown = None
    for row in found.rows:
        table.add_row(
            Text(row.system if row.system != shown else "", style="bold"),
            *([Text(row.side or "all", style="" if row.side else "bold")] if by_side else []),
            str(row.n),
            str(row.n_sets),
            _cell(row.coverage),
            _cell(row.faithfulness),
            *(number(each.mean, 2) for each in (row.included, row.omitted, row.hallucinated)),
            number(row.length.mean, 1),
        )
        shown = row.system
    note = (
        f"annotators: {', '.join(found.annotators) or 'none'}; {100 * found.level:g} % intervals from {found.resamples:,} "
        "draws of document sets; incl., omit., hall.: key points a summary; n: annotated summaries; sets: their document sets."
    )
    lines = [f"left out: {each.reason}, {each.side}: {each.count}" for each in found.left_out]
    few = [f"{row.system}, {row.side or 'all'}: {row.n_sets}" for row in found.rows if row.n_sets < LEAST_SETS]
    if few:
        lines.append(f"too few document sets for an interval (fewer than {LEAST_SETS}): {'; '.join(few)}")
    silent = [row for row in found.rows if row.side is None and row.faithfulness.n < row.n]
    lines += [
        f"{row.system}: {row.n - row.faithfulness.n} summaries without key points, so without faithfulness"
        for row in silent
    ]
    return Group(table, Text(note, style="dim"), *(Text(line, style="yellow") for line in lines))


def agreement_table(names: tuple[str, str], found: AnnotatorAgreement) -> RenderableType:
    """The overlap of two annotators' highlights beside that of random ones."""
    table = _table(padding=1)
    table.add_column("highlights in")
    for name in ("overlap", "by chance", "texts", "left out"):
        table.add_column(name, justify="right", no_wrap=True)
    kinds: dict[str, TextAgreement] = {"documents": found.documents, "summaries": found.summaries}
    for kind, each in kinds.items():
        table.add_row(kind, number(each.overlap), number(each.chance), str(each.n), str(each.left_out))
    note = f"{names[0]} and {names[1]} saw {found.shared} documents in common; left out: texts that neither marked."
    alone = [
        f"left out: {count} documents that only {name} saw, or saw with other summaries"
        for name, count in zip(names, (found.only_a, found.only_b), strict=True)
        if count
    ]
    return Group(table, Text(note, style="dim"), *(Text(line, style="yellow") for line in alone))


def group_agreement_table(found: GroupAgreement) -> RenderableType:
    """The overlap of every two annotators' highlights beside that of random ones, its mean, and the alpha of all."""
    table = _table(padding=1)
    table.add_column("highlights in")
    table.add_column("annotators", overflow="fold")
    for name in ("overlap", "by chance", "alpha", "texts", "left out"):
        table.add_column(name, justify="right", no_wrap=True)
    for kind, whole in {"documents": found.documents, "summaries": found.summaries}.items():
        for (first, second), pair in found.pairs.items():
            each: TextAgreement = getattr(pair, kind)
            numbers = (number(each.overlap), number(each.chance), "", str(each.n), str(each.left_out))
            table.add_row(kind, Text(f"{first}, {second}"), *numbers)
        means = (number(whole.overlap), number(whole.chance), number(whole.alpha), "", "")
        table.add_row(kind, Text("all, mean of pairs", style="bold"), *means)
    note = (
        "left out: texts that neither marked. alpha: Krippendorff's, whether a word is highlighted, over "
        f"{found.documents.n_words:,} words of documents and {found.summaries.n_words:,} of summaries that two or more "
        "annotators saw."
    )
    apart = [f"{first} and {second} saw no document in common" for first, second in found.apart]
    return Group(table, Text(note, style="dim"), *(Text(line, style="yellow") for line in apart))


def opinions_table(found: OpinionResults) -> RenderableType:
    """How unequally each summary represents the opinions of its source, beside how fair people call it."""
    table = _table(padding=1)
    table.add_column("summary", overflow="fold")
    rouge, graph = found.rouge_signature is not None, found.graph_signature is not None
    of_texts = [name for name, is_there in (("ROUGE-1", rouge), ("graph", graph)) if is_there]
    for name in ("people", "opinions", "bias", "very fair", "very unfair", *of_texts):
        table.add_column(name, justify="right", no_wrap=True)
    for row in found.summaries:
        labelled = sum(score is not None for score in row.by_opinion.values())
        table.add_row(
            Text(row.summary_id),
            str(len(row.annotators)),
            f"{labelled} of {len(row.by_opinion)}",
            number(row.bias),
            number(row.very_fair, 2),
            number(row.very_unfair, 2),
            *([number(row.rouge1_f1)] if rouge else []),
            *([number(row.graph_bias)] if graph else []),
        )
    note = "bias: Perceived Opinion Bias, 0 is fair, over the opinions that somebody labelled; shares of the people who voted."
    note += " ROUGE-1: mean F1 against the gold summaries." if rouge else ""
    note += " graph: Opinion Interaction Graph, 0 is fair." if graph else ""
    lines = [f"{row.summary_id}: no bias, {row.unscored}" for row in found.summaries if row.unscored]
    lines += [
        f"{row.summary_id}: no graph score, {row.graph_unscored}" for row in found.summaries if row.graph_unscored
    ]
    agreement = [line for each in found.sources for line in _agreements(each)]
    return Group(
        table,
        *(Text(line) for line in agreement),
        Text(note, style="dim"),
        *(Text(line, style="yellow") for line in lines),
    )


def _agreements(source: SourceAgreement) -> Iterator[str]:
    named = {
        "bias and very unfair": source.bias_and_very_unfair,
        "ROUGE-1 and very fair": source.rouge_and_very_fair,
        "bias and graph": source.bias_and_graph,
    }
    for name, found in named.items():
        if found is not None:
            yield f"{source.set_id}: r of {name} {number(found.r, 2)} over {found.n} summaries"


def _table(padding: int) -> Table:
    return Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, padding), collapse_padding=True)


def _cell(estimate: Estimate) -> str:
    """ "0.403 [0.21, 0.55]"; without the brackets when there is no interval."""
    if estimate.low is None or estimate.high is None:
        return number(estimate.mean)
    return f"{number(estimate.mean)} [{number(estimate.low, 2)}, {number(estimate.high, 2)}]"
