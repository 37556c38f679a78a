"""What candidates took to make, from the receipt of the generate stage."""

from ...run import Phase
from ...stages import read_receipt
from .contents import Cost


def read_cost(label: str, phase: Phase) -> Cost:
    """Calls and tokens for each candidate of a phase, over all requests; zeros when there is no candidate."""
    receipt = read_receipt(phase.folder / "receipts" / "generate.json")
    counts = receipt.counts if receipt else {}
    n = counts.get("candidates") or 1
    # methods that ask once leave no turns: a candidate is its only call
    calls, tokens = counts.get("turns", counts.get("candidates", 0)), counts.get("turn_tokens", counts.get("tokens", 0))
    prefilled = counts.get("prefilled_tokens")
    return Cost(label=label, calls=calls / n, tokens=tokens / n, prefilled=None if prefilled is None else prefilled / n)
