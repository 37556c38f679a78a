"""The adapter proven active: the same texts have other log-probabilities with it than without, and the engine served it.

An adapter that was saved empty, or loaded and never switched on, leaves every log-probability as it was; the comparison
of checkpoints would then compare a model with itself. One that moves log-probabilities in transformers may still have been
dropped, or merged into nothing, by the engine that wrote the candidates: the sum of the log-probabilities that the engine
reported of the tokens it drew is held against the same sum under both policies. Engines round differently, so a policy that is
merely somewhat nearer convicts nobody.
"""

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from ....errors import DataError
from ....extras import need
from ....generate.backend import prompt_tokens
from ....generate.causal_lm import open_causal_lm
from ....models import signature
from ....models.adapters import open_adapter
from ....records import Candidate, SummaryRequest
from ....runfolder.files import shortest_prompts
from ....runfolder.phases import CANDIDATES, Phase
from ....runfolder.timing import booked
from ...pages.numbers import signed

# (prompt, text) pairs that are looked at
PROBES = 3
# candidates whose log-probabilities are compared, each of another request
COMPARED = 4
# the engine is held to have served the untrained policy when it is this many times nearer to it
CLEARLY = 3.0


def probe(phase: Phase) -> dict[str, Any]:
    """Summed log-probabilities, in nats, of a few summaries under the model without and with the phase's adapter.

    The probes are the phase's requests of the shortest prompts, each with its first candidate. The model runs in the
    recipe's dtype; on two CPU cores this takes about half a minute for a model of 135 million parameters.

    Returns:
        "active": whether any log-probability differs, unless the engine served the untrained policy; "probes": request
        id, "untrained", "trained" and their "difference" of each; "engine": see `verdict`; "untrained" and
        "trained": signatures of the two policies.

    Raises:
        DataError: the phase has no adapter or no candidates.
        ModelError: model or adapter cannot be opened.
    """
    if phase.adapter is None or not phase.adapter.is_dir():
        raise DataError(f"{phase.name}: its policy has no adapter at {phase.adapter}; train the round first")
    with booked("loading"):
        policies = _Policies(phase, phase.adapter)
    rows = []
    for request, candidate in probe_pairs(phase):
        untrained, trained = policies.logps(request, policies.tokens(candidate.raw_text))
        rows.append(
            {"request_id": request.id, "untrained": untrained, "trained": trained, "difference": trained - untrained}
        )
    engine = verdict(
        [
            compared(candidate, *policies.logps(request, candidate.token_ids))
            for request, candidate in comparable_pairs(phase)
        ]
    )
    section = phase.recipe.model
    return {
        "active": any(row["difference"] != 0 for row in rows) and engine["served"] != "untrained",
        "engine": engine,
        "untrained": signature(section.name, section.revision, section.adapter),
        "trained": signature(section.name, section.revision, phase.adapter),
        "probes": rows,
    }


def probe_pairs(phase: Phase) -> list[tuple[SummaryRequest, Candidate]]:
    """The phase's requests of the shortest prompts, each with its first candidate that has a text.

    Raises:
        DataError: no candidate has a text.
    """
    pairs = shortest_prompts(phase.folder, PROBES, lambda candidate: bool(candidate.raw_text.strip()))
    if not pairs:
        raise DataError(f"{phase.folder / CANDIDATES}: no candidate has a text to probe the adapter with")
    return pairs


class _Policies:
    """The model with the adapter of the start, if there is one, and with the trained adapter."""

    def __init__(self, phase: Phase, adapter: Path) -> None:
        self._torch = need("torch", "the adapter probe")
        section = phase.recipe.model
        self._has_start = section.adapter is not None
        self._tokenizer, model = open_causal_lm(section, "the adapter probe")
        self._model = open_adapter(model, adapter, name="trained")
        if section.adapter is not None:
            self._model = open_adapter(self._model, section.adapter, name="start")
        self._device = "cuda" if self._torch.cuda.is_available() else "cpu"
        self._model.to(self._device).eval()

    def tokens(self, text: str) -> list[int]:
        """Token ids of a text."""
        return list(self._tokenizer(text, add_special_tokens=False)["input_ids"])

    def logps(self, request: SummaryRequest, tokens: Sequence[int]) -> tuple[float, float]:
        """Summed log-probabilities of the tokens after the prompt, untrained and trained."""
        prompt = prompt_tokens(self._tokenizer, request.prompt)
        if self._has_start:
            self._model.set_adapter("start")
        with nullcontext() if self._has_start else self._model.disable_adapter():
            untrained = self._sum(prompt, list(tokens))
        self._model.set_adapter("trained")
        return untrained, self._sum(prompt, list(tokens))

    def _sum(self, prompt: list[int], tokens: list[int]) -> float:
        torch = self._torch
        ids = torch.tensor([prompt + tokens], device=self._device)
        with booked("models"), torch.inference_mode():
            logits = self._model(input_ids=ids, logits_to_keep=len(tokens) + 1).logits[0, :-1].float()
        logprobs = torch.log_softmax(logits, dim=-1)  # (tokens, vocabulary)
        return float(logprobs.gather(1, ids[0, -len(tokens) :, None]).sum())


def comparable_pairs(phase: Phase) -> list[tuple[SummaryRequest, Candidate]]:
    """Up to 4 requests of the shortest prompts, each with its first candidate that has tokens and log-probabilities."""
    return shortest_prompts(
        phase.folder, COMPARED, lambda candidate: bool(candidate.token_ids) and candidate.logps is not None
    )


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
    """The verdict of the compared candidates together.

    Returns:
        "served": "trained" when it is nearer for most candidates, "untrained" when that is clearly nearer for most, else
        "unclear"; None when there is nothing to compare; "candidates": the rows.
    """
    trained = sum(row["nearer"] == "trained" for row in rows)
    untrained = sum(row["nearer"] == "untrained" and row["clearly"] for row in rows)
    served = "trained" if 2 * trained > len(rows) else "untrained" if 2 * untrained > len(rows) else "unclear"
    return {"served": served if rows else None, "candidates": list(rows)}


def inactive_because(probed: Mapping[str, Any]) -> str | None:
    """Why the probe calls the adapter inactive, as the end of a sentence; None when it is active."""
    if probed["active"]:
        return None
    if probed["engine"]["served"] == "untrained":
        return (
            "the engine that wrote the trained model's summaries reported the untrained model's log-probabilities of "
            f"them ({_nearer(probed, 'untrained')} candidates)"
        )
    return f"it changes no log-probability of {len(probed['probes'])} probes"


def probe_sentence(probed: Mapping[str, Any]) -> str:
    """The result of the probe, for a reader."""
    moved = ", ".join(signed(row["difference"], 2) for row in probed["probes"])
    n = len(probed["probes"])
    active = f"The adapter is active: the summed log-probabilities of {n} probe summaries moved by {moved} nats."
    why = inactive_because(probed)
    return f"{f'The adapter is INACTIVE: {why}.' if why else active} {engine_sentence(probed)}"


def engine_sentence(probed: Mapping[str, Any]) -> str:
    """The verdict of the engine's log-probabilities, for a reader."""
    served = probed["engine"]["served"]
    if served is None:
        return (
            "Whether the engine served it was not checked: no candidate has its tokens and their log-probabilities, which this "
            "backend does not report."
        )
    if served == "untrained":
        return (
            "The engine did not serve it: the log-probabilities it reported are nearer to the untrained model's for "
            f"{_nearer(probed, 'untrained')} candidates."
        )
    sentence = "The engine served it" if served == "trained" else "It is unclear whether the engine served it"
    return (
        f"{sentence}: the log-probabilities it reported are nearer to the trained model's for "
        f"{_nearer(probed, 'trained')} candidates."
    )


def _nearer(probed: Mapping[str, Any], policy: str) -> str:
    rows = probed["engine"]["candidates"]
    return f"{sum(row['nearer'] == policy for row in rows)} of {len(rows)}"
