"""Models that others made: where they lie, what names them, and that they are whole before anything is asked of them.

| module | what it looks at | needs |
| --- | --- | --- |
| places | ids, folders, GGUF files, models that packages carry | nothing |
| files | sizes, headers and settings of the files | safetensors, where installed |
| wholeness | names, shapes and numbers of weights that were loaded | nothing |
| opening | opens models and tokenizers of transformers, whole | transformers |
| adapters | the same of LoRA adapters | peft |
"""

from .places import (
    EMBEDDED_MODELS,
    adapter_digest,
    cache_folder,
    check,
    file_at_hand,
    is_hub_id,
    locate,
    public_name,
    refuse_out_of_reach,
    signature,
    usable_cache,
)

__all__ = [
    "EMBEDDED_MODELS",
    "adapter_digest",
    "cache_folder",
    "check",
    "file_at_hand",
    "is_hub_id",
    "locate",
    "public_name",
    "refuse_out_of_reach",
    "signature",
    "usable_cache",
]
