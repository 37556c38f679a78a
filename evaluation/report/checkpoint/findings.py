"""The headline: is the checkpoint better, for whom, and how sure is that, in sentences made from the verdicts.

Only judges that were not a reward decide. "Better" and "worse" are said where the rule of the verdicts says so; everywhere else
there is no clear difference.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from ....resampling import MANY_SETS, Bootstrap, few_for_headline, too_few
from ...pages.numbers import number, percent, signed
from ...pages.tables import estimate
from ...pages.words import MOST_NAMED, NOT_CLEAR, UNSURE, capital, counted, few_label, joined, with_interval
from ..systems.contents import Difference, Finding, JudgeNote, Plane, SideGap, comparison_name
from ..systems.lengths import is_by_length
from ..systems.roles import deciding
from ..systems.systems import SYSTEMS, TRAINED, UNTRAINED, WORDS
from ..systems.words import gone_with_length, tally

TRAINING = comparison_name("DPO", "zero-shot")
TRAINING_BEST = comparison_name("DPO+RR", "rerank")
RERANKING = comparison_name("rerank", "zero-shot")

# comparison -> heading, and what is compared
CLAIMS = {
    TRAINING: ("Training, one draw", "one summary drawn from the trained model, against one from the untrained model"),
    TRAINING_BEST: ("Training, best of {k}", "the best of {k} by reward from each model, trained against untrained"),
    RERANKING: ("Reranking alone", "the best of {k} by reward from the untrained model, against one draw"),
}


@dataclass(frozen=True)
class Evidence:
    """The numbers that the headline is made from."""

    judges: Sequence[JudgeNote]
    differences: Sequence[Difference]
    score_gaps: Sequence[SideGap]
    gain_gaps: Sequence[SideGap]
    sides: Sequence[str]
    candidates: int
    # of all intervals
    bootstrap: Bootstrap
    is_trained: bool
    planes: Sequence[Plane] = ()
    # differences of shares of bad grades, over all sides
    low_grades: Sequence[Difference] = ()
    # means over all sides, by trait and system: words, shares of bad grades
    traits: Mapping[tuple[str, str], float | None] = field(default_factory=dict)

    @property
    def deciding(self) -> list[JudgeNote]:
        """The report's judges that say what is better; those that were rewards only when there is no other."""
        return deciding(self.judges)

    @property
    def is_compared(self) -> bool:
        """Whether there are two systems, and not one candidate a request of one policy alone."""
        return self.is_trained or self.candidates > 1

    @property
    def comparison(self) -> str:
        """The comparison that the headline is about."""
        return TRAINING if self.is_trained else RERANKING

    @property
    def few_sets(self) -> int:
        """How many document sets the comparison rests on, where these are too few for any verdict; else 0."""
        compared = [d for d in self.differences if d.side is None and d.n]
        difference = max(compared, key=lambda d: d.n_sets, default=None)
        return difference.n_sets if difference and too_few(difference.n_sets, self.bootstrap.level) else 0

    @property
    def few_together(self) -> str:
        """A caution about too few document sets, with how many the headline's tests need together; "" where they are enough."""
        compared = [d for d in self.differences if d.side is None and d.n]
        if not compared:
            return ""
        is_alone = not self.is_trained and len(self.sides) == 1 and len(self.judges) == len(self.deciding)
        n_sets = max(d.n_sets for d in compared)
        return few_for_headline(n_sets, self.bootstrap.level, len(self.deciding), is_alone=is_alone)

    def tally(self, comparison: str, side: str | None = None) -> dict[str, dict[str, float | None]]:
        """Better, worse and no clear difference by the deciding judges, each with its judges and their differences."""
        return tally(self.deciding, (d for d in self.differences if (d.pair, d.side) == (comparison, side)))

    def clear_gaps(self, gaps: Sequence[SideGap], pair: str) -> list[SideGap]:
        """Gaps of that system or comparison that are clear, by the deciding judges."""
        deciding_gaps = (g for judge in self.deciding for g in gaps if (g.pair, g.measure) == (pair, judge.name))
        return [gap for gap in deciding_gaps if gap.is_clear]


def title(evidence: Evidence) -> str:
    """The headline's first sentence, without a full stop."""
    if not evidence.deciding:
        return "No judge of this report says which summaries are better"
    if not evidence.is_compared:
        return "Nothing is compared: one candidate a request, and no trained model"
    subject = "the trained model" if evidence.is_trained else f"the best of {evidence.candidates}"
    rival = "the untrained model" if evidence.is_trained else "one draw"
    verdicts = evidence.tally(evidence.comparison)
    better, worse, n = len(verdicts["better"]), len(verdicts["worse"]), len(evidence.deciding)
    is_independent = any(judge.role == "report" for judge in evidence.deciding)
    role = "report judges" if is_independent else "judges, which are its own reward"
    if better and worse:
        return capital(f"{subject} is better than {rival} by {better} and worse by {worse} of {n} {role}")
    if not better and not worse:
        n_sets = evidence.few_sets
        unsure = f"{NOT_CLEAR} between {subject} and {rival}"
        return few_label(f"to tell {subject} from {rival}", "document set", n_sets) if n_sets else unsure
    sentence = capital(f"{subject} is {'better' if better else 'worse'} than {rival}")
    if better + worse < n:
        n_unsure = n - better - worse
        return f"{sentence} by {better + worse} of {n} {role}; {UNSURE} by the other{f' {n_unsure}' if n_unsure > 1 else ''}"
    alone = "" if is_independent else " by a judge that was its own reward"
    return f"{sentence} by {'both' if n == 2 else f'all {n}'} {role}" if n > 1 else f"{sentence}{alone}"


def findings(evidence: Evidence) -> list[Finding]:
    """The headline's further sentences."""
    sentences, k = [], evidence.candidates
    if not evidence.is_trained:
        sentences.append(Finding(heading="Training", text="No checkpoint was trained: the recipe has rounds: 0."))
    for comparison, (heading, claim) in CLAIMS.items():
        if any(d.pair == comparison for d in evidence.differences):
            lower = {judge.name for judge in evidence.deciding if judge.better == "lower"}
            # the numbers of judges that are not sure stand in the table
            verdicts = (
                (word, [name if word == UNSURE else _told(name, mean, lower) for name, mean in judges.items()])
                for word, judges in evidence.tally(comparison).items()
            )
            by_judge = "; ".join(
                f"{word} by {_whom(word, names, len(evidence.deciding))}" for word, names in verdicts if names
            )
            text = capital(f"{claim.format(k=k)}: {by_judge}.")
            sentences.append(Finding(heading=heading.format(k=k), text=text, comparison=comparison))
    if low_grades := low_grade_findings(evidence):
        sentences.append(Finding(heading="Worst grades", text=low_grades, comparison=evidence.comparison))
    sentences += filter(None, (_at_equal_length(evidence, comparison) for comparison in CLAIMS))
    if len(evidence.sides) > 1 and evidence.deciding:
        sentences.append(Finding(heading="For whom", text=_for_whom(evidence)))
    sentences.append(Finding(heading="How sure", text=_how_sure(evidence)))
    return sentences


def low_grade_findings(evidence: Evidence) -> str:
    """The shares of bad grades of the headline's two systems, which equal means may hide; "" without judges that give grades."""
    first, second = evidence.comparison.split(" - ")
    report = {judge.name for judge in evidence.deciding}
    parts = []
    for difference in evidence.low_grades:
        after, before = (evidence.traits.get((difference.measure, name)) for name in (first, second))
        if difference.pair == evidence.comparison and difference.of_judge in report:
            verdict = {"higher": "worse", "lower": "better"}.get(difference.verdict or "", UNSURE)
            parts.append(
                f"{difference.measure}: {percent(before, 1)} of {second}, {percent(after, 1)} of {first} ({verdict})"
            )
    return f"{'; '.join(parts)}." if parts else ""


def _whom(word: str, names: Sequence[str], n_judges: int) -> str:
    """The judges of a verdict by their names; of many the first ones, or all that there are."""
    if MOST_NAMED < len(names) == n_judges:
        return f"any of {n_judges} judges" if word == UNSURE else f"all {n_judges} judges"
    return joined(names, MOST_NAMED)


def _told(name: str, mean: float | None, lower: Collection[str]) -> str:
    """A judge with its difference, and the direction that nobody expects."""
    return f"{name} ({signed(mean)}{', lower is better' if name in lower else ''})"


def length_warnings(evidence: Evidence) -> Iterator[str]:
    """The deciding judges' clear differences that go with length for the most part."""
    for d, judge in _overall(evidence):
        if d.pair in CLAIMS and (warning := gone_with_length(d, judge, _words(evidence, d.pair))):
            yield f"{CLAIMS[d.pair][0].format(k=evidence.candidates)}: {warning}"


def _at_equal_length(evidence: Evidence, comparison: str) -> Finding | None:
    """The deciding judges' clear differences of which a part goes with length."""
    before, after = _words(evidence, comparison)
    parts = [
        f"by {judge.name} {with_interval(estimate(equal, sign=True))} instead of {signed(d.value)}"
        for d, judge in _overall(evidence)
        if d.pair == comparison and d.is_clear and (equal := d.at_equal_length) and is_by_length(d)
    ]
    if not parts:
        return None
    step = CLAIMS[comparison][0].format(k=evidence.candidates)
    words = f"{number(before, 1)} to {number(after, 1)} words"
    return Finding(
        heading="At equal length",
        text=f"{step}: summaries go from {words}. Were they of equal length, the difference would be {'; '.join(parts)}.",
        comparison=comparison,
    )


def _overall(evidence: Evidence) -> list[tuple[Difference, JudgeNote]]:
    """Differences over all requests by the judges that decide."""
    return [(d, j) for j in evidence.deciding for d in evidence.differences if (d.measure, d.side) == (j.name, None)]


def _words(evidence: Evidence, comparison: str) -> tuple[float | None, float | None]:
    """Words of a summary of the second system and of the first."""
    first, second = (evidence.traits.get((WORDS, name)) for name in comparison.split(" - "))
    return second, first


def _for_whom(evidence: Evidence) -> str:
    if evidence.few_sets:
        return f"{capital(few_label('for a verdict on any side', 'document set'))}."
    policy = TRAINED if evidence.is_trained else UNTRAINED
    system = SYSTEMS[policy][evidence.candidates > 1]
    drawn = "one draw" if system == SYSTEMS[policy][0] else f"the best of {evidence.candidates}"
    system_said = f"{drawn} of the {policy} model ({system})"
    behind = [
        f'Of {system_said}, side "{gap.worst}" is behind "{gap.best}" by {gap.measure}.'
        for gap in evidence.clear_gaps(evidence.score_gaps, system)
    ] or [f"Of {system_said} no side is clearly behind."]
    if not evidence.is_compared:
        return " ".join(behind)
    step = "One draw after training" if evidence.is_trained else "Reranking"
    sides = []
    for side in evidence.sides:
        verdicts = evidence.tally(evidence.comparison, side)
        words = [
            f"{word} by {joined(list(verdicts[word]), MOST_NAMED)}" for word in ("better", "worse") if verdicts[word]
        ]
        sides.append(f'for side "{side}" {" and ".join(words) or UNSURE}')
    gains = [
        f'Side "{gap.best}" gains more than "{gap.worst}" by {gap.measure}.'
        for gap in evidence.clear_gaps(evidence.gain_gaps, evidence.comparison)
    ] or ["No side clearly gains more than another."]
    return " ".join([f"{step}: {'; '.join(sides)}.", *gains, *behind])


def _how_sure(evidence: Evidence) -> str:
    if not evidence.is_compared:
        return "There is one system, and nothing to compare it with. Use evenhand compare for runs of other recipes."
    overall = [d for d in evidence.differences if d.side is None and d.n]
    if not overall:
        return "No request has scores under two systems, so nothing can be compared."
    difference = max(overall, key=lambda d: d.n)
    names = {judge.name for judge in evidence.deciding}
    deciding = [d for d in evidence.differences if d.measure in names]
    clear = sum(d.verdict != "no clear difference" for d in deciding)
    rests_on = (
        f"{counted(difference.n, 'request')} from {counted(difference.n_sets, 'unseen document set')}, "
        f"{counted(evidence.candidates, 'candidate')} each under every system."
    )
    level, resamples = evidence.bootstrap.level, evidence.bootstrap.resamples
    if warning := too_few(difference.n_sets, level):
        return f"{rests_on} {warning}"
    unless = " (none where sets are many)" if difference.n_sets >= MANY_SETS else ""
    return (
        f"{rests_on} {100 * level:g} % bootstrap-t intervals of means from {resamples:,} draws{unless}; "
        f"differences are tested by exchanges of whole sets. Of the {counted(len(deciding), 'difference')} by the judges "
        f"that decide, {clear} {'is' if clear == 1 else 'are'} clear. They and their intervals are corrected for everything that "
        f"is tested: where nothing differs, at most {100 * (1 - level):g} % of such pages say anything."
    )
