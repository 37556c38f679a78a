"""The comparison's files: comparison.json, index.html and comparison.md."""

from collections.abc import Sequence
from pathlib import Path

from ...storage import write_text
from .build import build_comparison
from .contents import Comparison
from .entries import Named, read_entries
from .markdown import render_markdown
from .page import render_page
from .rounds import has_rounds, round_entries

JSON, MARKDOWN, PAGE = "comparison.json", "comparison.md", "index.html"


def compare_runs(runs: Sequence[Named], out: Path, budgets: Sequence[int], *, by_round: bool) -> Comparison:
    """Compare finished runs; the comparison, after it was written to `out`.

    Args:
        runs: at least one, the reference first.
        out: folder for the three files.
        budgets: numbers of candidates.
        by_round: each round of a method that asks in rounds becomes an entry; rounds that no judge has seen are judged first.

    Raises:
        DataError: a run is not finished, or the runs cannot be compared.
        LeftOutError: a judge left more of the rounds unscored than the recipe allows.
    """
    entries = read_entries(runs)
    if by_round:
        entries = [each for entry in entries for each in (round_entries(entry) if has_rounds(entry) else [entry])]
    found = build_comparison(entries, budgets)
    write_text(out / JSON, found.model_dump_json(indent=2) + "\n")
    write_text(out / MARKDOWN, render_markdown(found))
    write_text(out / PAGE, render_page(found))
    return found
