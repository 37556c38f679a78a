"""The comparison's files: comparison.json, comparison.md and index.html, and its tables."""

from collections.abc import Sequence
from pathlib import Path

from ...storage import write_text
from ..pages.write import write_page
from .build import build_comparison
from .contents import Comparison
from .entries import Named, read_entries
from .page import page
from .rounds import has_rounds, round_entries

JSON, MARKDOWN = "comparison.json", "comparison.md"


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
    is_ours = (out / JSON).exists()
    write_text(out / JSON, found.model_dump_json(indent=2) + "\n")
    write_page(page(found), out, MARKDOWN, is_ours=is_ours)
    return found
