"""One correction for everything that a page says: who is named, which system is fairer, how measures differ, what a gap follows.

Tests stand in parts, a part for each sentence that may be said: of a family and a system, of the published measures of a system,
of a cause. Where there is nothing to say at most 5 % of the pages say anything, and a part of which there is nothing to say keeps
to that also where there is something to say of another.

Which of two systems is fairer is asked of a family that names somebody under one of them, and of no other. Where neither leans,
nothing is then said of two that is not said of one, so that the question costs nothing; where both lean alike, who is named is
no error, and what was kept for that is left for the question.
"""

from collections import Counter
from collections.abc import Mapping, Sequence

from ...resampling import adjusted_over_families
from .contents import SHARES

# what a part is about, which is a family of measures or one of these, and whom: a system or a cause
Part = tuple[str, str]
P = float | None
DIFFERENCES, CAUSES = "published differences", "place or documents"
# what a page is made for and its headline is about; everything else shares as much as one of these has
MAIN = (SHARES, CAUSES)
# share of the level for published measures, from which nothing is concluded
OF_PUBLISHED = 0.1


def corrected(tests: Mapping[Part, Sequence[P]]) -> dict[Part, list[P]]:
    """The p-values of a page, by part, in [0, 1]; see `resampling.adjusted_over_families`.

    Published measures have a tenth of the level. Of the rest each of `MAIN` has the same share, and all others have one together.
    What a share is for is divided evenly, first over what it is about and then over whom. Where a part is clear, its share goes
    to the others.

    Args:
        tests: by part, p-values; None where there is none.
    """
    known = {part: p_values for part, p_values in tests.items() if any(p is not None for p in p_values)}
    parts_of = Counter(about for about, _ in known)
    n_others = sum(about not in (*MAIN, DIFFERENCES) for about in parts_of)
    n_shares = sum(about in MAIN for about in parts_of) + (n_others > 0)
    sizes = dict.fromkeys(parts_of, 1 / max(1, n_others)) | dict.fromkeys(MAIN, 1.0)
    sizes[DIFFERENCES] = max(1, n_shares) * OF_PUBLISHED / (1 - OF_PUBLISHED)
    weights = [sizes[about] / parts_of[about] for about, _ in known]
    found = dict(zip(known, adjusted_over_families(list(known.values()), weights), strict=True))
    return {part: found.get(part, [None] * len(p_values)) for part, p_values in tests.items()}


def corrected_pairs(
    pairs: Mapping[Part, Sequence[P]],
    reference: str,
    tests: Mapping[Part, Sequence[P]],
    p_values: Mapping[Part, Sequence[P]],
) -> dict[Part, list[P]]:
    """The p-values of systems against the first one, each at least that of who is named under one of the two.

    Args:
        pairs: by family and system, of those families by which systems are compared.
        reference: the first one.
        tests: of the page besides.
        p_values: the same, corrected.
    """
    families = {family for family, _ in pairs}
    found = corrected({part: its for part, its in tests.items() if part[0] not in families} | dict(pairs))
    least = {part: min((p for p in its if p is not None), default=1.0) for part, its in p_values.items()}
    return {
        (family, system): [
            None if p is None else max(p, min(least[family, system], least[family, reference]))
            for p in found[family, system]
        ]
        for family, system in pairs
    }
