"""How large a model is, from its configuration alone: on torch's meta device weights have shapes and no numbers."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import ModelError
from ..extras import need
from .embedded import EMBEDDED
from .files import CONFIG, TIED, read_settings
from .hub import first_line, refusal
from .places import file_at_hand, is_hub_id, locate

# seconds that a hub has to give a configuration
PATIENCE = 5


@dataclass(frozen=True)
class Sizes:
    """The sizes of a causal language model that operations and memory follow from."""

    # all weights, shared ones once
    parameters: int
    # weights of the layers' matrices through which a token goes: of experts those that it is sent to
    body: int
    # weights of the matrix that makes logits
    head: int
    # weights outside of the layers: embeddings, head and last norm, a matrix that is both counted once
    outer: int
    layers: int
    # numbers of a token's queries, and of its keys or values, in a layer
    width: int
    kv_width: int


def meta_model(
    name: str,
    revision: str | None,
    feature: str,
    *,
    dtype: str = "bfloat16",
    is_causal: bool = True,
    has_buffers: bool = False,
) -> Any:
    """The model on torch's meta device: every weight has its shape and no number, and nothing of them is read.

    Args:
        name: Hugging Face id, folder, GGUF file or embedded model; of an id only config.json is fetched, where it is not here.
        revision: branch, tag or commit of an id.
        feature: what the user asked for, as errors name it.
        dtype: number format of the weights.
        is_causal: False makes what the configuration names as its architecture.
        has_buffers: whether what is no weight (a rotary embedding's frequencies) has its numbers, on the CPU.

    Raises:
        MissingExtra: torch, transformers or accelerate is not installed.
        ModelError: the configuration is not here, or transformers knows no such model.
    """
    transformers, torch = need("transformers", feature), need("torch", feature)
    folder = settings_folder(name, revision, feature)
    try:
        config = transformers.AutoConfig.from_pretrained(folder, trust_remote_code=False)
        with need("accelerate", feature).init_empty_weights(include_buffers=not has_buffers):
            if is_causal:
                return transformers.AutoModelForCausalLM.from_config(
                    config, dtype=getattr(torch, dtype), trust_remote_code=False
                )
            architecture = next(iter(config.architectures or ()), "AutoModel")
            kind = getattr(transformers, architecture, transformers.AutoModel)
            model = kind.from_config(config) if kind is transformers.AutoModel else kind(config)
            if read_settings(Path(folder) / CONFIG).get(TIED) is False:
                _untie(model, torch)
            return model
    except (OSError, ValueError, KeyError, AttributeError, TypeError) as error:
        raise ModelError(f"model {name!r}: no sizes can be read from {folder}/{CONFIG}: {first_line(error)}") from error


def _untie(model: Any, torch: Any) -> None:
    """Give a model the head of its own that config.json says it has; transformers ties every T5."""
    head, words = model.get_output_embeddings(), model.get_input_embeddings()
    if head is not None and head.weight is words.weight:
        head.weight = torch.nn.Parameter(torch.empty_like(words.weight, device="meta"))


def settings_folder(name: str, revision: str | None, feature: str) -> str:
    """The folder of a model's config.json, which alone need be there.

    Raises:
        ModelError: it is not on this machine, and no hub gives it.
    """
    path = file_at_hand(name, revision, CONFIG)
    if path is not None:
        return str(path.parent)
    if not is_hub_id(name):
        # made from a package or a GGUF file; a folder without a configuration is refused
        place = locate(name)
        if name.startswith(EMBEDDED) or name.endswith(".gguf"):
            return place
    hub = need("huggingface_hub", feature)
    try:
        # asked once: a hub that does not answer would be tried five times, for half a minute
        if (refused := refusal(name, revision, feature, PATIENCE)) is not None:
            raise refused
        file = hub.hf_hub_download(name, CONFIG, revision=revision, etag_timeout=PATIENCE)
    except (need("httpx", feature).HTTPError, OSError, ValueError) as error:
        raise ModelError(
            f"model {name!r}: its config.json is not on this machine, and the hub does not give it ({first_line(error)}); name a "
            "folder that holds one"
        ) from error
    return str(file).removesuffix(f"/{CONFIG}")


def sizes_of(model: Any) -> Sizes:
    """The sizes of a causal language model of transformers without adapter, on whatever device."""
    config = model.config.get_text_config()
    head, embeddings = model.get_output_embeddings().weight, model.get_input_embeddings().weight
    layers = model.get_submodule(layers_name(model))
    total = parameters(model)
    heads = config.num_attention_heads
    size = getattr(config, "head_dim", None) or config.hidden_size // heads
    return Sizes(
        parameters=total,
        body=sum(_met(p, config) for p in model.parameters() if p.ndim > 1)
        - embeddings.numel()
        - (0 if head is embeddings else head.numel()),
        head=head.numel(),
        outer=total - sum(p.numel() for p in layers.parameters()),
        layers=len(layers),
        width=heads * size,
        kv_width=(getattr(config, "num_key_value_heads", None) or heads) * size,
    )


def _met(weights: Any, config: Any) -> int:
    """Weights of a matrix that one token meets: transformers keeps a layer's experts as one block, (experts, out, in)."""
    chosen = getattr(config, "num_experts_per_tok", None)
    if weights.ndim != 3 or chosen is None:
        return int(weights.numel())
    return int(weights[0].numel() * min(chosen, len(weights)))


def layers_name(model: Any) -> str:
    """Name of the list of a model's layers: the longest list of modules in it.

    Raises:
        ModelError: it has none.
    """
    lists: dict[str, int] = {
        name: len(m) for name, m in model.named_modules() if type(m).__name__ == "ModuleList" and len(m)
    }
    if not lists:
        raise ModelError(f"{type(model).__name__} has no list of layers, so its sizes are unknown")
    return max(lists, key=lambda name: lists[name])


def parameters(model: Any) -> int:
    """Weights of a model, shared ones counted once."""
    return int(sum(p.numel() for p in model.parameters()))
