"""One correction for everything that a page concludes: who is named, which system is fairer, what a gap follows.

Tests stand in parts, a part for each sentence that may be said: of a family and a system, of a family and two systems, of a
cause. If p-values hold, at most 5 % of the pages where there is nothing to say say anything, and of parts of which there is
nothing to say no more do where there is something to say of others. How often they do is in docs/fairness.md#pages.

Which of two systems is fairer is asked of a family that names somebody under one of them, and of no other. Where neither leans,
nothing is then said of two that is not said of one; where one leans, they do differ; and where both lean alike, who is named is
no error, so that the question has what naming had. For that it stays with the family until both are answered.

Published measures have no part in it: nothing is concluded from how they differ, and they are corrected among themselves
(see `pairs`).
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from ..verdicts import P, adjusted_in_parts
from .contents import SHARES

# a family and a system, or a cause: is somebody named; with a reference: do both differ; with `NEARER` besides: is one fairer
Part = tuple[str, ...]
NEARER, CAUSES = "nearer", "place or documents"
# what a page is made for and its headline is about; everything else shares as much as one of these has
MAIN = (SHARES, CAUSES)


def corrected(tests: Mapping[Part, Sequence[P]]) -> dict[Part, list[P]]:
    """The p-values of a page, by part, in [0, 1].

    Over the parts p is corrected after Holm (1979), with weights and, of systems that are compared, in steps: a weighted graph as
    by Bretz et al. (2009), see `_Family`. Each of `MAIN` has the same share of the level, and all other families have one
    together.

    Args:
        tests: by part, p-values; None where there is none. A part without any takes no share.
    """
    return adjusted_in_parts(tests, _over_parts)


def _over_parts(smallest: Mapping[Part, float]) -> dict[Part, float]:
    families = _families(smallest)
    said: dict[Part, float] = {}
    so_far = 0.0
    while asked := [part for part in smallest if part not in said and _is_asked(part, said)]:
        left = sum(each.kept(said) for each in families.values())
        p_values = {part: smallest[part] * left / families[part[0]].weight(said) for part in asked}
        first = min(p_values, key=lambda part: p_values[part])
        said[first] = so_far = max(so_far, min(1.0, p_values[first]))
    return said


def _is_asked(part: Part, said: Collection[Part]) -> bool:
    """Whether what comes before is said: of two systems who is named under one, and of the nearer one that they differ."""
    family, system, *more = part
    if not more:
        return True
    return part[:3] in said if len(more) > 1 else (family, system) in said or (family, more[0]) in said


@dataclass(frozen=True)
class _Family:
    """Its share of the level, and what it may say.

    Of systems that are not compared each has the same part of the share, which goes to all others when somebody is named.

    Of systems that are compared, where somebody is rightly named under one, no more can be wrong than one thing of each but one.
    If the first one leans, that is of each other one who is named or, if it leans too, how both differ; if it does not, it is who
    is named under those that do not lean, as all others differ from it. So each part has the share of one system, and of one
    system less as soon as somebody is named. Nothing goes to other families before all is said.
    """

    size: float
    parts: tuple[Part, ...]

    @property
    def n_systems(self) -> int:
        """Those that are compared; 0 for none."""
        compared = any(len(part) > 2 for part in self.parts)
        return len({system for part in self.parts for system in part[1:3]}) if compared else 0

    def weight(self, said: Collection[Part]) -> float:
        """Of each part that is asked."""
        is_begun = any(part in said for part in self.parts)
        return self.size / (self.n_systems - is_begun if self.n_systems else len(self.parts))

    def kept(self, said: Collection[Part]) -> float:
        """What has not gone to others."""
        n_left = sum(part not in said for part in self.parts)
        return self.size * (n_left > 0 if self.n_systems else n_left / len(self.parts))


def _families(parts: Collection[Part]) -> dict[str, _Family]:
    """By what they are about, in an order of their own, so that sums do not depend on that of the parts."""
    names = sorted({about for about, *_ in parts})
    n_others = sum(about not in MAIN for about in names)
    return {
        about: _Family(1.0 if about in MAIN else 1 / n_others, tuple(part for part in parts if part[0] == about))
        for about in names
    }
