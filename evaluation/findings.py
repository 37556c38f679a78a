"""The headline: is the checkpoint better, for whom, and how sure is that, in sentences made from the verdicts.

Only judges that were no reward decide. "Better" and "worse" are said where the interval of the paired difference leaves
out 0; everywhere else the sentence says that it cannot be told.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from .compare import comparison_name
from .contents import Difference, Estimate, Finding, JudgeNote, SideGap

TRAINING = comparison_name("DPO", "zero-shot")
TRAINING_BEST = comparison_name("DPO+RR", "rerank")
RERANKING = comparison_name("rerank", "zero-shot")

CLAIMS = {
    TRAINING: ("Training, one draw", "one summary drawn from the trained model, against one from the untrained model"),
    TRAINING_BEST: ("Training, best of {k}", "the best of {k} candidates of each model, chosen by reward"),
    RERANKING: ("Reranking alone", "the best of {k} candidates of the untrained model, against one draw"),
}


@dataclass(frozen=True)
class Evidence:
    """What the headline is made from."""

    judges: Sequence[JudgeNote]
    differences: Sequence[Difference]
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
            said[direction(found, judge)].append(judge.name)
        return said


def direction(difference: Difference | None, judge: JudgeNote) -> str:
    """ "better", "worse" or "cannot tell", from the verdict and what the judge calls better."""
    if difference is None or difference.verdict == "cannot tell" or judge.better is None:
        return "cannot tell"
    return "better" if difference.verdict == judge.better else "worse"


def title(evidence: Evidence) -> str:
    """The headline's first sentence."""
    if evidence.is_trained:
        comparison, subject, other = TRAINING, "The trained model", "the untrained model"
    else:
        comparison, subject, other = RERANKING, "Reranking", "one draw of the untrained model"
    if not evidence.deciding:
        return "No judge of this report says which summaries are better"
    sentence = _claim(evidence.tally(comparison), subject, other)
    if not evidence.is_independent:
        sentence += ", by the judges of the reward alone"
    return sentence


def findings(evidence: Evidence) -> list[Finding]:
    """The headline's further sentences."""
    found = []
    for comparison, (heading, what) in CLAIMS.items():
        if any(d.subject == comparison for d in evidence.differences):
            text = f"{what.format(k=evidence.candidates)}: {_by_judge(evidence, comparison)}."
            found.append(Finding(heading=heading.format(k=evidence.candidates), text=_capital(text)))
    if not evidence.is_trained:
        found.insert(0, Finding(heading="Training", text="No checkpoint was trained: the recipe has rounds: 0."))
    if len(evidence.sides) > 1 and evidence.deciding:
        found.append(Finding(heading="For whom", text=_for_whom(evidence)))
    found.append(Finding(heading="How sure", text=_how_sure(evidence)))
    return found


def signed(value: float, places: int = 3) -> str:
    """A number with its sign, a true minus before negative ones: "+0.031"."""
    return f"{value:+.{places}f}".replace("-", "\u2212")


def _claim(said: dict[str, list[str]], subject: str, other: str) -> str:
    better, worse, unsure = said["better"], said["worse"], said["cannot tell"]
    verb = "is" if subject == "The trained model" else "gives"
    if better and worse:
        return f"The judges disagree: {subject.lower()} {verb} better than {other} by {_and(better)}, worse by {_and(worse)}"
    if not better and not worse:
        return f"Whether {subject[0].lower()}{subject[1:]} {verb} better than {other} cannot be told"
    word, names = ("better", better) if better else ("worse", worse)
    sentence = f"{subject} {verb} {word} than {other}"
    return f"{sentence} by {_and(names)}; by {_and(unsure)} it cannot be told" if unsure else sentence


def _by_judge(evidence: Evidence, comparison: str) -> str:
    parts = []
    for judge in evidence.deciding:
        found = evidence.difference(comparison, judge, None)
        if found is None or found.mean is None:
            parts.append(f"no scores by {judge.name}")
            continue
        said = {"cannot tell": "cannot be told"}.get(word := direction(found, judge), word)
        parts.append(f"{said} by {judge.name} ({signed(found.mean)}, {_interval(found)})")
    return "; ".join(parts)


def _for_whom(evidence: Evidence) -> str:
    comparison = TRAINING if evidence.is_trained else RERANKING
    parts = []
    for side in evidence.sides:
        said = evidence.tally(comparison, side)
        words = [f"{word} by {_and(said[word])}" for word in ("better", "worse") if said[word]]
        if said["cannot tell"]:
            words.append(f"cannot be told by {_and(said['cannot tell'])}")
        parts.append(f"{side}: {', '.join(words)}")
    gainers = [_who_gains(gap) for gap in evidence.gain_gaps if gap.subject == comparison and _decides(evidence, gap)]
    what = "Training, one draw" if evidence.is_trained else "Reranking"
    return f"{what}. {_capital('; '.join(parts))}. {' '.join(gainers)}".strip()


def _who_gains(gap: SideGap) -> str:
    if gap.gap.low is not None and gap.gap.high is not None and (gap.gap.low > 0 or gap.gap.high < 0):
        return f"By {gap.measure}, {gap.best} gains more than {gap.worst} ({signed(gap.gap.mean or 0)}, {_interval(gap.gap)})."
    return f"By {gap.measure}, it cannot be told which side gains more."


def _decides(evidence: Evidence, gap: SideGap) -> bool:
    return gap.measure in {judge.name for judge in evidence.deciding}


def _how_sure(evidence: Evidence) -> str:
    overall = [d for d in evidence.differences if d.side is None and d.n]
    if not overall:
        return "No request has scores under two systems, so nothing can be compared."
    most = max(overall, key=lambda d: d.n)
    clear = sum(d.verdict != "cannot tell" for d in evidence.differences)
    percent = f"{most.level:.0%}".replace("%", " %")
    return (
        f"{most.n} {_plural(most.n, 'request')} from {most.n_sets} unseen document {_plural(most.n_sets, 'set')}, "
        f"{evidence.candidates} candidates each; {percent} intervals from {most.resamples:,} bootstrap draws of whole sets. "
        f"Of all {len(evidence.differences)} differences on this page, {clear} leave out 0; about "
        f"{(1 - most.level) * len(evidence.differences):.0f} would by chance alone."
    )


def _interval(estimate: Estimate) -> str:
    if estimate.low is None or estimate.high is None:
        return "no interval: one document set"
    return f"{signed(estimate.low)} to {signed(estimate.high)}"


def _and(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _plural(count: int, word: str) -> str:
    return word if count == 1 else f"{word}s"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
