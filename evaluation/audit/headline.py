"""The audit's headline."""

from collections import Counter
from collections.abc import Sequence

from .contents import Number, PairedDifference, SystemNote
from .lengths import told_by_length

# systems that it compares
MOST_COMPARED = 3


def title(aggregates: Sequence[Number], differences: Sequence[PairedDifference], systems: Sequence[SystemNote]) -> str:
    """With one system what its first measure says; with several by how many measures each is clearly fairer or less fair.

    Args:
        aggregates: of all systems.
        differences: of all measures; those of which less is no fairer, and those that length alone may make, are not counted.
        systems: the reference first.
    """
    if len(systems) > 1:
        return _title_of_several(differences, systems)
    said_of_one = next((number.sentence for number in aggregates if number.sentence), "Nothing could be measured.")
    return said_of_one.removesuffix(".")


def _title_of_several(differences: Sequence[PairedDifference], systems: Sequence[SystemNote]) -> str:
    reference = systems[0].label
    by_length = told_by_length(differences, systems)
    counted = [each for each in differences if each.is_unfairness and each not in by_length]
    if by_length and not counted:
        *unlike, last = dict.fromkeys(each.system for each in by_length)
        return f"{', '.join([reference, *unlike])} and {last} differ in length; nothing else can be compared"
    if not n_tests(counted):
        return f"No difference to {reference} can be tested"
    said = [
        _compared(system, reference, [each for each in counted if each.system == system])
        for system in dict.fromkeys(each.system for each in counted)
    ]
    more = len(said) - MOST_COMPARED
    return "; ".join(said[:MOST_COMPARED]) + (f"; and {more} other systems" if more > 0 else "")


def _compared(system: str, reference: str, differences: Sequence[PairedDifference]) -> str:
    """ "tuned is fairer than base by 3 of 8 measures"."""
    n = n_tests(differences)
    counts = Counter[str](each.verdict for each in differences)
    clear = [
        (word, counts[verdict]) for word, verdict in (("fairer", "lower"), ("less fair", "higher")) if counts[verdict]
    ]
    measures = f"{n} measure{'' if n == 1 else 's'}"
    if not clear:
        return (
            f"{system} does not clearly differ from {reference} in any of {measures}"
            if n
            else f"{system} cannot be tested"
        )
    (first, k), *others = clear
    also = "".join(f" and {word} by {count}" for word, count in others)
    return f"{system} is {first} than {reference} by {k}{also} of {measures}"


def n_tests(differences: Sequence[PairedDifference]) -> int:
    """How many differences have a p-value."""
    return sum(each.p_value is not None for each in differences)
