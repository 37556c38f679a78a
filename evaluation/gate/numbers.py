"""A number that a limit can name, as a gate reads it of any page."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from ...number import BySet, Number
from ...resampling import LEAST_SETS, NOISE, Scale, differences_scale
from .limits import Limit, fold

SHARE_GAP = "share gap"
# the share of what was asked that has a summary
SUMMARISED = "summarised"
# what tells a value and a system of the same name apart
VALUE, SYSTEM = "value=", "system="


@dataclass(frozen=True)
class NamedNumber:
    """A number with what each document set says of it."""

    # what may stand before the brackets, and what tells it from others of that function, all folded
    functions: tuple[str, ...]
    measures: tuple[str, ...]
    # attribute value or side; None for all together
    side: str | None
    # a system or a comparison of two, and what else may be written in its place
    system: str
    aliases: tuple[str, ...]
    value: float | None
    # set id -> what the set says; sets that it does not rest on are absent
    by_set: Mapping[str, float]
    # everything that it depends on besides documents and summaries
    signature: str
    is_share: bool = False
    is_difference: bool = False
    # whether it may be the share of sets of which something holds, or is a difference of such shares
    is_rate: bool = False
    # where what sets say lies, or of a difference what it is of; None where it may be anything
    scale: Scale | None = None
    # whether it is the change since an earlier page
    is_change: bool = False
    # whether its value has too few sets for a verdict
    has_few: bool = False
    # whether what is expected is no single number, and it is within that
    is_inside: bool = False
    # its bounds on the page where the page's own test calls it higher or lower than 0
    accused: tuple[float, float] | None = None
    # standard error and degrees of freedom of Student's t, where what sets say is not all that it varies with
    error: tuple[float, float] | None = None
    # why it is not told, though it could be measured
    withheld: str = ""

    def is_few(self, least_sets: int) -> bool:
        """Whether it has no verdict for want of sets."""
        return self.has_few or len(self.by_set) < self.needed(least_sets)

    def is_accused(self, limit: Limit) -> bool:
        """Whether the page's own test calls it off 0 to the side of the limit, and it lies beyond: no gate lets that pass."""
        if self.accused is None or self.value is None:
            return False
        is_off = self.accused[0] > 0 if limit.is_upper else self.accused[1] < 0
        return is_off and limit.is_beyond(self.value, NOISE)

    def needed(self, least_sets: int) -> int:
        """Sets for a verdict: of fewer, skewed numbers break limits too often by chance; the interval of a rate is exact."""
        return LEAST_SETS if self.is_binary else least_sets

    @property
    def reach(self) -> Scale | None:
        """Where the number itself can lie."""
        scale = (0.0, 1.0) if self.is_share else self.scale
        return differences_scale(scale) if self.is_difference else scale

    @property
    def is_binary(self) -> bool:
        """Whether it is the share of sets of which something holds."""
        return (
            self.is_rate and not self.is_difference and all(round(value, 9) in (0, 1) for value in self.by_set.values())
        )

    @property
    def what(self) -> tuple[str, ...]:
        """The arguments that say of what it is."""
        return (*self.measures, fold(self.side or "all"), *([f"{VALUE}{fold(self.side)}"] if self.side else []))

    @property
    def labels(self) -> tuple[str, ...]:
        """All its possible arguments."""
        return (*self.what, fold(self.system), f"{SYSTEM}{fold(self.system)}", *self.aliases)

    @property
    def words(self) -> str:
        """How it is written in a limit, whole."""
        parts = [*self.measures, *([self.side] if self.side else []), self.system]
        change = "change of " if self.is_change else ""
        return f"{change}{self.functions[0].replace(' ', '_')}({', '.join(parts)})"


def alike(numbers: Sequence[NamedNumber], function: str) -> list[NamedNumber]:
    """Numbers of the same systems: a difference is of two of them."""
    of_two = function.endswith("difference")
    return [number for number in numbers if any(name.endswith("difference") for name in number.functions) == of_two]


def in_order(numbers: Iterable[NamedNumber], systems: Iterable[str]) -> list[NamedNumber]:
    """The numbers system by system: those of the last one last."""
    places = {system: place for place, system in enumerate(dict.fromkeys(systems))}
    return sorted(numbers, key=lambda number: places.get(number.system, -1))


def summarised(system: str, n: float, of: int, aliases: tuple[str, ...] = ()) -> NamedNumber:
    """The share of what was asked that has a summary; no sample, since what has none is known."""
    share = n / of if of else None
    return NamedNumber((SUMMARISED,), (), None, system, aliases, share, {}, "", is_share=True)


def accused_bounds(tested: Number) -> tuple[float, float] | None:
    """The bounds of what the page's own test calls higher or lower than 0."""
    if tested.verdict not in ("higher", "lower") or tested.low is None or tested.high is None:
        return None
    return tested.low, tested.high


def by_name(sets: Sequence[str], by_set: BySet) -> dict[str, float]:
    """The number of each document set by its id; of those that say something."""
    return {name: value for name, value in zip(sets, by_set, strict=False) if value is not None}


def minus(
    first: NamedNumber, second: NamedNumber, functions: tuple[str, ...] = (), measures: tuple[str, ...] = ()
) -> NamedNumber:
    """The first less the second, paired over the document sets that both rest on; named as the first, unless said otherwise."""
    shared = [name for name in first.by_set if name in second.by_set]
    by_set = {name: first.by_set[name] - second.by_set[name] for name in shared}
    value = sum(by_set.values()) / len(by_set) if by_set else None
    if len(shared) == len(first.by_set) == len(second.by_set) and first.value is not None and second.value is not None:
        value = first.value - second.value
    return replace(
        first,
        functions=functions or first.functions,
        measures=measures or first.measures,
        value=value,
        by_set=by_set,
        is_rate=first.is_binary and second.is_binary,
        is_difference=True,
        is_inside=False,
        accused=None,
        error=_error_of_both(first.error, second.error),
        withheld=first.withheld or second.withheld,
    )


def _error_of_both(first: tuple[float, float] | None, second: tuple[float, float] | None) -> tuple[float, float] | None:
    """Of a difference of two numbers as if they had nothing in common."""
    if first is None or second is None:
        return first or second
    return math.hypot(first[0], second[0]), min(first[1], second[1])
