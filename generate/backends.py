"""The backends by name, opened when a stage needs one."""

from pathlib import Path

from .. import models
from ..config import BackendSection, ModelSection
from .backend import Backend


def open_backend(section: BackendSection, model: ModelSection, adapter: Path | None = None) -> Backend:
    """The backend of that name with its model loaded.

    Raises:
        MissingExtra: its library is not installed.
        ModelError: the model cannot be opened.
    """
    signature = backend_signature(section, model, adapter)
    if section.backend == "scripted":
        from ..models.opening import open_chat_tokenizer
        from .scripted import ScriptedBackend

        # keys of its engine: seconds_per_batch, and tokenize: true for the model's own prompt tokens
        options, tokenizer = dict(section.engine), None
        if options.pop("tokenize", False):
            tokenizer = open_chat_tokenizer(model.name, "backend 'scripted' with tokenize", model.revision)
        return ScriptedBackend(max_model_len=section.max_model_len, tokenizer=tokenizer, **options)
    if section.backend == "transformers":
        from .transformers_backend import TransformersBackend

        return TransformersBackend(section, model, adapter, signature)
    from .vllm_backend import VllmBackend

    return VllmBackend(section, model, adapter, signature)


def backend_signature(section: BackendSection, model: ModelSection, adapter: Path | None = None) -> str:
    """Text that names model, adapter, number type and backend; known without loading anything."""
    if section.backend == "scripted":
        return "scripted:copy_a_sentence"
    name = models.signature(model.name, model.revision, adapter)
    return f"{name}|{model.dtype}|{section.backend}"
