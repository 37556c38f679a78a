"""What an audit, a report and a comparison have that a limit can name."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from ...number import BySet
from ...resampling import LEAST_SETS, NOISE, Scale
from ..audit.contents import COVERAGE_DIFFERENCE, Audit
from ..audit.contents import Number as AuditNumber
from ..report.comparison.contents import BudgetEstimate, Comparison, PairedTest
from ..report.systems.contents import Difference, Estimate, Report, SideGap, differences_scale, is_share
from ..report.systems.systems import SAYS_NOTHING, WORDS
from .limits import Limit, fold

Page = Audit | Report | Comparison

# families as limits call them
FAMILIES = {"value-shares": "shares"}
SHARE_GAP = "share gap"
# the share of what was asked that has a summary
SUMMARISED = "summarised"
# what tells a value and a system of the same name apart
VALUE, SYSTEM = "value=", "system="


class _Tested(Protocol):
    """What a page has tested."""

    @property
    def low(self) -> float | None: ...
    @property
    def high(self) -> float | None: ...
    @property
    def verdict(self) -> str | None: ...


@dataclass(frozen=True)
class Named:
    """A number with what each document set says of it."""

    # what may stand before the brackets, and what tells it from others of that function, all folded
    functions: tuple[str, ...]
    measures: tuple[str, ...]
    # attribute value or side; None for all together
    group: str | None
    # a system or a comparison of two, and what else may be written in its place
    system: str
    aliases: tuple[str, ...]
    estimate: float | None
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
    # why it is not told, though it could be measured
    withheld: str = ""

    def is_few(self, least_sets: int) -> bool:
        """Whether it has no verdict for want of sets."""
        return self.has_few or len(self.by_set) < self.needed(least_sets)

    def is_accused(self, limit: Limit) -> bool:
        """Whether the page's own test calls it off 0 to the side of the limit, and it lies beyond: no gate lets that pass."""
        if self.accused is None or self.estimate is None:
            return False
        is_off = self.accused[0] > 0 if limit.is_upper else self.accused[1] < 0
        return is_off and limit.is_beyond(self.estimate, NOISE)

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
            self.is_rate and not self.is_difference and all(round(each, 9) in (0, 1) for each in self.by_set.values())
        )

    @property
    def what(self) -> tuple[str, ...]:
        """What its arguments may be that say of what it is."""
        return (*self.measures, fold(self.group or "all"), *([f"{VALUE}{fold(self.group)}"] if self.group else []))

    @property
    def labels(self) -> tuple[str, ...]:
        """What its arguments may be."""
        return (*self.what, fold(self.system), f"{SYSTEM}{fold(self.system)}", *self.aliases)

    @property
    def words(self) -> str:
        """How it is written in a limit, whole."""
        parts = [*self.measures, *([self.group] if self.group else []), self.system]
        change = "change of " if self.is_change else ""
        return f"{change}{self.functions[0].replace(' ', '_')}({', '.join(parts)})"


def numbers_of(page: Page) -> list[Named]:
    """The numbers of a page, system by system: those of its last one last."""
    if isinstance(page, Audit):
        whole = [_summarised(each.label, page.n_sets - len(each.missing), page.n_sets) for each in page.systems]
        numbers = [*_of_audit(page), *whole, *_audit_differences(page)]
        return _in_order(numbers, [each.label for each in page.systems])
    if isinstance(page, Report):
        return _of_scores(page, page.systems, page.differences)
    places = {each.label: place for place, each in enumerate(page.entries)}
    tests = sorted(page.tests, key=lambda each: places.get(each.subject, -1))
    return _of_scores(page, [_at(label, k)[0] for label in places for k in page.budgets], tests)


def alike(numbers: Sequence[Named], function: str) -> list[Named]:
    """Numbers of the same systems: a difference is of two of them."""
    return [each for each in numbers if ("difference" in each.functions) == (function == "difference")]


def _in_order(numbers: Iterable[Named], systems: Iterable[str]) -> list[Named]:
    places = {system: place for place, system in enumerate(dict.fromkeys(systems))}
    return sorted(numbers, key=lambda each: places.get(each.system, -1))


def _of_scores(page: Report | Comparison, systems: Iterable[str], differences: Iterable[Estimate]) -> list[Named]:
    shares = {each.measure for each in page.traits if is_share(each.signature)}
    scales = {judge.name: judge.scale for judge in page.judges} | dict.fromkeys(shares, (0.0, 1.0))
    # of other judges all may say 0 or 1 in few sets by chance
    rates = shares | {judge.name for judge in page.judges if judge.is_rate}
    found = [
        *_estimates(("mean",), page.scores, page.sets, scales, rates),
        *_estimates(("rate", "mean"), page.traits, page.sets, scales, rates),
    ]
    scores = {each.measures for each in found if not each.is_binary}
    paired = [
        replace(each, is_rate=each.measures not in scores)
        for each in _estimates(("difference",), differences, page.sets, scales)
    ]
    gaps = page.score_gaps if isinstance(page, Report) else ()
    return [
        *_in_order([*found, *_side_gaps(found, gaps), *_summarised_of(page.traits)], systems),
        *_in_order(paired, [each.system for each in paired]),
    ]


def _summarised(system: str, n: float, of: int, aliases: tuple[str, ...] = ()) -> Named:
    """No sample: what has no summary is known."""
    share = n / of if of else None
    return Named((SUMMARISED,), (), None, system, aliases, share, {}, "", is_share=True)


def _accused(found: _Tested) -> tuple[float, float] | None:
    """The bounds of what the page's own test calls higher or lower than 0."""
    if found.verdict not in ("higher", "lower") or found.low is None or found.high is None:
        return None
    return found.low, found.high


def _said(sets: Sequence[str], by_set: BySet) -> dict[str, float]:
    return {name: value for name, value in zip(sets, by_set, strict=False) if value is not None}


def _of_audit(audit: Audit) -> Iterator[Named]:
    for each in (*audit.aggregates, *audit.by_value):
        kind = fold(each.measure.kind.name)
        yield _of_number(audit, each, (kind,), (), each.estimate, each.by_set)
        if each.measure.kind == COVERAGE_DIFFERENCE:
            yield _of_number(audit, each, ("gap",), ("coverage",), each.estimate, each.by_set)
        if each.value is None or not (each.chance or each.withheld):
            continue
        family = fold(FAMILIES.get(each.family, each.family))
        functions = ("gap", SHARE_GAP) if family == "shares" else ("gap",)
        if chance := each.chance:
            found = _of_number(audit, each, functions, (family,), chance.gap, chance.by_set)
            yield replace(found, is_inside=chance.is_inside, accused=_accused(chance))
        else:
            yield replace(_of_number(audit, each, functions, (family,), None, ()), withheld=each.withheld)


def _of_number(
    audit: Audit,
    each: AuditNumber,
    functions: tuple[str, ...],
    measures: tuple[str, ...],
    estimate: float | None,
    by_set: BySet,
) -> Named:
    return Named(
        functions, measures, each.value, each.system, (), estimate, _said(audit.sets, by_set), each.signature,
        is_share=each.is_share, is_rate=each.measure.kind.is_rate, has_few=each.is_small,
        is_difference=each.measure.kind.is_difference or bool(measures),
    )  # fmt: skip


def _audit_differences(audit: Audit) -> Iterator[Named]:
    """Every later system less the first, over the sets that both rest on."""
    found = list(_of_audit(audit))
    first = audit.systems[0].label
    reference = {(each.functions, each.measures, each.group): each for each in found if each.system == first}
    for each in found:
        other = reference.get((each.functions, each.measures, each.group))
        if other is not None and each.system != first:
            yield minus(each, other, ("difference",), (each.functions[-1], *each.measures))


def minus(one: Named, other: Named, functions: tuple[str, ...] = (), measures: tuple[str, ...] = ()) -> Named:
    """The first less the second, paired over the document sets that both rest on; named as the first, unless said otherwise."""
    both = [name for name in one.by_set if name in other.by_set]
    by_set = {name: one.by_set[name] - other.by_set[name] for name in both}
    estimate = sum(by_set.values()) / len(by_set) if by_set else None
    if len(both) == len(one.by_set) == len(other.by_set) and one.estimate is not None and other.estimate is not None:
        estimate = one.estimate - other.estimate
    return replace(
        one,
        functions=functions or one.functions,
        measures=measures or one.measures,
        estimate=estimate,
        by_set=by_set,
        is_rate=one.is_binary and other.is_binary,
        is_difference=True,
        is_inside=False,
        accused=None,
        withheld=one.withheld or other.withheld,
    )


def _estimates(
    functions: tuple[str, ...],
    found: Iterable[Estimate],
    sets: Sequence[str],
    scales: Mapping[str, Scale | None],
    rates: Collection[str] = (),
) -> Iterator[Named]:
    for each in found:
        system, aliases = each.subject, tuple[str, ...]()
        if isinstance(each, BudgetEstimate):
            system, aliases = _at(each.subject, each.k)
        elif isinstance(each, PairedTest):
            system, aliases = _at(each.subject, each.k)
            system = f"{system} - {_at(each.reference, each.reference_k)[0]}"
        accused = _accused(each) if isinstance(each, Difference) else None
        yield Named(
            functions, (fold(each.measure),), each.side, system, aliases, each.mean, _said(sets, each.by_set), each.signature,
            is_rate=each.measure in rates, is_difference=functions == ("difference",), scale=scales.get(each.measure),
            accused=accused,
        )  # fmt: skip


def _at(entry: str, k: int) -> tuple[str, tuple[str, ...]]:
    """An entry of a comparison at a budget, and what may be written for it."""
    return f"{entry} k={k}", (fold(entry), f"k={k}")


def _summarised_of(traits: Iterable[Estimate]) -> Iterator[Named]:
    """Of each system the share of requests that have a summary which says something."""
    by_place = {(e.measure, e.subject, getattr(e, "k", None)): e for e in traits if e.side is None}
    for (measure, subject, k), words in by_place.items():
        if measure == WORDS:
            empty = by_place.get((SAYS_NOTHING, subject, k))
            share = 1.0 - (empty.mean or 0.0) if empty else 1.0
            system, aliases = (subject, ()) if k is None else _at(subject, k)
            yield _summarised(system, words.n * share, words.n + words.left_out, aliases)


def _side_gaps(found: Sequence[Named], tested: Iterable[SideGap] = ()) -> Iterator[Named]:
    """How far each side's mean score is from the mean of all sides of the same document set, which has all of them."""
    sides: dict[tuple[tuple[str, ...], str], list[Named]] = {}
    for each in found:
        if each.functions == ("mean",) and each.group is not None:
            sides.setdefault((each.measures, each.system), []).append(each)
    clear: dict[tuple[tuple[str, ...], str], tuple[float, float] | None] = {
        ((fold(each.measure),), each.subject): _accused(each.gap) for each in tested
    }
    for key, mine in sides.items():
        sets = [name for name in mine[0].by_set if all(name in each.by_set for each in mine)]
        for each in mine:
            by_set = {name: each.by_set[name] - sum(m.by_set[name] for m in mine) / len(mine) for name in sets}
            estimate = sum(by_set.values()) / len(by_set) if by_set else None
            is_rate, accused = all(m.is_binary for m in mine), None
            if len(mine) == 2 and estimate and (bounds := clear.get(key)):
                # each of two sides is half of their distance from their mean
                low, high = (bound / 2 for bound in bounds)
                accused = (low, high) if estimate > 0 else (-high, -low)
            yield replace(
                each,
                functions=("gap",),
                estimate=estimate,
                by_set=by_set,
                is_rate=is_rate,
                is_difference=True,
                accused=accused,
            )
