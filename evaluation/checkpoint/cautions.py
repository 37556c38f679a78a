"""What a reader must know before believing the numbers."""

from collections.abc import Sequence
from typing import Any

from ...config import Recipe
from ...resampling import FEW_SETS
from ..systems.roles import overlap_warnings
from ..systems.systems import PolicyOutput, n_unscored
from .findings import Evidence
from .served import engine_sentence, inactive_because


def cautions(
    recipe: Recipe, outputs: Sequence[PolicyOutput], evidence: Evidence, probed: dict[str, Any] | None
) -> list[str]:
    """All warnings of a run, the gravest first."""
    signatures = {name: text for output in outputs for name, text in output.signatures.items()}
    return [
        *_inactive(probed),
        *_other_method(recipe),
        *overlap_warnings(recipe, signatures),
        *_few_sets(evidence),
        *_one_sided(outputs, evidence.sides),
        *(warning for output in outputs for warning in _short_of_candidates(output, evidence.candidates)),
        *_unscored(outputs),
    ]


def _inactive(probed: dict[str, Any] | None) -> list[str]:
    if probed is None:
        return []
    if why := inactive_because(probed):
        return [f"The trained adapter is INACTIVE: {why}. The comparison below is of the untrained model with itself."]
    return [engine_sentence(probed)] if probed["engine"]["served"] == "unclear" else []


def _other_method(recipe: Recipe) -> list[str]:
    method = recipe.generate.unseen_method
    if method == "zero-shot":
        return []
    return [
        f"The candidates were made by the method {method}: 'zero-shot' below means one such candidate, not a plain answer."
    ]


def _few_sets(evidence: Evidence) -> list[str]:
    n_sets = max((d.n_sets for d in evidence.differences if d.side is None), default=0)
    if n_sets >= FEW_SETS:
        return []
    if n_sets == 0:
        return ["The comparison rests on no document set: no request has a score under two systems."]
    if n_sets == 1:
        return ["The comparison rests on a single document set: there is nothing to resample, so it has no intervals."]
    return [
        f"The comparison rests on {n_sets} document sets: with fewer than {FEW_SETS}, bootstrap intervals are narrower than they "
        "should be."
    ]


def _one_sided(outputs: Sequence[PolicyOutput], sides: Sequence[str]) -> list[str]:
    if len(sides) < 2:
        return []
    sides_of: dict[str, set[str]] = {}
    for request in outputs[0].requests:
        sides_of.setdefault(request.set_id, set()).add(request.side)
    lacking = sum(len(found) < len(sides) for found in sides_of.values())
    if not lacking:
        return []
    return [
        f"{lacking} of {len(sides_of)} document sets lack a request for one of the sides {', '.join(sides)}; they are "
        "left out where sides are compared within a set."
    ]


def _short_of_candidates(output: PolicyOutput, wanted: int) -> list[str]:
    """Requests whose candidates are fewer than were asked for: their budget was not equal."""
    n_candidates = output.ranked.n_candidates
    total = len(n_candidates)
    none = int((n_candidates == 0).sum())
    fewer = int((n_candidates < wanted).sum()) - none
    found = []
    if none:
        found.append(f"{none} of {total} requests have no candidate of the {output.policy} model and are left out.")
    if fewer:
        found.append(
            f"{fewer} of {total} requests have fewer than {wanted} candidates of the {output.policy} model; the best "
            "of those they have stands in."
        )
    return found


def _unscored(outputs: Sequence[PolicyOutput]) -> list[str]:
    found = []
    total = sum(int(output.ranked.n_candidates.sum()) for output in outputs)
    for judge in outputs[0].phase.judges:
        missing = [n_unscored(output, judge) for output in outputs]
        if any(missing):
            where = ", ".join(f"{n} {output.policy}" for n, output in zip(missing, outputs, strict=True))
            found.append(
                f"Judge {judge!r} gave no score to {sum(missing)} of {total} candidates ({where}); they are left out of its "
                "means, and the ledger has the reasons."
            )
    return found
