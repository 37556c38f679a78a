"""What a reader must know before believing the numbers."""

from collections.abc import Iterator, Sequence
from typing import Any

from ....config import Recipe
from ....judges.independence import overlap_warnings
from ..systems.roles import equal_judges
from ..systems.systems import PolicyOutput
from .findings import Evidence, length_warnings
from .probe import engine_sentence, inactive_because


def cautions(
    recipe: Recipe, outputs: Sequence[PolicyOutput], evidence: Evidence, probed: dict[str, Any] | None
) -> Iterator[str]:
    """All warnings of a run, the gravest first."""
    if probed and (why := inactive_because(probed)):
        yield f"The trained adapter is INACTIVE: {why}. The comparison below is of the untrained model with itself."
    elif probed and probed["engine"]["served"] == "unclear":
        yield engine_sentence(probed)
    if (method := recipe.generate.unseen_method) != "zero-shot":
        yield (
            f"The candidates were made by the method {method}: 'zero-shot' below means one such candidate, not a plain answer."
        )
    signatures = {name: text for output in outputs for name, text in output.signatures.items()}
    equal = equal_judges(outputs, list(dict.fromkeys(recipe.evaluation.judges + recipe.reward.judges)))
    yield from overlap_warnings(recipe, signatures, equal)
    yield from length_warnings(evidence)
    yield from _of_sets(outputs[0], evidence)
    for output in outputs:
        # their budgets were not equal
        n_candidates, wanted = output.ranked.n_candidates, evidence.candidates
        n, none = len(n_candidates), int((n_candidates == 0).sum())
        if none:
            yield f"{none} of {n} requests have no candidate of the {output.policy} model and are left out."
        if fewer := int((n_candidates < wanted).sum()) - none:
            yield (
                f"{fewer} of {n} requests have fewer than {wanted} candidates of the {output.policy} model; the best "
                f"of those they have is used instead."
            )
    total = sum(int(output.ranked.n_candidates.sum()) for output in outputs)
    for judge in outputs[0].phase.judges:
        missing = [output.n_unscored(judge) for output in outputs]
        if any(missing):
            where = ", ".join(f"{n} {output.policy}" for n, output in zip(missing, outputs, strict=True))
            yield (
                f"Judge {judge!r} gave no score to {sum(missing)} of {total} candidates ({where}); they are left out of its "
                "means, and the ledger has the reasons."
            )


def _of_sets(output: PolicyOutput, evidence: Evidence) -> Iterator[str]:
    """Too few document sets, and sets that lack a side."""
    n_sets = max((d.n_sets for d in evidence.differences if d.side is None), default=0)
    if n_sets == 0:
        if evidence.is_compared:
            yield "The comparison rests on no document set: no request has a score under two systems."
    elif warning := evidence.few_together:
        yield warning
    sides_of: dict[str, set[str]] = {}
    for request in output.requests:
        sides_of.setdefault(request.set_id, set()).add(request.side)
    lacking = sum(len(sides) < len(evidence.sides) for sides in sides_of.values())
    if lacking:
        yield (
            f"{lacking} of {len(sides_of)} document sets lack a request for one of the sides {', '.join(evidence.sides)}; they "
            "are left out where sides are compared within a set."
        )
