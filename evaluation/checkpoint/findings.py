"""The headline: is the checkpoint better, for whom, and how sure is that, in sentences made from the verdicts.

Only judges that were no reward decide. "Better" and "worse" are said where the interval of the paired difference leaves
out 0; everywhere else the sentence says that it cannot be told.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from ..pages.numbers import signed
from ..systems.compare import comparison_name, leaves_out_zero
from ..systems.contents import Difference, Finding, JudgeNote, SideGap

TRAINING = comparison_name("DPO", "zero-shot")
TRAINING_BEST = comparison_name("DPO+RR", "rerank")
RERANKING = comparison_name("rerank", "zero-shot")

# comparison -> heading, and what is compared
CLAIMS = {
    TRAINING: ("Training, one draw", "one summary drawn from the trained model, against one from the untrained model"),
    TRAINING_BEST: ("Training, best of {k}", "the best of {k} by reward from each model, trained against untrained"),
    RERANKING: ("Reranking alone", "the best of {k} by reward from the untrained model, against one draw"),
}
# more names than this are counted
MOST_NAMED = 3


@dataclass(frozen=True)
class Evidence:
    """What the headline is made from."""

    judges: Sequence[JudgeNote]
    differences: Sequence[Difference]
    score_gaps: Sequence[SideGap]
    gain_gaps: Sequence[SideGap]
    sides: Sequence[str]
    candidates: int
    is_trained: bool

    @property
    def deciding(self) -> list[JudgeNote]:
        """The report's judges that say what is better; those that were rewards only when there is no other."""
        directed = [j for j in self.judges if j.better and j.role != "reward"]
        return [j for j in directed if j.role == "report"] or directed

    @property
    def is_independent(self) -> bool:
        """Whether the deciding judges were no reward."""
        return any(judge.role == "report" for judge in self.deciding)

    def difference(self, comparison: str, judge: JudgeNote, side: str | None) -> Difference | None:
        """The paired difference of that judge, None when the run has no such comparison."""
        for found in self.differences:
            if (found.subject, found.measure, found.side) == (comparison, judge.name, side):
                return found
        return None

    def tally(self, comparison: str, side: str | None = None) -> dict[str, list[str]]:
        """Names of the deciding judges that say "better", "worse" or "cannot tell"."""
        said: dict[str, list[str]] = {"better": [], "worse": [], "cannot tell": []}
        for judge in self.deciding:
            found = self.difference(comparison, judge, side)
            said[direction(found, judge) if found else "cannot tell"].append(judge.name)
        return said

    def gaps_by_judge(self, gaps: Sequence[SideGap], subject: str) -> list[SideGap]:
        """Gaps of that system or comparison, one for each deciding judge that has one."""
        return [g for judge in self.deciding for g in gaps if (g.subject, g.measure) == (subject, judge.name)]


def direction(difference: Difference, judge: JudgeNote) -> str:
    """ "better", "worse" or "cannot tell", from the verdict and what the judge calls better."""
    if difference.verdict == "cannot tell" or judge.better is None:
        return "cannot tell"
    return "better" if difference.verdict == judge.better else "worse"


def title(evidence: Evidence) -> str:
    """The headline's first sentence, without a full stop."""
    if not evidence.deciding:
        return "No judge of this report says which summaries are better"
    comparison = TRAINING if evidence.is_trained else RERANKING
    subject = "the trained model is" if evidence.is_trained else f"the best of {evidence.candidates} is"
    other = "the untrained model" if evidence.is_trained else "one draw"
    said = evidence.tally(comparison)
    better, worse, n = len(said["better"]), len(said["worse"]), len(evidence.deciding)
    whose = "report judges" if evidence.is_independent else "judges, which are its own reward"
    if better and worse:
        return _capital(f"{subject} better than {other} by {better} and worse by {worse} of {n} {whose}")
    if not better and not worse:
        return f"It cannot be told whether {subject} better than {other}"
    sentence = _capital(f"{subject} {'better' if better else 'worse'} than {other}")
    if better + worse < n:
        return f"{sentence} by {better + worse} of {n} {whose}; by the {_others(n - better - worse)} it cannot be told"
    if n > 1:
        return f"{sentence} by {'both' if n == 2 else f'all {n}'} {whose}"
    return sentence if evidence.is_independent else f"{sentence} by a judge that was its own reward"


def findings(evidence: Evidence) -> list[Finding]:
    """The headline's further sentences."""
    found, k = [], evidence.candidates
    if not evidence.is_trained:
        found.append(Finding(heading="Training", text="No checkpoint was trained: the recipe has rounds: 0."))
    for comparison, (heading, what) in CLAIMS.items():
        if any(d.subject == comparison for d in evidence.differences):
            text = f"{what.format(k=k)}: {_by_judge(evidence, comparison)}."
            found.append(Finding(heading=heading.format(k=k), text=_capital(text), comparison=comparison))
    if len(evidence.sides) > 1 and evidence.deciding:
        found.append(Finding(heading="For whom", text=_for_whom(evidence)))
    found.append(Finding(heading="How sure", text=_how_sure(evidence)))
    return found


def _by_judge(evidence: Evidence, comparison: str) -> str:
    """ "better by rouge (+0.031); cannot be told by coverage"; the numbers of undecided judges stand in the table."""
    parts = []
    for word in ("better", "worse"):
        names = []
        for judge in evidence.deciding:
            found = evidence.difference(comparison, judge, None)
            if found and direction(found, judge) == word:
                names.append(f"{judge.name} ({signed(found.mean)})")
        if names:
            parts.append(f"{word} by {_and(names)}")
    unsure = evidence.tally(comparison)["cannot tell"]
    if unsure:
        parts.append(f"cannot be told by {_and(unsure)}")
    return "; ".join(parts)


def _for_whom(evidence: Evidence) -> str:
    comparison = TRAINING if evidence.is_trained else RERANKING
    step = "One draw after training" if evidence.is_trained else "Reranking"
    sides = "; ".join(f"for {side}, {_tally_words(evidence.tally(comparison, side))}" for side in evidence.sides)
    return f"{step}: {sides}. {_gains(evidence, comparison)} {_behind(evidence)}"


def _tally_words(said: dict[str, list[str]]) -> str:
    words = [f"{word} by {_and(said[word])}" for word in ("better", "worse") if said[word]]
    return " and ".join(words) or "neither clearly better nor worse"


def _gains(evidence: Evidence, comparison: str) -> str:
    clear = [g for g in evidence.gaps_by_judge(evidence.gain_gaps, comparison) if leaves_out_zero(g.gap)]
    if not clear:
        return "Which side gains more cannot be told."
    return " ".join(f"{_capital(g.best)} gains more than {g.worst} by {g.measure}." for g in clear)


def _behind(evidence: Evidence) -> str:
    system = "DPO+RR" if evidence.is_trained else "rerank"
    clear = [g for g in evidence.gaps_by_judge(evidence.score_gaps, system) if leaves_out_zero(g.gap)]
    if not clear:
        return f"Under {system} no side is clearly behind."
    return " ".join(f"Under {system}, {g.worst} is behind {g.best} by {g.measure}." for g in clear)


def _how_sure(evidence: Evidence) -> str:
    overall = [d for d in evidence.differences if d.side is None and d.n]
    if not overall:
        return "No request has scores under two systems, so nothing can be compared."
    most = max(overall, key=lambda d: d.n)
    names = {judge.name for judge in evidence.deciding}
    deciding = [d for d in evidence.differences if d.measure in names]
    clear = sum(d.verdict != "cannot tell" for d in deciding)
    rests_on = (
        f"{_counted(most.n, 'request')} from {_counted(most.n_sets, 'unseen document set')}, "
        f"{_counted(evidence.candidates, 'candidate')} each under every system."
    )
    if most.low is None:
        return f"{rests_on} With a single document set there are no intervals, and nothing can be told."
    return (
        f"{rests_on} Intervals hold {100 * most.level:g} % of {most.resamples:,} bootstrap draws of whole sets. Of the "
        f"{len(deciding)} differences by the judges that decide, {clear} leave out 0; if nothing differed, about "
        f"{(1 - most.level) * len(deciding):.0f} would."
    )


def _others(count: int) -> str:
    return "other" if count == 1 else f"other {count}"


def _counted(count: int, word: str) -> str:
    return f"{count} {word}" if count == 1 else f"{count} {word}s"


def _and(names: Sequence[str]) -> str:
    if len(names) > MOST_NAMED:
        names = [*names[: MOST_NAMED - 1], f"{len(names) - MOST_NAMED + 1} others"]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
