"""Units of documents by group, and quotas of groups: how many units of each a summary takes.

Source: Dash et al. 2019; docs/papers.md#dash-quotas.
"""

from collections.abc import Mapping
from fractions import Fraction
from typing import Literal, get_args

from ...errors import DataError
from ...records import SummaryRequest
from ...text import fold, sentences

# the same number from each group, or as many as is the group's share of the units
Notion = Literal["equal", "proportional"]
# what an extract takes over whole
Unit = Literal["document", "sentence"]


def units_of(request: SummaryRequest, unit: Unit) -> tuple[list[str], list[str]]:
    """The units of a request's documents in their order, and the group of each."""
    assert request.attribute is not None, f"{request.id}: nobody named an attribute"
    units, groups = list[str](), list[str]()
    for document in request.source_documents:
        texts = sentences(document.text) if unit == "sentence" else [fold(document.text)]
        units += texts
        groups += [document.attributes[request.attribute]] * len(texts)
    return units, groups


def group_quotas(group_sizes: Mapping[str, int], length: int, notion: Notion) -> dict[str, int]:
    """Units of each group, summing to `length`; no group gives more than it has.

    Each group first gets the whole part of its share, at most its size; the rest goes one by one to the group with the largest
    share minus quota so far among those with units left, ties to the earlier group. Computed with whole numbers and fractions.

    Source: Dash et al. 2019; docs/papers.md#dash-quotas.

    Args:
        group_sizes: units of each group, at least 0; their order settles ties.
        length: units of the summary, at least 0.
        notion: "equal" for length / groups each, "proportional" for length * size / units.

    Raises:
        DataError: the notion is not known, a size is negative, or there are fewer units than `length`.
    """
    if notion not in get_args(Notion):
        raise DataError(
            f"notion {notion!r} is not known; take one of {', '.join(get_args(Notion))}, or give the quotas"
        )
    total = sum(group_sizes.values())
    if min(group_sizes.values(), default=0) < 0 or not 0 <= length <= total:
        raise DataError(f"a summary of {length} units cannot be taken from groups of sizes {dict(group_sizes)}")
    share = {
        group: Fraction(length, len(group_sizes)) if notion == "equal" else Fraction(length * size, max(total, 1))
        for group, size in group_sizes.items()
    }
    quotas = {group: min(int(share[group]), size) for group, size in group_sizes.items()}
    for _ in range(length - sum(quotas.values())):
        open_groups = [group for group, size in group_sizes.items() if quotas[group] < size]
        quotas[max(open_groups, key=lambda group: share[group] - quotas[group])] += 1  # max keeps the first of equals
    return quotas
