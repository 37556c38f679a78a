"""Every kernel, in float32 and bfloat16: the packed sequence against each candidate alone behind its prompt.

Two questions a row. Does the layer attention pass the check that stands before every training (`train.attention_check`)? And
are log-probabilities and gradients of a whole model those of the plain path? What is exact is the plain path in float64; in fewer
bits the plain path is off as well, and packed it may be off by no more than twice that, and by what TF32 leaves.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import torch

from ...config import VARLEN_ATTENTION
from ...errors import RecipeError
from ...extras import need
from ...train.attention import PACKED, loaded_with, use_masks, use_packed_attention
from ...train.attention_check import try_attention
from ...train.groups import TokenGroup
from ...train.packing import PackingCollator
from ...train.probe import probe
from .part import NotHere, Rows

DTYPES = (torch.float32, torch.bfloat16)
MASKS = "masks"
# what is compiled, and takes longest, comes last
KERNELS = ("sdpa", MASKS, *VARLEN_ATTENTION, "flex_attention")
SIZES = {
    "vocab_size": 300, "hidden_size": 128, "intermediate_size": 128, "num_hidden_layers": 2, "num_attention_heads": 4,
    "num_key_value_heads": 2, "head_dim": 64, "max_position_embeddings": 1024,
}  # fmt: skip
WINDOW = {"sliding_window": 100, "layer_types": ["sliding_attention", "full_attention"]}
# every family that knows packed sequences, and with windows those that may have them
FAMILIES: dict[str, tuple[str, dict[str, Any]]] = {
    "llama": ("LlamaConfig", {}),
    "mistral": ("MistralConfig", {"sliding_window": 100}),
    "qwen2": ("Qwen2Config", {}),
    "qwen2, window": ("Qwen2Config", WINDOW | {"use_sliding_window": True}),
    "qwen3": ("Qwen3Config", {}),
    "qwen3, window": ("Qwen3Config", WINDOW | {"use_sliding_window": True}),
    "gemma": ("GemmaConfig", {}),
    "gemma2": ("Gemma2Config", {"sliding_window": 100, "attn_logit_softcapping": 2.0}),
    "gemma3": ("Gemma3TextConfig", WINDOW),
}
# what there is in attention: shared heads, a window, bounded scores
ON_GPU = ("llama", "mistral", "gemma2")
# tokens of each prompt, how many of them two sides have in common, and tokens of their candidates; one has a single token
N_PROMPT, N_SHARED, N_CANDIDATES = 300, 260, ((70, 1, 48), (90, 33))
# of a norm, beside twice the plain path's error: TF32 keeps ten bits
ROOM = 0.003


class Scores(NamedTuple):
    """What a path computed, in float64 on the CPU."""

    # log-probabilities of all candidates' tokens, one after another
    logps: torch.Tensor
    # of a weighted sum of them with respect to all weights, as one vector
    gradient: torch.Tensor


def measure(rows: Rows, *, is_tiny: bool) -> None:
    """Add a row for each kernel, family and data type."""
    device = torch.device("cuda" if torch.cuda.is_available() and not is_tiny else "cpu")
    for attention in KERNELS:
        for family in ON_GPU:
            for dtype in DTYPES:
                name = f"{family}, {attention}, {str(dtype).removeprefix('torch.')}"
                rows.check(name, partial(errors, family, attention, dtype, device))


def errors(family: str, attention: str, dtype: torch.dtype, device: torch.device) -> dict[str, float | None]:
    """Errors of a kernel's layer attention and of a whole model.

    Raises:
        NotHere: the kernel is not installed, or does not take this device, family or data type.
        AssertionError: it is wrong.
    """
    if dtype == torch.float32 and attention not in ("sdpa", "flex_attention", MASKS):
        raise NotHere(f"{attention} has no kernel for float32")
    model = build(family, dtype, device, loaded_with(attention) if attention in PACKED else "sdpa")
    if attention == MASKS:
        use_masks(model)
    else:
        try:
            use_packed_attention(model, attention)
        except RecipeError as refusal:
            raise NotHere(str(refusal)) from refusal
    from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS

    function = ALL_ATTENTION_FUNCTIONS[model.config._attn_implementation]
    layer_error, reason = try_attention(function, probe(model).shapes, device, dtype)
    assert reason is None, reason
    return {"layer_error": layer_error, **against_alone(model, family, dtype, device)}


def against_alone(model: Any, family: str, dtype: torch.dtype, device: torch.device) -> dict[str, float | None]:
    """Errors of log-probabilities and gradients, packed and plain, relative to the norm of what is exact.

    Raises:
        AssertionError: the packed ones are off by more than twice the plain ones, and `ROOM`.
    """
    groups = make_groups()
    exact = scores_alone(build(family, torch.float64, device, "eager"), groups)
    plain = scores_alone(build(family, dtype, device, "eager"), groups)
    packed = scores_packed(model, groups)
    found: dict[str, float | None] = {}
    for what, ours, theirs, wanted in zip(Scores._fields, packed, plain, exact, strict=True):
        mine, usual = (float((each - wanted).norm() / wanted.norm()) for each in (ours, theirs))
        # also where it is not a number
        assert mine <= 2 * usual + ROOM, f"{what} off by {mine:.2g}, where the plain path is off by {usual:.2g}"
        found |= {f"{what}_error": mine, f"plain_{what}_error": usual}
    return found


def build(family: str, dtype: torch.dtype, device: torch.device, attention: str) -> Any:
    """A model with random weights, the same ones each time."""
    transformers = need("transformers", "a benchmark")
    kind, options = FAMILIES[family]
    config = getattr(transformers, kind)(**SIZES | options, attn_implementation=attention)
    # large weights, so that attention matters
    config.initializer_range = 0.1
    torch.manual_seed(3)
    drawn = transformers.AutoModelForCausalLM.from_config(config, dtype=torch.float32)
    made = transformers.AutoModelForCausalLM.from_config(config, dtype=dtype)
    # weights alone: rotary embeddings stay in float32, as in every model that is loaded
    made.load_state_dict(drawn.state_dict())
    return made.to(device).eval()


def make_groups() -> list[TokenGroup]:
    """Two prompts that begin alike and their candidates in drawn tokens, as a pass has them; the same each time."""
    generator = torch.Generator().manual_seed(7)

    def drawn(n: int) -> list[int]:
        return torch.randint(SIZES["vocab_size"], (n,), generator=generator).tolist()

    shared = drawn(N_SHARED)
    groups = [
        TokenGroup(shared + drawn(N_PROMPT - N_SHARED), [drawn(n) for n in lengths], [0], [1], [1.0])
        for lengths in N_CANDIDATES
    ]
    return sorted(groups, key=lambda group: group.prompt_ids)


def scores_alone(model: Any, groups: Sequence[TokenGroup]) -> Scores:
    """Each candidate behind its prompt, in a sequence of its own."""
    found = []
    for prompt, candidate in ((each.prompt_ids, candidate) for each in groups for candidate in each.candidate_ids):
        ids = torch.tensor([prompt + candidate[:-1]], device=model.device)
        hidden = model.base_model(input_ids=ids, use_cache=False).last_hidden_state[0, len(prompt) - 1 :]
        found.append(_logps(model, hidden, torch.tensor(candidate, device=model.device)))
    return _scored(model, torch.cat(found))


def scores_packed(model: Any, groups: Sequence[TokenGroup]) -> Scores:
    """All candidates and their prompts in one sequence, what both begin with once."""
    (one,) = PackingCollator(0, 4096, 128)([group.columns for group in groups])["passes"]
    ids, positions, scored, targets = (
        one[name].to(model.device) for name in ("input_ids", "position_ids", "scored", "targets")
    )
    out = model.base_model(input_ids=ids, position_ids=positions, shared_prefix=one["layout"], use_cache=False)
    return _scored(model, _logps(model, out.last_hidden_state[0, scored], targets[0]))


def _logps(model: Any, hidden: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    logits = model.lm_head(hidden)
    cap = getattr(model.config, "final_logit_softcapping", None)
    if cap:
        logits = cap * torch.tanh(logits / cap)
    wide = logits.double() if logits.dtype == torch.float64 else logits.float()
    logps: torch.Tensor = wide.log_softmax(dim=-1).gather(1, targets[:, None])[:, 0]
    return logps


def _scored(model: Any, logps: torch.Tensor) -> Scores:
    generator = torch.Generator().manual_seed(11)
    weights = torch.randn(len(logps), generator=generator).to(logps)
    gradients = torch.autograd.grad((logps * weights).sum(), list(model.parameters()))
    flat = torch.cat([each.detach().to("cpu", torch.float64).flatten() for each in gradients])
    return Scores(logps.detach().to("cpu", torch.float64), flat)
