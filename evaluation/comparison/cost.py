"""What candidates took to make, from the receipt of the generate stage."""

from ...generate.stage import GenerateCounts
from ...runfolder.phases import Phase
from ...runfolder.stages import read_receipt
from .contents import Cost


def read_cost(label: str, phase: Phase) -> Cost:
    """Calls and tokens for each draw of a phase, over all requests; zeros when there is no candidate."""
    receipt = read_receipt(phase.folder / "receipts" / "generate.json")
    if receipt is None:
        return Cost(label=label, calls=0, tokens=0, prefilled=None)
    counts = receipt.counted(GenerateCounts)
    n = n_draws(phase, counts.candidates or 1)
    # methods that ask once leave no turns: a candidate is its only call
    calls = counts.candidates if counts.turns is None else counts.turns
    tokens = counts.tokens if counts.turn_tokens is None else counts.turn_tokens
    return Cost(label=label, calls=calls / n, tokens=tokens / n, prefilled=counts.prefilled_tokens / n)


def n_draws(phase: Phase, n_candidates: int) -> float:
    """Independent runs of the method that so many candidates come from: debates whose agents are all candidates are one."""
    debate = phase.recipe.generate.debate
    return n_candidates / debate.agents if debate is not None and debate.final == "judge" else n_candidates
