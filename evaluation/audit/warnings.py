"""The audit's headline, and what a reader must know before believing its numbers."""

from collections.abc import Iterator, Sequence

from ..cautions import FEW_SETS
from .contents import Number, PairedDifference
from .figures import Measured
from .input import AuditInput
from .plan import AuditPlan
from .shares import ValueShares, one_valued_sets, unmatched_summaries

# least share of draws with a value below which an interval is doubtful
LEAST_DEFINED = 0.95


def title(aggregates: Sequence[Number], differences: Sequence[PairedDifference]) -> str:
    """With one system what its first measure says; with several how many differences can be told."""
    if differences:
        told = sum(each.verdict != "cannot tell" for each in differences)
        return f"{told or 'None'} of {len(differences)} differences to {differences[0].reference} can be told"
    said = next((number.sentence for number in aggregates if number.sentence), "Nothing could be measured.")
    return said.removesuffix(".")


def warnings(
    measured: Sequence[Measured], given: AuditInput, plan: AuditPlan, numbers: Sequence[Number]
) -> Iterator[str]:
    """All warnings."""
    if given.n_not_drawn:
        yield f"{len(given.sets):,} sets were drawn; {given.n_not_drawn:,} others were left aside by --limit."
    if len(given.sets) < FEW_SETS:
        yield f"The audit rests on {len(given.sets)} document sets: with so few, intervals are narrower than they should be."
    if len(set(given.declared)) > 1:
        yield (
            f"Sets declare different values of {given.attribute}; rows and SOF go by name, where the released code goes by place."
        )
    yield from _of_shares([each for each in measured if isinstance(each.family, ValueShares)])
    small = dict.fromkeys(number.value for number in numbers if number.is_small and number.value)
    if small:
        yield (
            f"{', '.join(small)}: fewer than {plan.least_group} scored sets have such documents; marked (few), and kept out of "
            "worst group and extremes."
        )
    doubtful = dict.fromkeys(
        number.measure for number in numbers if 0 < number.n_defined < LEAST_DEFINED * number.resamples
    )
    if doubtful:
        yield f"{', '.join(doubtful)}: undefined in more than 5 % of the draws; the interval is that of the others."


def _of_shares(measured: Sequence[Measured]) -> Iterator[str]:
    for each in measured:
        unmatched = unmatched_summaries(each.found)
        if unmatched:
            yield (
                f"{each.system}: {unmatched:,} of {int(each.figures.scored.sum()):,} summaries have no word that the "
                "tokenizer finds in any document (another script, emoji, stop words alone); by definition they count as taking "
                "up all values alike."
            )
    one_valued = max((one_valued_sets(each.found) for each in measured), default=0)
    if one_valued:
        yield (
            f"{one_valued:,} scored sets have words of one value only; by definition of BUR, UER, AUC and SOF their summaries "
            "count as fair."
        )
