"""A small copy of a model, of the same layers and with random weights, on which a way to run it can be tried in a second.

What decides how tokens reach each other stays: the kinds of layers in their order, sizes of heads and how many of them share
keys, rotary embeddings, masks, bounds and scales. Widths, vocabulary and experts are cut.
"""

import contextlib
import copy
import re
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import torch

from ..errors import ModelError
from .hub import first_line
from .sizes import parameters

Result = TypeVar("Result")
# the copy's: tokens it knows, inner width, experts and how many of them a token is sent to
VOCABULARY, INNER, EXPERTS, CHOSEN = 128, 96, 4, 2
# what windows and chunks are cut to, so that they matter in few tokens
WINDOW = 12
# names of what bounds how far tokens see
SEEN = re.compile(
    "window|chunk|capacity|block_size|span|extent|max_distance|local_attention|original_max_position|floor_scale"
)
# names of sizes, and the most that the copy has of them; the first that fits
MOST = (
    (SEEN, WINDOW),
    (re.compile("token_id$"), VOCABULARY - 1),
    (re.compile("intermediate_size|ffn|^n_inner$"), INNER),
    # groups of experts, and how many of them are chosen
    (re.compile("^n_group$|^topk_group$"), 1),
    (re.compile("per_tok|topk|top_k|moe_k$"), CHOSEN),
    (re.compile("experts"), EXPERTS),
)
# what layers are told that makes no kind of its own: their number, and to keep keys for others, which have all layers in the copy
NO_KIND = re.compile("(^|_)(idx|ids?|index|number)$|^store_")
# chances, which blur what a copy in training mode shows
CHANCE = re.compile("drop|jitter")
MOST_WEIGHTS = 300_000_000
# spread of the product of a vector of length 1 with each matrix: large enough that what a token sees shows in its logits
GAIN, SHIFT = 1.5, 0.5


def on_small_copy(model: Any, run: Callable[[Any], Result], reach: int | None = None) -> Result:
    """What `run` makes of a model's small copy, in float64; in float32 where that does not run, as experts do not.

    Args:
        model: a causal language model of transformers without adapter, on whatever device.
        run: takes the copy.
        reach: as `small_copy` takes it.

    Raises:
        ModelError: it runs in neither, or says so itself.
    """
    for dtype in (torch.float64, torch.float32):
        try:
            with undisturbed():
                return run(small_copy(model, dtype, reach))
        except ModelError:
            raise
        # libraries have as many ways as layers to say that they cannot
        except Exception as error:
            failure = f"{type(error).__name__}: {first_line(error)}"
    raise ModelError(f"a small copy of it does not run ({failure})")


@contextlib.contextmanager
def undisturbed(device: str = "cpu") -> Iterator[None]:
    """Keep from another model what a process may have set for its own: a default device, half precision, ZeRO-3.

    Args:
        device: where it is made; "meta" makes it without weights.
    """
    from transformers.integrations import deepspeed

    weak = deepspeed._hf_deepspeed_config_weak_ref
    sharding = weak and weak()
    # transformers would spread its weights over the processes, and TRL's head gather what nobody spread
    deepspeed.unset_hf_deepspeed_config()  # type: ignore[no-untyped-call]
    try:
        with torch.no_grad(), torch.device(device), torch.autocast("cpu", enabled=False):
            yield
    finally:
        if sharding is not None:
            deepspeed.set_hf_deepspeed_config(sharding)


def small_copy(model: Any, dtype: torch.dtype, reach: int | None = None) -> Any:
    """The copy, on the CPU, in evaluation mode and with plain attention; no random state is touched.

    Args:
        model: a causal language model of transformers without adapter, on whatever device.
        dtype: of its weights.
        reach: windows and chunks that are shorter are cut to `WINDOW`, others stay; None cuts all.

    Raises:
        ModelError: the copy would not be small.
        Exception: transformers makes none; what it says.
    """
    config = type(model.config).from_dict(_settings(model, reach))
    config._attn_implementation = "eager"
    with torch.device("meta"):
        size = parameters(type(model)(config))
    if size > MOST_WEIGHTS:
        raise ModelError(f"its small copy has {size:,} weights")
    with torch.random.fork_rng(devices=[]), torch.device("cpu"):
        torch.manual_seed(0)
        # not by from_config, which spreads weights over processes where DeepSpeed is set so
        small = type(model)(config).to(dtype).eval()
        _draw(small)
    return small


def _settings(model: Any, reach: int | None) -> dict[str, Any]:
    """The copy's configuration."""
    config = model.config
    settings: dict[str, Any] = copy.deepcopy(config.to_dict())
    settings.pop("quantization_config", None)
    names = {
        name: config.attribute_map.get(name, name)
        for name in ("num_hidden_layers", "num_attention_heads", "hidden_size")
    }
    n_layers, heads = config.num_hidden_layers, config.num_attention_heads
    size = settings.get("head_dim") or config.hidden_size // heads
    kv_heads = settings.get("num_key_value_heads") or heads
    group = max(1, heads // kv_heads)
    n_kv_heads = 2 if group <= 4 else 1

    def is_per_layer(value: Any) -> bool:
        return isinstance(value, list) and len(value) == n_layers

    lists = [value for value in settings.values() if is_per_layer(value)]
    # where layers take the keys of earlier ones, they find them by their distance
    n_kept = n_layers if settings.get("num_kv_shared_layers") else _n_kinds(model, lists, n_layers)
    for name, value in settings.items():
        settings[name] = _cut(name, value[:n_kept] if is_per_layer(value) else value, reach)
    if settings.get("num_key_value_heads"):
        settings["num_key_value_heads"] = n_kv_heads
    if "per_layer_config" in settings:
        settings["per_layer_config"] = {
            place: layer for place, layer in settings["per_layer_config"].items() if int(place) < n_kept
        }
    sizes = {
        "num_hidden_layers": n_kept,
        "num_attention_heads": n_kv_heads * group,
        "hidden_size": n_kv_heads * group * size,
    }
    return settings | {names[name]: value for name, value in sizes.items()}


def _cut(name: str, value: Any, reach: int | None) -> Any:
    """A value of the configuration, small where it is a size that says nothing of who sees whom."""
    if isinstance(value, dict):
        return {inner: _cut(str(inner), number, reach) for inner, number in value.items()}
    if isinstance(value, list):
        return [_cut(name, number, reach) for number in value]
    if isinstance(value, bool) or not isinstance(value, int):
        return 0.0 if isinstance(value, float) and CHANCE.search(name) else value
    if "vocab_size" in name:
        return VOCABULARY
    if reach is not None and value >= reach and SEEN.search(name):
        return value
    return next((min(value, most) for pattern, most in MOST if pattern.search(name)), value)


def _n_kinds(model: Any, lists: list[list[Any]], n_layers: int) -> int:
    """How many of the first layers have one of each kind, at least 2; kinds differ in modules, what these are told, or lists."""
    stacks = [
        module for module in model.modules() if isinstance(module, torch.nn.ModuleList) and len(module) == n_layers
    ]
    seen: set[Any] = set()
    last = min(2, n_layers)
    for place in range(n_layers):
        kind = (
            tuple(tuple(map(_told, stack[place].modules())) for stack in stacks),
            tuple(str(values[place]) for values in lists),
        )
        if kind not in seen:
            seen.add(kind)
            last = max(last, place + 1)
    return last


def _told(part: torch.nn.Module) -> tuple[Any, ...]:
    """The class of a module, and the switches, names and whole numbers that it holds."""
    attributes = ((name, value) for name, value in vars(part).items() if not NO_KIND.search(name))
    return type(part).__name__, *(
        (name, value) for name, value in attributes if isinstance(value, bool | int | str | None)
    )


@torch.no_grad()
def _draw(small: Any) -> None:
    """Weights that leave no way from one token to another without effect, as small ones of a first training would."""
    for weight in small.parameters():
        noise = torch.randn(weight.shape, dtype=torch.float64)
        if weight.ndim < 2:
            # a gate that is made nearly closed may open in training
            weight.clamp_(-1, 1).add_((noise * SHIFT).to(weight.dtype))
        else:
            weight.copy_((noise * (GAIN / weight.shape[-1] ** 0.5)).to(weight.dtype))
    # and buffers that are kept with the weights
    saved = small.state_dict()
    for name, buffer in small.named_buffers():
        if name in saved and buffer.is_floating_point() and buffer.ndim < 2:
            buffer.add_(torch.rand(buffer.shape, dtype=torch.float64).to(buffer.dtype) * SHIFT)
