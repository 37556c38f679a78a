"""Value shares: how much less of the summary than its due each attribute value gets.

"uer", the unfair error rate, is the mean over the values of what they lack; "bur", the binary unfair rate, is 1 when any value
has too small a part of its due. 0 is fair, lower is better: a reward gives it a weight below 0. A set whose documents have one
value alone is unscored, where the paper calls it fair: nobody is compared with anybody. What is due are the values' shares in the
sources, equal ones, or weights that the recipe gives; a set to whose values these say nothing is unscored.
Source: Zhang et al. 2024, sections 3.2 and 3.3, eqs. 1 and 2; docs/papers.md#zhang-modes.
"""

from collections.abc import Sequence

from ..config.fairness import ValueSharesJudge
from ..fairness.groups.coverage import ONE_VALUE
from ..fairness.groups.masses import NO_SOURCE_MASS, Masses, Unscored
from ..fairness.groups.shares import Shares, compare, under_represented, unfair, unfair_error_rate
from ..fairness.labelled import LabelledSummary
from ..text.digests import canonical_json
from .documents import WholeSetJudge
from .judge import Judge, Kind, Verdict, judge_signature
from .measures import Matcher, matcher_checks, matcher_readers, open_matcher
from .overflow import CUT_PAIRS
from .shared import SharedModels

NOTHING_TAKEN_UP = "no word of the summary is in a source"
NO_WEIGHT = "the target has no weight for a value"
NOTHING_DUE = "the target gives no value of the set a share"


class ShareMeasureJudge(WholeSetJudge):
    """One measure of the values' shares as a judge, on a scale from 0 to 1."""

    def __init__(self, name: str, options: ValueSharesJudge, matcher: Matcher) -> None:
        tau = {"tau": options.tau} if options.measure == "bur" else {}
        named = judge_signature(
            f"value-shares-{options.measure}",
            "value-shares",
            matcher=matcher.signature,
            mode=options.mode,
            target=options.target if isinstance(options.target, str) else canonical_json(options.target),
            **tau,
            v=2,
        )
        super().__init__(name, named, matcher)
        self._options = options
        self._matcher = matcher

    def _verdicts(self, summaries: Sequence[LabelledSummary]) -> list[Verdict]:
        return [self._verdict(masses) for masses in self._matcher.masses(summaries)]

    def _verdict(self, masses: Masses | Unscored) -> Verdict:
        if isinstance(masses, Unscored):
            return Verdict(None, masses.reason)
        n_values = sum(mass > 0 for mass in masses.source)
        if n_values < 2:
            return Verdict(None, ONE_VALUE if n_values else NO_SOURCE_MASS)
        if not sum(masses.target):
            return Verdict(None, NOTHING_TAKEN_UP)
        shares = self._shares(masses)
        if isinstance(shares, Verdict):
            return shares
        is_bur = self._options.measure == "bur"
        score = float(unfair(shares, self._options.tau) if is_bur else unfair_error_rate(shares))
        cut = {CUT_PAIRS: masses.n_cut} if masses.n_cut else {}
        return Verdict(round(score, 6), raw=canonical_json(self._table(shares, masses.names) | cut))

    def _shares(self, masses: Masses) -> Shares | Verdict:
        """The shares that are due and found, or why the recipe's weights say nothing of this set."""
        target, mode = self._options.target, self._options.mode
        if isinstance(target, str):
            return compare(masses.source, masses.target, mode=mode, aim=target)
        without = [name for name in masses.names if name not in target]
        if without:
            return Verdict(None, NO_WEIGHT, raw=canonical_json(without))
        weights = tuple(target[name] for name in masses.names)
        # which values take part does not depend on what is due
        has_share = compare(masses.source, masses.target, mode=mode).kept
        if not has_share.dot(weights):
            return Verdict(None, NOTHING_DUE)
        return compare(masses.source, masses.target, mode=mode, aim=weights)

    def _table(self, shares: Shares, names: Sequence[str]) -> dict[str, object]:
        """The shares that are due and found, by value that takes part; for bur the values that have too little."""
        compared = [(place, name) for place, name in enumerate(names) if shares.kept[place]]
        table: dict[str, object] = {
            key: {name: round(float(row[place]), 6) for place, name in compared}
            for key, row in (("due", shares.gold), ("found", shares.target))
        }
        if self._options.measure == "bur":
            short = under_represented(shares, self._options.tau)
            table["too_little"] = [name for place, name in compared if short[place]]
        return table


def open_value_shares(name: str, options: ValueSharesJudge, models: SharedModels) -> Judge:
    """The judge of value shares that the options describe.

    Raises:
        MissingExtra, DataError, ModelError: as `open_matcher`.
    """
    return ShareMeasureJudge(name, options, open_matcher(options.matcher, models))


VALUE_SHARES = Kind(
    open_value_shares,
    ValueSharesJudge,
    checks=lambda name, options: matcher_checks(options.matcher),
    readers=lambda options: matcher_readers(options.matcher),
)
