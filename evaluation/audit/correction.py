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
from dataclasses import dataclass, field
from heapq import heappop, heappush

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
    by Bretz et al. (2009), see `_HypothesisFamily`. Each of `MAIN` has the same share of the level, and all other families have
    one together.

    Args:
        tests: by part, p-values; None where there is none. A part without any takes no share.
    """
    return adjusted_in_parts(tests, over_parts)


def over_parts(smallest: Mapping[Part, float]) -> dict[Part, float]:
    """The p-values of parts, corrected.

    What is said makes other parts' p-values no larger, so that it does not matter which of several equal ones is said first, and
    the smallest of a family is always that of the part which has the smallest by itself.
    """
    families, parts = _families(smallest), list(smallest)
    waiting: dict[Part, list[int]] = {}
    for place, part in enumerate(parts):
        earlier = _asked_after(part)
        for each in earlier:
            waiting.setdefault(each, []).append(place)
        if not earlier:
            families[part[0]].ask(smallest[part], place)
    said: dict[Part, float] = {}
    so_far = 0.0
    while asking := [each for each in families.values() if each.asked]:
        left = sum(each.kept for each in families.values())
        first = min(asking, key=lambda family: family.asked[0][0] * left / family.weight)
        p_value = first.asked[0][0] * left / first.weight
        part = parts[first.say()]
        said[part] = so_far = max(so_far, min(1.0, p_value))
        for place in waiting.pop(part, ()):
            first.ask(smallest[parts[place]], place)
    return said


def _asked_after(part: Part) -> tuple[Part, ...]:
    """The parts of which one must be said before: of two systems who is named under one, of the nearer one that they differ."""
    family, system, *more = part
    if not more:
        return ()
    return (part[:3],) if len(more) > 1 else ((family, system), (family, more[0]))


@dataclass
class _HypothesisFamily:
    """Its share of the level, and what it may say.

    Of systems that are not compared each has the same part of the share, which goes to all others when somebody is named.

    Of systems that are compared, where somebody is rightly named under one, no more can be wrong than one thing of each but one.
    If the first one leans, that is of each other one who is named or, if it leans too, how both differ; if it does not, it is who
    is named under those that do not lean, as all others differ from it. So each part has the share of one system, and of one
    system less as soon as somebody is named. Nothing goes to other families before all is said.
    """

    size: float
    n_parts: int
    # those that are compared; 0 for none
    n_systems: int
    n_said: int = 0
    # of parts that are asked and not yet said p and place, the smallest p first
    asked: list[tuple[float, int]] = field(default_factory=list)
    # places of parts that are or were asked
    known: set[int] = field(default_factory=set)

    def ask(self, p_value: float, place: int) -> None:
        """Ask a part, if it was not before."""
        if place not in self.known:
            self.known.add(place)
            heappush(self.asked, (p_value, place))

    def say(self) -> int:
        """The place of the part of smallest p, which is said."""
        self.n_said += 1
        return heappop(self.asked)[1]

    @property
    def weight(self) -> float:
        """Of each part that is asked."""
        return self.size / (self.n_systems - (self.n_said > 0) if self.n_systems else self.n_parts)

    @property
    def kept(self) -> float:
        """What has not gone to others."""
        n_left = self.n_parts - self.n_said
        return self.size * (n_left > 0 if self.n_systems else n_left / self.n_parts)


def _families(parts: Collection[Part]) -> dict[str, _HypothesisFamily]:
    """By what they are about, in an order of their own, so that sums do not depend on that of the parts."""
    by_family: dict[str, list[Part]] = {}
    for part in parts:
        by_family.setdefault(part[0], []).append(part)
    n_others = sum(about not in MAIN for about in by_family)
    found = {}
    for about, its in sorted(by_family.items()):
        systems = {system for part in its for system in part[1:3]} if any(len(part) > 2 for part in its) else set[str]()
        found[about] = _HypothesisFamily(1.0 if about in MAIN else 1 / n_others, len(its), len(systems))
    return found
