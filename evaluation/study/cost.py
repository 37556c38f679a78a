"""What candidates took to make, from the receipt of the generate stage."""

from ...runfolder.phases import Phase
from ...runfolder.stages import read_receipt
from .contents import Cost


def read_cost(label: str, phase: Phase) -> Cost:
    """Calls and tokens for each draw of a phase, over all requests; zeros when there is no candidate."""
    receipt = read_receipt(phase.folder / "receipts" / "generate.json")
    counts = receipt.counts if receipt else {}
    n = n_draws(phase, counts.get("candidates") or 1)
    # methods that ask once leave no turns: a candidate is its only call
    calls, tokens = counts.get("turns", counts.get("candidates", 0)), counts.get("turn_tokens", counts.get("tokens", 0))
    prefilled = counts.get("prefilled_tokens")
    return Cost(label=label, calls=calls / n, tokens=tokens / n, prefilled=None if prefilled is None else prefilled / n)


def n_draws(phase: Phase, n_candidates: int) -> float:
    """Independent runs of the method that so many candidates come from: debates whose agents are all candidates are one."""
    debate = phase.recipe.generate.debate
    return n_candidates / debate.agents if debate is not None and debate.final == "judge" else n_candidates
