"""The policy and what it is held to: base model, adapter to train, frozen reference.

| adapter to start from | reference | policy | reference policy |
| --- | --- | --- | --- |
| none | initial, previous | base + new adapter | base |
| one | initial | base + that adapter | base |
| one | previous | base + that adapter | base + a frozen copy of it |

TRL takes the base for the reference when it makes the adapter itself, and a frozen copy ("ref") when it is given a model
that has one. A continued adapter held to the base is therefore made anew by TRL and filled afterwards (`fill_adapter`).
"""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..config import LoraSection, ModelSection
from ..errors import ModelError, RecipeError
from ..extras import need
from ..models import file_at_hand
from ..models.adapters import adapter_weights, lora_config, open_adapter
from ..models.files import CONFIG, read_settings
from ..models.opening import fitting_attention, open_chat_tokenizer, open_model
from ..models.sizes import meta_model
from ..runfolder.phases import Phase

# the name that PEFT and TRL give to the adapter that is trained
TRAINED = "default"
UNSHARDED = "plain"


@dataclass(frozen=True)
class Policy:
    """What DPOTrainer is given."""

    # the base model, or a PeftModel with the adapter to continue
    model: Any
    # the adapter that TRL makes; None when the model has it
    peft_config: Any
    # adapter folder whose weights go into the adapter after TRL made it
    start: Path | None
    # what is trained and what it is held to, in one line
    line: str
    # the first loss must be ln 2
    starts_at_reference: bool


def sharding() -> str:
    """How this process was launched: "zero2", "zero3", "fsdp", or "plain" for one process or DDP.

    The checkpoints of one kind cannot be continued by another.
    """
    if os.environ.get("ACCELERATE_USE_DEEPSPEED", "").lower() == "true":
        return f"zero{os.environ.get('ACCELERATE_DEEPSPEED_ZERO_STAGE', '')}"
    return "fsdp" if os.environ.get("ACCELERATE_USE_FSDP", "").lower() == "true" else UNSHARDED


def load_tokenizer(section: ModelSection) -> Any:
    """The model's tokenizer.

    Raises:
        ModelError: it cannot be read.
    """
    return open_chat_tokenizer(section.name, "training", section.revision, section.chat_template_kwargs)


def refuse_quantised(section: ModelSection) -> None:
    """Refuse a model whose files, as far as they are here, hold quantised weights, unless as `model.quantise` would make them.

    Raises:
        RecipeError: they do.
    """
    path = file_at_hand(section.name, section.revision, CONFIG)
    settings = read_settings(path).get("quantization_config") if path else None
    if not settings:
        return
    # how transformers tells bitsandbytes, whose older files name no method
    is_nf4 = settings.get("load_in_4bit") and settings.get("bnb_4bit_quant_type") == "nf4"
    if is_nf4 and section.quantise is None:
        raise RecipeError(
            f"key 'model.quantise': the weights of {section.name!r} are quantised (bitsandbytes, nf4) in their files; write "
            "model.quantise: nf4"
        )
    if not is_nf4:
        raise RecipeError(
            f"key 'model.name': the weights of {section.name!r} are quantised ({settings.get('quant_method', 'in some way')}), "
            "and adapters are trained on whole ones; name the model that it was made from, and write model.quantise: nf4 for "
            "four bits"
        )


def load_base(section: ModelSection, attention: str | None = None) -> Any:
    """The base model, quantised where the recipe asks for it.

    Args:
        section: the recipe's.
        attention: attention implementation; None takes that of a model that is not trained with a shared prefix.

    Raises:
        ModelError: it cannot be opened.
        RecipeError: its files hold quantised weights.
        MissingExtra: `quantise` needs bitsandbytes, which is not installed.
    """
    refuse_quantised(section)
    attention = attention or section.answers_with
    if sharding() == "fsdp" and section.quantise is None and _is_sent_to():
        return _without_weights(section, attention)
    return open_model(
        "AutoModelForCausalLM",
        section.name,
        "training",
        revision=section.revision,
        dtype=getattr(need("torch", "training"), section.dtype),
        attn_implementation=attention,
        quantization_config=quantisation(section),
    )


def _is_sent_to() -> bool:
    """Whether FSDP sends this process the weights, which the first of its machine alone has to read."""
    loading = need("transformers.modeling_utils", "training")
    return bool(loading.is_fsdp_enabled() and not loading.is_local_dist_rank_0())


def _without_weights(section: ModelSection, attention: str) -> Any:
    """The base model with one zero in all places of each weight, in no memory.

    transformers reads a whole model in every process, and until 5.19 fills it with zeros. accelerate puts the weights onto the
    meta device before it sends them.
    """
    torch = need("torch", "training")
    model = meta_model(section.name, section.revision, "training", dtype=section.dtype, has_buffers=True)
    for name, weight in list(model.named_parameters(remove_duplicate=False)):
        zeros = torch.nn.Parameter(torch.zeros((), dtype=weight.dtype).expand(weight.shape))
        place, _, leaf = name.rpartition(".")
        setattr(model.get_submodule(place), leaf, zeros)
    model.tie_weights()
    model.set_attn_implementation(fitting_attention(attention, model.config.to_dict()))
    return model.eval()


def quantisation(section: ModelSection) -> Any:
    """How transformers is to quantise a model; None where the recipe does not ask for it.

    FSDP spreads numbers with a fraction and leaves others whole on every process. Four-bit weights are therefore kept as the
    numbers that FSDP computes with, since it would turn others into those, and with them the bits inside.

    Raises:
        MissingExtra: bitsandbytes is not installed.
    """
    if section.quantise is None:
        return None
    need("bitsandbytes", "model.quantise: nf4")
    torch = need("torch", "training")
    dtype = getattr(torch, section.dtype)
    computed = {"bf16": torch.bfloat16, "fp16": torch.float16}.get(
        os.environ.get("ACCELERATE_MIXED_PRECISION", ""), dtype
    )
    # source: Dettmers et al. 2023 (arXiv:2305.14314), section 3: NF4 with double quantisation
    return need("transformers", "training").BitsAndBytesConfig(
        load_in_4bit=True,
        bnb_4bit_quant_type="nf4",
        bnb_4bit_use_double_quant=True,
        bnb_4bit_compute_dtype=dtype,
        bnb_4bit_quant_storage=computed if sharding() == "fsdp" else torch.uint8,
    )


def open_policy(phase: Phase, *, zero3: bool) -> Policy:
    """The policy of a round, as the recipe asks for it.

    Args:
        phase: the round.
        zero3: DeepSpeed ZeRO-3 shards the weights; the adapter then keeps the base's dtype, as TRL does for new ones.

    Raises:
        ModelError: model or adapter cannot be opened.
        RecipeError: the adapter to start from has another shape than the section 'lora' says, or the model cannot be trained
            with a shared prefix, or at all.
    """
    peft = need("peft", "training")
    recipe = phase.recipe
    start, attention = phase.adapter, recipe.model.attn_implementation
    if recipe.train.trainer == "shared-prefix":
        from .attention import loaded_with, use_packed_attention

        base = load_base(recipe.model, loaded_with(attention))
        use_packed_attention(base, attention)
    else:
        from .probe import refuse_stock

        base = load_base(recipe.model)
        refuse_stock(base)
    if start is None:
        line = "policy = base + A(new, trainable); reference = base"
        return Policy(base, new_lora_config(peft, recipe.lora), None, line, starts_at_reference=True)
    config = adapter_config(start, recipe.lora)
    continued = f"policy = base + A(continued from {start.parent.name}/{start.name}, trainable)"
    if recipe.train.reference == "initial":
        return Policy(base, config, start, f"{continued}; reference = base", starts_at_reference=False)
    keep_dtype = zero3 and recipe.model.quantise is None
    model = open_adapter(base, start, config=config, is_trainable=True, autocast_adapter_dtype=not keep_dtype)
    # what TRL rounds is filled in again
    rounded = start if recipe.model.quantise else None
    return Policy(model, None, rounded, f"{continued}; reference = base + A(frozen copy)", starts_at_reference=True)


def widen_adapter(model: Any) -> None:
    """Give the adapter that is trained float32, as PEFT makes it; of weights in four bits TRL rounds it to bfloat16.

    There a step of 1e-5, the learning rate that adapters have here, is less than half of what tells two weights near .01 apart,
    so that weights that do not begin at zero would stay where they are. And PEFT reads a checkpoint back in float32, so that a
    training would continue in other numbers. DeepSpeed keeps float32 beside its bfloat16 by itself, and with ZeRO-3 it takes one
    type alone.
    """
    if sharding() == "zero3":
        return
    for weight in model.parameters():
        if weight.requires_grad:
            weight.data = weight.data.float()


def fill_adapter(model: Any, folder: Path) -> None:
    """Put the weights of an adapter folder into the adapter that is trained.

    Raises:
        ModelError: the folder's weights are not those of this adapter.
    """
    need("peft", "training")
    from peft.utils.save_and_load import get_peft_model_state_dict, set_peft_model_state_dict

    weights = adapter_weights(folder)
    wanted = get_peft_model_state_dict(model, adapter_name=TRAINED).keys()
    if wanted != weights.keys():
        differing = sorted(wanted ^ weights.keys())
        raise ModelError(
            f"adapter {folder}: its weights are not those that are trained, beginning with {differing[0]!r}"
        )
    set_peft_model_state_dict(model, weights, adapter_name=TRAINED)


def new_lora_config(peft: Any, section: LoraSection) -> Any:
    targets = section.target_modules
    return peft.LoraConfig(
        r=section.r,
        lora_alpha=section.lora_alpha,
        lora_dropout=section.lora_dropout,
        target_modules=targets if isinstance(targets, str) else list(targets),
        bias="none",
        task_type="CAUSAL_LM",
    )


def adapter_config(folder: Path, section: LoraSection) -> Any:
    """The configuration of the adapter to continue; its shape must be what the recipe says, because it cannot change."""
    config = lora_config(folder)
    differing = [
        f"lora.{name} is {getattr(section, name)}, the adapter has {getattr(config, name)}"
        for name in ("r", "lora_alpha")
        if getattr(section, name) != getattr(config, name)
    ]
    named = not isinstance(section.target_modules, str) and not isinstance(config.target_modules, str)
    if named and set(section.target_modules) != set(config.target_modules):
        differing.append(
            f"lora.target_modules is {sorted(section.target_modules)}, the adapter has {sorted(config.target_modules)}"
        )
    if differing:
        raise RecipeError(
            f"adapter {folder} cannot be continued with another shape: {'; '.join(differing)}; write the adapter's own "
            "values, or start from a new adapter"
        )
    config.inference_mode = False
    config.lora_dropout = section.lora_dropout
    return config
