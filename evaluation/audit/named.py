"""An audit as a gate reads it: which of its numbers a limit can name, and how."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from ...number import Number
from ..gate.limits import fold
from ..gate.numbers import SHARE_GAP, SUMMARISED, NamedNumber, accused_bounds, by_name, in_order, minus, summarised
from ..gate.subject import AS_SHOWN, OF_SUMMARISED, MeasureMethod, PageKind, PageNumbers, Subject
from ..pages.words import joined
from .contents import Audit, AuditNumber
from .families import kinds_by_name
from .input import AuditInput
from .kinds import COVERAGE_DIFFERENCE, SHARES

# families as limits call them
FAMILIES = {"value-shares": "shares"}


def page_numbers(audit: Audit) -> PageNumbers:
    """What a gate reads of an audit."""
    n_summarised = [
        summarised(system.label, audit.n_sets - len(system.missing), audit.n_sets) for system in audit.systems
    ]
    parts = (audit, *audit.others)
    numbers = [
        *(number for part in parts for number in _of_audit(part)),
        *n_summarised,
        *(number for part in parts for number in _audit_differences(part)),
    ]
    methods = {note.family: MeasureMethod(note.signature, note.by) for note in audit.measures}
    return PageNumbers(
        Subject(audit.documents_digest, audit.sets, *subject_names(audit), methods=methods),
        in_order(numbers, [system.label for system in audit.systems]),
        audit.bootstrap,
    )


def subject_names(audit: Audit | AuditInput) -> tuple[str, str]:
    """The attributes of a page, and the groups that their values are."""
    parts = (audit, *audit.others)
    return joined([part.attribute for part in parts]), "; ".join(part.groups for part in parts if part.groups)


def _of_audit(audit: Audit) -> Iterator[NamedNumber]:
    signatures = {note.family: note.signature for note in audit.measures}
    for number in (*audit.aggregates, *audit.by_value):
        signature, gap = signatures[number.family], number.gap
        yield _named(audit, number, number, (fold(number.kind.name),), (), signature)
        if number.kind == COVERAGE_DIFFERENCE:
            yield _named(audit, number, number, ("gap",), ("coverage",), signature)
        if number.side is not None and (gap.reference or gap.withheld):
            functions = ("gap", SHARE_GAP) if number.family == SHARES else ("gap",)
            family = fold(FAMILIES.get(number.family, number.family))
            named_gap = _named(audit, number, gap, functions, (family,), signature)
            yield replace(named_gap, is_inside=gap.is_inside, accused=accused_bounds(gap), withheld=gap.withheld)


def _named(
    audit: Audit, of: AuditNumber, number: Number, functions: tuple[str, ...], measures: tuple[str, ...], signature: str
) -> NamedNumber:
    # one of all values together must say by which attribute; of a value its name does
    by_attribute = (fold(of.attribute),) if of.attribute else ()
    if of.side is None:
        measures, by_attribute = (*measures, *by_attribute), ()
    return NamedNumber(
        functions, measures, of.side, of.system, by_attribute, number.value, by_name(audit.sets, number.by_set), signature,
        is_share=of.kind.is_share, is_rate=of.kind.is_rate, has_few=of.is_small,
        is_difference=of.kind.is_difference or bool(measures),
    )  # fmt: skip


def _audit_differences(audit: Audit) -> Iterator[NamedNumber]:
    """Every later system less the first, over the sets that both rest on."""
    numbers = list(_of_audit(audit))
    first = audit.systems[0].label
    reference = {
        (number.functions, number.measures, number.side): number for number in numbers if number.system == first
    }
    for number in numbers:
        baseline = reference.get((number.functions, number.measures, number.side))
        if baseline is not None and number.system != first:
            yield minus(number, baseline, ("difference",), (number.functions[-1], *number.measures))


class KindNames(Mapping[str, str]):
    """Limits' names of the kinds of numbers that all families have, which are asked for when a limit is read.

    Args:
        names: those that stand before them.
        growing: those that grow by chance alone, or those that do not.
    """

    def __init__(self, names: Mapping[str, str], *, growing: bool) -> None:
        self._first, self._growing = names, growing

    def _names(self) -> dict[str, str]:
        kinds = (kind for _, kind in kinds_by_name().values() if kind.grows_by_chance == self._growing)
        return {**self._first, **{fold(kind.name): AS_SHOWN for kind in kinds}}

    def __getitem__(self, name: str) -> str:
        return self._names()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._names())

    def __len__(self) -> int:
        return len(self._names())


AUDIT_PAGE = PageKind(
    record=Audit,
    verb="audit",
    read=page_numbers,
    functions=KindNames(
        {
            "gap": "a value's gap to what is expected: worst_gap(shares), gap(coverage, negative)",
            SHARE_GAP: "the same as gap(shares, ...): share_gap(negative)",
            "difference": "a system's number less the first system's: difference(bur, tuned)",
            SUMMARISED: OF_SUMMARISED,
        },
        growing=False,
    ),
    growing=KindNames({}, growing=True),
    last="the last of --summaries",
    families=FAMILIES,
)
