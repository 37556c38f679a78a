"""What writes the candidates of a phase: the recipe's backend, or what its method needs in its place."""

from ..runfolder.phases import Phase
from ..runfolder.timing import booked
from .backend import Backend
from .backends import backend_signature, open_backend
from .fair_extractive import NoModel


def signature_of(phase: Phase) -> str:
    """What the candidates of the phase depend on besides what is asked; known without loading anything."""
    section = phase.recipe.generate
    if section.fair_extractive is not None:
        return NoModel().signature
    return backend_signature(section, phase.recipe.model, phase.adapter)


def open_backend_of(phase: Phase) -> Backend:
    """The backend with the model of the phase's policy loaded.

    Raises:
        MissingExtra: its library is not installed.
        ModelError: the model cannot be opened.
    """
    section = phase.recipe.generate
    if section.fair_extractive is not None:
        return NoModel()
    with booked("loading"):
        if (options := section.attention_reweighting) is not None:
            from .pine.backend import PineBackend

            return PineBackend(section, phase.recipe.model, phase.adapter, is_control=not options.reweight)
        return open_backend(section, phase.recipe.model, phase.adapter)
