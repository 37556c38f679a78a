"""Ways to choose pairs that packages bring: what makes the pairs of a phase."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from ..config.pair_modes import PAIR_RULES, PairRules
from ..doors import Door, blamed
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


# ways of packages alone; those of the core are in `pairs`
PAIR_MODES: Door[PairMode] = Door(PAIR_RULES.name, "way to choose pairs", lambda thing: isinstance(thing, PairMode))


def open_pairer(phase: Phase) -> Pairer | None:
    """What makes the pairs of a round by the way that its recipe names; None for the core's, and in evaluations.

    Raises:
        PluginError: the way is another package's, and cannot begin.
    """
    mode = phase.recipe.pairs.mode
    if phase.split != "train" or not phase.recipe.pairs.is_own:
        return None
    package = PAIR_MODES.package(mode)
    if package is None:
        return PAIR_MODES[mode].pairer(phase)
    return _Blamed(PAIR_MODES[mode], phase, f"pairs.mode {mode!r} of package {package}")


class _Blamed:
    """A package's pairer, whose errors say whose it is."""

    def __init__(self, mode: PairMode, phase: Phase, label: str) -> None:
        self._label = label
        with blamed(label):
            self._pairer = mode.pairer(phase)

    @property
    def n_pairs(self) -> int:
        with blamed(self._label):
            return self._pairer.n_pairs

    def take(self, request: SummaryRequest, group: CandidateGroup, judgements: Sequence[Judgement]) -> Counter[str]:
        with blamed(self._label):
            return self._pairer.take(request, group, judgements)

    def pairs(self, groups: Iterable[CandidateGroup]) -> Iterator[PreferencePair]:
        with blamed(self._label):
            yield from self._pairer.pairs(groups)
