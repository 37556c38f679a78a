"""Ways to choose pairs that packages bring: what makes the pairs of a phase."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from ..config.pair_modes import PAIR_RULES, PairRules
from ..doors import Door, guarded, guarded_fields
from ..records import CandidateGroup, Judgement, PreferencePair, SummaryRequest
from ..runfolder.phases import Phase


class Pairer(Protocol):
    """Makes the pairs of one phase in two passes over its requests: `take` looks at each, `pairs` then makes them."""

    @property
    def n_pairs(self) -> int:
        """Pairs of the requests so far."""

    def take(self, request: SummaryRequest, group: CandidateGroup, judgements: Sequence[Judgement]) -> Counter[str]:
        """Look at the next request: what of it gives no pair, by reason."""

    def pairs(self, groups: Iterable[CandidateGroup]) -> Iterator[PreferencePair]:
        """The pairs of all requests that were taken; their groups come again."""


@dataclass(frozen=True)
class PairMode:
    """A way to choose pairs: what the door of pairs has by name, and `pairs.mode` names."""

    rules: PairRules
    pairer: Callable[[Phase], Pairer]


def _guarded_mode(mode: PairMode, label: str) -> PairMode:
    mode = guarded_fields(mode, label)
    return replace(mode, pairer=lambda phase: guarded(mode.pairer(phase), label))


# ways of packages alone; those of the core are in `pairs`
PAIR_MODES: Door[PairMode] = Door(
    PAIR_RULES.name, "way to choose pairs", lambda thing: isinstance(thing, PairMode), guard=_guarded_mode
)


def open_pairer(phase: Phase) -> Pairer | None:
    """What makes the pairs of a round by the way that its recipe names; None for the core's, and in evaluations.

    Raises:
        PluginError: the way is another package's, and cannot begin.
    """
    pairs = phase.recipe.pairs
    return PAIR_MODES[pairs.mode].pairer(phase) if phase.split == "train" and pairs.is_own else None
