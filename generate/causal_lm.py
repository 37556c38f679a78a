"""Opening a language model of transformers and a LoRA adapter: in one place, so that none of them can bring code."""

from pathlib import Path
from typing import Any

from ..config import ModelSection
from ..errors import ModelError
from ..extras import need
from ..models import locate

WEIGHTS = "adapter_model.safetensors"


def open_causal_lm(model: ModelSection, what: str, attention: str | None = None) -> tuple[Any, Any]:
    """Tokenizer and model, in evaluation mode, on the accelerator where there is one.

    Args:
        model: what is opened, without its adapter.
        what: for whom, as an error should name it: "backend 'transformers'".
        attention: attention implementation; None takes the section's.

    Raises:
        ModelError: the model cannot be opened.
    """
    torch, transformers = need("torch", what), need("transformers", what)
    folder = locate(model.name, model.revision)
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder, revision=model.revision, trust_remote_code=False)
        loaded = transformers.AutoModelForCausalLM.from_pretrained(
            folder,
            revision=model.revision,
            dtype=getattr(torch, model.dtype),
            attn_implementation=attention or model.attn_implementation,
            trust_remote_code=False,
        )
    except (ValueError, OSError) as error:
        raise ModelError(f"{what} cannot open model {model.name!r}: {error}") from error
    return tokenizer, loaded.to("cuda" if torch.cuda.is_available() else "cpu").eval()


def open_adapter(model: Any, adapter: Path, **options: Any) -> Any:
    """The model with a LoRA adapter from a folder, in evaluation mode.

    Args:
        model: of transformers.
        adapter: folder with weights as safetensors; a pickle in its place is not opened.
        options: of `peft.PeftModel.from_pretrained`.

    Raises:
        ModelError: the folder holds no such weights, or they do not fit the model.
    """
    refuse_adapter(adapter)
    try:
        return need("peft", "an adapter").PeftModel.from_pretrained(model, adapter, **options).eval()
    except (ValueError, OSError, RuntimeError) as error:
        raise ModelError(f"adapter {adapter}: cannot be opened or does not fit its model: {error}") from error


def refuse_adapter(adapter: Path) -> None:
    """Refuse an adapter folder without weights as safetensors, in whose place peft would open a pickle.

    Raises:
        ModelError: there are none.
    """
    if not (adapter / WEIGHTS).is_file():
        raise ModelError(
            f"adapter {adapter}: holds no {WEIGHTS}; save it with save_pretrained of peft, which writes one"
        )


def end_ids(model: Any, tokenizer: Any) -> set[int]:
    """Token ids that end a reply: those of the generation settings and the tokenizer's end token."""
    named = model.generation_config.eos_token_id
    ids = set(named if isinstance(named, list) else [named])
    return {i for i in ids | {tokenizer.eos_token_id} if i is not None}
