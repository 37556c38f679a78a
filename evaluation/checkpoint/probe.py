"""The adapter proven active: the same texts have other log-probabilities with it than without.

An adapter that was saved empty, or loaded and never switched on, leaves every log-probability as it was; the comparison
of checkpoints would then compare a model with itself. What the engine made of the adapter is in `served`.
"""

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

from ...errors import DataError
from ...extras import need
from ...generate.backend import prompt_tokens
from ...generate.causal_lm import open_causal_lm
from ...models import signature
from ...models.adapters import open_adapter
from ...records import Candidate, SummaryRequest
from ...runfolder.files import shortest_prompts
from ...runfolder.phases import CANDIDATES, Phase
from ...runfolder.timing import booked
from .served import comparable_pairs, compared, verdict

# (prompt, text) pairs that are looked at
PROBES = 3


def probe(phase: Phase) -> dict[str, Any]:
    """Summed log-probabilities, in nats, of a few summaries under the model without and with the phase's adapter.

    The probes are the phase's requests of the shortest prompts, each with its first candidate. The model runs in the
    recipe's dtype; on two CPU cores this takes about half a minute for a model of 135 million parameters.

    Returns:
        "active": whether any log-probability differs, unless the engine served the untrained policy; "probes": request
        id, "untrained", "trained" and their "difference" of each; "engine": see `served.verdict`; "untrained" and
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
    found = shortest_prompts(phase.folder, PROBES, lambda each: bool(each.raw_text.strip()))
    if not found:
        raise DataError(f"{phase.folder / CANDIDATES}: no candidate has a text to probe the adapter with")
    return found


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
        with self._untrained():
            untrained = self._sum(prompt, list(tokens))
        self._model.set_adapter("trained")
        return untrained, self._sum(prompt, list(tokens))

    def _untrained(self) -> AbstractContextManager[Any]:
        if not self._has_start:
            return self._model.disable_adapter()  # type: ignore[no-any-return]
        self._model.set_adapter("start")
        return nullcontext()

    def _sum(self, prompt: list[int], tokens: list[int]) -> float:
        torch = self._torch
        ids = torch.tensor([prompt + tokens], device=self._device)
        with booked("models"), torch.inference_mode():
            logits = self._model(input_ids=ids, logits_to_keep=len(tokens) + 1).logits[0, :-1].float()
        logprobs = torch.log_softmax(logits, dim=-1)  # (tokens, vocabulary)
        return float(logprobs.gather(1, ids[0, -len(tokens) :, None]).sum())
