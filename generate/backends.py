"""The backends by name, opened when a stage needs one; and what writes the candidates of a phase.

That is the recipe's backend, or what its method needs in its place.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from .. import models
from ..config import BackendSection, ModelSection, without_speed
from ..fairness.content_tokens import VERSION
from ..models.dates import signed_date
from ..runfolder.engines import refuse_large
from ..runfolder.phases import Phase
from ..runfolder.timing import booked
from ..storage import digest
from .backend import Ask, Backend, Reply, Usage
from .methods import METHODS

# signature of what writes summaries without a model
NO_MODEL = f"no model|content-tokens:{VERSION}"


@dataclass
class NoBackend:
    """The backend of a method that asks no model."""

    signature: str = NO_MODEL
    usage: Usage = field(default_factory=Usage)

    def complete(self, asks: Sequence[Ask]) -> list[Reply]:
        """Nothing is ever asked."""
        raise AssertionError(f"{len(asks)} asks, but there is no model")

    def close(self) -> None:
        """Nothing to give back."""


def open_backend(section: BackendSection, model: ModelSection, adapter: Path | None = None) -> Backend:
    """The backend of that name with its model loaded.

    Raises:
        MissingExtra: its library is not installed.
        ModelError: the model cannot be opened.
        RecipeError: the engine needs more GPUs than there are.
    """
    signature = backend_signature(section, model, adapter)
    if section.backend == "scripted":
        from ..models.opening import open_chat_tokenizer
        from .scripted import ScriptedBackend

        # keys of its engine: seconds_per_batch, and tokenize: true for the model's own prompt tokens
        options, tokenizer = dict(section.engine), None
        if options.pop("tokenize", False):
            what = "backend 'scripted' with tokenize"
            tokenizer = open_chat_tokenizer(model.name, what, model.revision, model.chat_template_kwargs)
        return ScriptedBackend(max_model_len=section.max_model_len, tokenizer=tokenizer, **options)
    if section.backend == "transformers":
        from .transformers_backend import TransformersBackend

        return TransformersBackend(section, model, adapter, signature)
    if section.backend == "openai":
        from .server.backend import ServerBackend

        return ServerBackend(section, model, adapter, signature)
    refuse_large(section)
    from .vllm_backend import VllmBackend

    return VllmBackend(section, model, adapter, signature)


def backend_signature(section: BackendSection, model: ModelSection, adapter: Path | None = None) -> str:
    """Text that names model, adapter, number type and backend, and the date where prompts hold it; no model is loaded."""
    if section.backend == "scripted":
        return "scripted:copy_a_sentence"
    day = signed_date(model.name, model.revision) if section.reads_model else ""
    switched = f"template:{digest(model.chat_template_kwargs, 8)}" if model.chat_template_kwargs else None
    if section.server is None:
        named = models.signature(model.name, model.revision, adapter)
        return "|".join(filter(None, [named, model.dtype, section.backend, switched, day]))
    # another server's model of that name counts as the same; fields of its requests change what it says
    served, fields = section.server.model, without_speed(section.model_dump(mode="json"))["engine"]
    name = models.signature(model.name, model.revision, adapter) if section.reads_model else served or model.name
    parts = [
        name,
        served if section.reads_model else None,
        "openai",
        f"request:{digest(fields, 8)}" if fields else None,
        switched,
        day,
    ]
    return "|".join(filter(None, parts))


def signature_of(phase: Phase) -> str:
    """What the candidates of the phase depend on besides what is asked; known without loading anything."""
    section = phase.recipe.generate
    return backend_signature(section, phase.recipe.model, phase.adapter) if section.options.asks_model else NO_MODEL


def open_backend_of(phase: Phase) -> Backend:
    """The backend with the model of the phase's policy loaded.

    Raises:
        MissingExtra: its library is not installed.
        ModelError: the model cannot be opened.
    """
    section = phase.recipe.generate
    if not section.options.asks_model:
        return NoBackend()
    with booked("loading"):
        if (open_own := METHODS[phase.method].open_backend) is not None:
            return open_own(phase, backend_signature(section, phase.recipe.model, phase.adapter))
        return open_backend(section, phase.recipe.model, phase.adapter)
