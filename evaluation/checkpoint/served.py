"""Which policy the engine served: the log-probabilities that it reported are those of one policy and not of the other.

An adapter that moves log-probabilities in transformers may still have been dropped, or merged into nothing, by the engine
that wrote the candidates. The engine reports the sum of the log-probabilities of the tokens it drew; the same sum is taken
under both policies here. Engines round differently, so a policy that is merely somewhat nearer convicts nobody.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from ...records import Candidate, SummaryRequest
from ...runfolder.files import shortest_prompts
from ...runfolder.phases import Phase

# candidates whose log-probabilities are compared, each of another request
COMPARED = 4
# the engine is held to have served the untrained policy when it is this many times nearer to it
CLEARLY = 3.0

NOT_TOLD = "no candidate holds its tokens and their log-probabilities, which this backend does not tell"


def comparable_pairs(phase: Phase) -> list[tuple[SummaryRequest, Candidate]]:
    """Up to 4 requests of the shortest prompts, each with its first candidate that has tokens and log-probabilities."""
    return shortest_prompts(phase.folder, COMPARED, lambda each: bool(each.token_ids) and each.logps is not None)


def compared(candidate: Candidate, untrained: float, trained: float) -> dict[str, Any]:
    """One candidate: the engine's sum in nats, that of each policy, and the policy that is nearer (None: neither)."""
    assert candidate.logps is not None, candidate.id
    gaps = {"untrained": abs(candidate.logps - untrained), "trained": abs(candidate.logps - trained)}
    nearer = None if gaps["untrained"] == gaps["trained"] else min(gaps, key=lambda policy: gaps[policy])
    return {
        "candidate_id": candidate.id,
        "engine": candidate.logps,
        "untrained": untrained,
        "trained": trained,
        "nearer": nearer,
        "clearly": nearer is not None and max(gaps.values()) >= CLEARLY * min(gaps.values()),
    }


def verdict(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What the compared candidates say together.

    Returns:
        "served": "trained" when it is nearer for most candidates, "untrained" when that is clearly nearer for most, else
        "unclear"; None when there is nothing to compare; "candidates": the rows.
    """
    trained = sum(row["nearer"] == "trained" for row in rows)
    untrained = sum(row["nearer"] == "untrained" and row["clearly"] for row in rows)
    served = "trained" if 2 * trained > len(rows) else "untrained" if 2 * untrained > len(rows) else "unclear"
    return {"served": served if rows else None, "candidates": list(rows)}


def inactive_because(probed: Mapping[str, Any]) -> str | None:
    """Why the probe takes the adapter for inactive, as the end of a sentence; None when it is active."""
    if probed["active"]:
        return None
    if probed["engine"]["served"] == "untrained":
        return (
            "the engine that wrote the trained model's summaries reported the untrained model's log-probabilities of "
            f"them ({_nearer(probed, 'untrained')} candidates)"
        )
    return f"it changes no log-probability of {len(probed['probes'])} probes"


def engine_sentence(probed: Mapping[str, Any]) -> str:
    """What the engine's log-probabilities say, for a reader."""
    served = probed["engine"]["served"]
    if served is None:
        return f"Whether the engine served it was not checked: {NOT_TOLD}."
    if served == "untrained":
        return (
            "The engine did not serve it: the log-probabilities it reported are nearer to the untrained model's for "
            f"{_nearer(probed, 'untrained')} candidates."
        )
    told = "The engine served it" if served == "trained" else "Whether the engine served it cannot be told"
    return (
        f"{told}: the log-probabilities it reported are nearer to the trained model's for "
        f"{_nearer(probed, 'trained')} candidates."
    )


def _nearer(probed: Mapping[str, Any], policy: str) -> str:
    rows = probed["engine"]["candidates"]
    return f"{sum(row['nearer'] == policy for row in rows)} of {len(rows)}"
