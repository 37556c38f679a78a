"""How long summaries are: the opinion graph falls with length whatever is said, so length stands beside the measures."""

from collections.abc import Iterator, Sequence

from ...text import sentences, words
from .contents import PairedDifference, SystemNote
from .input import System
from .quantities import OPINION_GRAPH

# ratio of mean sentences from which two systems are no longer of like length
UNLIKE = 1.1


def mean_length(system: System) -> tuple[float, float]:
    """Mean words and sentences of the system's summaries, empty ones with 0; 0 without any summary."""
    texts = list(system.summaries.values())
    n = max(1, len(texts))
    return sum(len(words(text)) for text in texts) / n, sum(len(sentences(text)) for text in texts) / n


def told_by_length(differences: Sequence[PairedDifference], systems: Sequence[SystemNote]) -> list[PairedDifference]:
    """The differences of the opinion graph between systems of unlike length."""
    by_label = {system.label: system.n_sentences for system in systems}
    return [
        d for d in differences if d.measure.kind == OPINION_GRAPH and _unlike(by_label[d.system], by_label[d.reference])
    ]


def of_length(differences: Sequence[PairedDifference], systems: Sequence[SystemNote]) -> Iterator[str]:
    """A warning where systems of unlike length are compared by the opinion graph."""
    found = told_by_length(differences, systems)
    if found:
        named = dict.fromkeys((found[0].reference, *(each.system for each in found)))
        by_label = {system.label: system for system in systems}
        shown = ", ".join(f"{label} {by_label[label].n_sentences:.1f}" for label in named)
        yield (
            f"{OPINION_GRAPH.name}: it falls as summaries grow, whatever they say, and these differ in length (mean sentences: "
            f"{shown}); its differences reflect length too and are left out of the headline."
        )


def _unlike(one: float, other: float) -> bool:
    low, high = sorted((one, other))
    return high > UNLIKE * low
