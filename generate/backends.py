"""The backends by name, opened when a stage needs one; and what writes the candidates of a phase.

That is the recipe's backend, or what its method needs in its place.
"""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from .. import models
from ..config import BackendSection, ModelSection
from ..config.model import BACKEND_TRAITS, BackendTraits
from ..doors import Door, guarded, guarded_call, guarded_fields
from ..errors import PluginError
from ..fairness.content_tokens import VERSION
from ..models.dates import signed_date
from ..runfolder.engine_pool import POOL
from ..runfolder.engines import refuse_large
from ..runfolder.phases import Phase
from ..runfolder.timing import booked
from ..text.digests import digest
from .backend import Ask, Backend, Reply, Usage, reply_mistake
from .methods import METHODS
from .pooled_backend import PooledBackend

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


@dataclass(frozen=True)
class BackendKind:
    """How a backend is opened: what the door of backends has by name."""

    # the backend with its model loaded, from its section, the model, the folder of its adapter, and the signature of all three
    open: Callable[[BackendSection, ModelSection, Path | None, str], Backend]
    # what a recipe has to know of it
    traits: BackendTraits = field(default_factory=BackendTraits)
    # what its replies depend on besides what is asked, from its section, the model and the adapter, without loading any; None:
    # files of the model, its number type, the backend and the package
    signature: Callable[[BackendSection, ModelSection, Path | None], str] | None = None


def _scripted(section: BackendSection, model: ModelSection, adapter: Path | None, signature: str) -> Backend:
    from ..models.opening import open_chat_tokenizer
    from .scripted import ScriptedBackend

    # keys of its engine: seconds_per_batch, and tokenize: true for the model's own prompt tokens
    options, tokenizer = dict(section.engine), None
    if options.pop("tokenize", False):
        feature = "backend 'scripted' with tokenize"
        tokenizer = open_chat_tokenizer(model.name, feature, model.revision, model.chat_template_kwargs)
    return ScriptedBackend(max_model_len=section.max_model_len, tokenizer=tokenizer, **options)


def _transformers(section: BackendSection, model: ModelSection, adapter: Path | None, signature: str) -> Backend:
    from .transformers_backend import TransformersBackend

    return TransformersBackend(section, model, adapter, signature)


def _vllm(section: BackendSection, model: ModelSection, adapter: Path | None, signature: str) -> Backend:
    refuse_large(section)
    from .vllm_backend import VllmBackend

    return VllmBackend(section, model, adapter, signature)


OPENERS = {"vllm": _vllm, "transformers": _transformers, "scripted": _scripted}


def open_backend(section: BackendSection, model: ModelSection, adapter: Path | None = None) -> Backend:
    """The backend of that name with its model loaded, in a loop that keeps engines by one of them.

    Raises:
        MissingExtra: its library is not installed.
        ModelError: the model cannot be opened.
        RecipeError: the engine needs more GPUs than there are.
        PluginError: it is another package's, and cannot be opened.
    """
    signature = backend_signature(section, model, adapter)
    if POOL in os.environ and section.traits.pooled_keys is not None:
        return PooledBackend(section, model, adapter, signature)
    return BACKENDS[section.backend].open(section, model, adapter, signature)


class PackagedBackend:
    """A backend of another package, whose replies are counted.

    Args:
        backend: of the package.
        label: of its kind.
    """

    def __init__(self, backend: Backend, label: str) -> None:
        self._backend, self._label = guarded(backend, label), label
        self.signature = backend.signature
        self.usage = backend.usage
        self.close = self._backend.close

    def complete(self, asks: Sequence[Ask]) -> list[Reply]:
        """One reply for each ask, in order.

        Raises:
            PluginError: the package's code raised, or gave anything else.
        """
        replies: object = self._backend.complete(asks)
        if not isinstance(replies, list | tuple) or len(replies) != len(asks):
            amount = len(replies) if isinstance(replies, list | tuple) else type(replies).__name__
            raise PluginError(f"{self._label} gave {amount} for {len(asks)} asks; return a list with a Reply for each")
        if mistake := next((wrong for reply in replies if (wrong := reply_mistake(reply))), None):
            raise PluginError(f"{self._label} gave {mistake}")
        return list(replies)


def _guarded_kind(kind: BackendKind, label: str) -> BackendKind:
    kind = guarded_fields(kind, label)
    return replace(kind, open=guarded_call(lambda *opening: PackagedBackend(kind.open(*opening), label), label))


BACKENDS: Door[BackendKind] = Door(
    "backends",
    "backend",
    lambda thing: isinstance(thing, BackendKind),
    {name: BackendKind(opener, BACKEND_TRAITS[name]) for name, opener in OPENERS.items()},
    guard=_guarded_kind,
)


def backend_signature(section: BackendSection, model: ModelSection, adapter: Path | None = None) -> str:
    """Text that names model, adapter, number type and backend, and the date where prompts hold it; no model is loaded."""
    if section.backend == "scripted":
        return "scripted:copy_a_sentence"
    own, package = BACKENDS[section.backend].signature, BACKENDS.package(section.backend)
    if own is not None:
        return "|".join(filter(None, (own(section, model, adapter), package)))
    files = models.signature(model.name, model.revision, adapter)
    parts = [files, model.dtype, section.backend, package, *prompt_parts(section, model)]
    return "|".join(filter(None, parts))


def prompt_parts(section: BackendSection, model: ModelSection) -> list[str | None]:
    """What a signature has of prompts: switches of the chat template, and the date where they hold it."""
    switched = f"template:{digest(model.chat_template_kwargs, 8)}" if model.chat_template_kwargs else None
    return [switched, signed_date(model.name, model.revision) if section.reads_model else None]


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
