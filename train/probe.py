"""Whether a model can train with a shared prefix: a small copy of it is run packed, and each sequence alone.

No list of architectures says it. A model that hands all that its tokens see of each other to transformers' AttentionInterface has
the same log-probabilities both ways, down to TRL's head; what else mixes tokens (convolutions, states, sinks, chunks, positions
that it counts itself) shows. docs/families.md has all types of transformers.
"""

import contextlib
import json
import re
from collections.abc import Iterator
from functools import partial
from typing import Any, NamedTuple

import torch

from ..errors import ModelError, RecipeError
from ..models.small_copy import VOCABULARY, on_small_copy
from .packed_attention import masked
from .packed_forward import add_packed_forward
from .packing import Layout, PackedSpan, PackingCollator

ATTENTION = "evenhand_probe"
# difference of a log-probability, or a module's output, in the packed sequence and alone, in their spread, at most; models whose
# layers hand on all have up to 4e-5
TOLERANCE = 1e-4
# and where plain passes differ more among themselves, as recursive models' do
MOST_TOLERANCE = 1e-3
# settings that loading and training change, and that decide nothing here
UNIMPORTANT = re.compile("token_id$|^dtype$|^use_cache$|^architectures$|^_|quantization|^transformers_version$")
# numbers of tokens that models may take for something else
SPECIAL = 4
# two prompts that begin alike for longer than the copy's windows, and one for itself; candidates of each: first and one past the
# last of the numbers of `_batch`
SHARED = (0, 40)
PROMPTS = (
    (SHARED, (40, 44), ((44, 50), (50, 56))),
    (SHARED, (56, 62), ((62, 68),)),
    ((68, 86), ((86, 93), (93, 100))),
)
# class of a module, and the hidden states that it is given and gives, (1, tokens, width)
Seen = tuple[str, torch.Tensor, torch.Tensor]


class AttentionShape(NamedTuple):
    """What a layer's attention depends on besides its weights."""

    # of keys and values; each serves `group` heads of queries
    heads: int
    group: int
    # of queries and keys, and of values
    size: int
    value_size: int
    scaling: float
    window: int | None
    softcap: float | None


class ProbeResult(NamedTuple):
    """What was seen of a kind of model."""

    # why it cannot train packed; None where it can
    refusal: str | None
    # the attention that its layers ask for, windows as they were cut for the copy
    shapes: tuple[AttentionShape, ...]
    # largest difference of a log-probability, in their spread; None where there is none to tell
    difference: float | None
    # whether TRL's own trainer computes the model's log-probabilities
    has_stock: bool = True


# by configuration: who trains asks several times, and Liger's kernels, which TRL puts into a model, have no CPU
_SEEN: dict[tuple[type, str], ProbeResult] = {}


def probe(model: Any) -> ProbeResult:
    """Try a model's kind, in a second and on the CPU; its own weights are not looked at.

    Args:
        model: a causal language model of transformers without adapter, on whatever device.
    """
    settings = {name: value for name, value in model.config.to_dict().items() if not UNIMPORTANT.search(name)}
    key = type(model), json.dumps(settings, sort_keys=True, default=str)
    if key not in _SEEN:
        _SEEN[key] = _probe(model)
    return _SEEN[key]


def refuse_stock(model: Any) -> None:
    """Refuse a model that TRL's own trainer would train on wrong numbers, without a word.

    Args:
        model: a causal language model of transformers without adapter, on whatever device.

    Raises:
        RecipeError: TRL computes other log-probabilities than the model, or its tokens see later ones.
    """
    seen = probe(model)
    if not seen.has_stock:
        raise RecipeError(
            f"key 'model.name': {model.config.model_type!r} models cannot be trained: {seen.refusal}; take another model"
        )


def _probe(model: Any) -> ProbeResult:
    if model.config.get_text_config() is not model.config:
        return ProbeResult("it has a part for pictures or sound beside its text model", (), None)
    try:
        return on_small_copy(model, _compare)
    except ModelError as error:
        return ProbeResult(str(error), (), None)


def _compare(small: Any) -> ProbeResult:
    """Run the copy packed and alone."""
    from trl.trainer.utils import add_fused_lm_head

    batch, sequences = _batch()
    prompt, candidate = sequences[-1]
    # as it trains, unless that is by chance, as some routers' choice of experts is
    small.train()
    if not _difference(*(_logps(small, prompt, candidate) for _ in range(2))) <= TOLERANCE:
        small.eval()
    with _watched(small) as outputs_alone:
        last = _logps(small, prompt, candidate)
    followed = _logps(small, prompt, candidate + prompt)
    if not _difference(followed, last) <= TOLERANCE:
        return ProbeResult("its tokens see those that come after them", (), None, has_stock=False)
    add_fused_lm_head(small)
    if not _difference(_fused_logps(small, prompt, candidate), last) <= TOLERANCE:
        reason = "TRL gets other log-probabilities from its head than the model itself"
        return ProbeResult(reason, (), None, has_stock=False)
    shapes = _use_noted_attention(small)
    add_packed_forward(small, equal=False, again=False)
    with _watched(small) as outputs_packed:
        packed = small(passes=batch["passes"], rows=batch["rows"], fused_lm_head=True).log_probs
    if not shapes:
        return ProbeResult(
            "its attention does not go through transformers' AttentionInterface", (), _difference(packed[-1], last)
        )
    largest = _difference(packed[-1], last)
    single = Layout((PackedSpan(0, len(prompt) + len(candidate) - 1),))
    noise = _difference(_logps(small, prompt, candidate, shared_prefix=single), last)
    tolerance = min(max(TOLERANCE, 10 * noise), MOST_TOLERANCE)
    small.set_attn_implementation("eager")
    # what mixes tokens does so here, and may take long
    if largest <= tolerance:
        rows = [row[: len(own)] for row, (_, own) in zip(packed, sequences, strict=True)]
        largest = _difference(torch.cat(rows), torch.cat([_logps(small, *sequence) for sequence in sequences]))
    # also of the prompt's first tokens, which see so little that a sink shows
    layer = _mixing(outputs_alone, outputs_packed, batch["passes"][0]["layout"])
    if largest <= tolerance and layer is None:
        return ProbeResult(None, tuple(shapes), largest)
    reason = (
        f"{layer or 'one of its layers'} makes of a text in a packed sequence something else than of the text alone"
    )
    return ProbeResult(reason, tuple(shapes), largest)


def _use_noted_attention(small: Any) -> dict[AttentionShape, None]:
    """Let the copy attend within packed sequences; the shapes that its layers ask for, filled when it runs."""
    from transformers import AttentionInterface

    shapes: dict[AttentionShape, None] = {}

    def noted(module: Any, query: Any, key: Any, value: Any, attention_mask: Any, **asked: Any) -> Any:
        if "shared_prefix" not in asked:
            raise ModelError("its layers do not hand on to their attention what the model is given")
        heads = key.shape[1]
        sizes = heads, query.shape[1] // heads, query.shape[3], value.shape[3]
        shapes[AttentionShape(*sizes, asked["scaling"], asked.get("sliding_window"), asked.get("softcap"))] = None
        return masked(module, query, key, value, attention_mask, **asked)

    AttentionInterface.register(ATTENTION, noted)
    small.set_attn_implementation(ATTENTION)
    return shapes


def _batch() -> tuple[dict[str, Any], list[tuple[list[int], list[int]]]]:
    """What the collator makes of the prompts, and the prompt and candidate of each of its rows."""
    generator = torch.Generator().manual_seed(1)
    # the collator goes by the order of tokens; a beginning that is the smallest stands first
    numbers = torch.randint(SPECIAL, VOCABULARY, (100,), generator=generator).tolist()
    numbers[0], numbers[40], numbers[56], numbers[68] = SPECIAL, SPECIAL, SPECIAL + 1, SPECIAL + 2
    groups = [
        {
            "prompt_ids": [number for part in prompt for number in numbers[slice(*part)]],
            "candidate_ids": [numbers[slice(*part)] for part in candidates],
        }
        for *prompt, candidates in PROMPTS
    ]
    sides = [(number, place) for number, group in enumerate(groups) for place in range(len(group["candidate_ids"]))]
    batch = PackingCollator(0, 1000, least_shared=SHARED[1]).pack(groups, sides)
    return batch, [(groups[number]["prompt_ids"], groups[number]["candidate_ids"][place]) for number, place in sides]


def _logps(small: Any, prompt: list[int], candidate: list[int], **options: Any) -> torch.Tensor:
    """Log-probability of each token of a candidate behind its prompt, (tokens,), by a plain pass."""
    ids = torch.tensor([[*prompt, *candidate[:-1]]])
    logits = small(input_ids=ids, position_ids=torch.arange(ids.shape[1])[None], use_cache=False, **options).logits[0]
    scores = logits[len(prompt) - 1 :].double().log_softmax(-1)
    logps: torch.Tensor = scores.gather(1, torch.tensor(candidate)[:, None])[:, 0]
    return logps


def _fused_logps(small: Any, prompt: list[int], candidate: list[int]) -> torch.Tensor:
    """The same by TRL's head."""
    ids = torch.tensor([[*prompt, *candidate]])
    labels = torch.tensor([[*[-100] * len(prompt), *candidate]])
    logps: torch.Tensor = small(input_ids=ids, labels=labels, fused_lm_head=True).log_probs[0, len(prompt) - 1 :]
    return logps


def _difference(first: torch.Tensor, second: torch.Tensor) -> float:
    """Largest difference of these numbers, in their spread: logits of some models are small. Of two lengths, the first ones."""
    n = min(len(first), len(second))
    numbers = second[:n].double()
    return float((first[:n].double() - numbers).abs().max() / numbers.std())


@contextlib.contextmanager
def _watched(small: Any) -> Iterator[dict[str, Seen]]:
    """What each module is given and gives while it runs for the first time, in the order in which they end."""
    seen: dict[str, Seen] = {}

    def note(name: str, module: Any, args: Any, kwargs: Any, output: Any) -> None:
        outputs = output if isinstance(output, tuple) else (output,)
        hidden, result = (next(filter(_is_hidden, values), None) for values in ((*args, *kwargs.values()), outputs))
        if hidden is not None and result is not None:
            seen.setdefault(name, (type(module).__name__, hidden, result))

    hooks = [
        module.register_forward_hook(partial(note, name), with_kwargs=True)
        for name, module in small.named_modules()
        if name
    ]
    try:
        yield seen
    finally:
        for hook in hooks:
            hook.remove()


def _is_hidden(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.ndim == 3 and len(value) == 1 and value.is_floating_point()


def _mixing(alone: dict[str, Seen], packed: dict[str, Seen], layout: Any) -> str | None:
    """The class of the first module that is given the same for the last candidate either way, and gives something else."""
    span = layout.spans[-1]
    places = [*range(span.start, span.prompt_end), *range(span.end - span.own[-1], span.end)]

    def difference(plain: torch.Tensor, whole: torch.Tensor) -> float:
        return _difference(plain[0], whole[0, places]) if whole.shape[1] == layout.length else float("inf")

    for name, (kind, hidden, result) in packed.items():
        if name in alone:
            before, behind = difference(alone[name][1], hidden), difference(alone[name][2], result)
            # rounding grows within deep copies; also what is not a number differs
            if before <= TOLERANCE and not behind <= max(TOLERANCE, 10 * before):
                return kind
    return None
