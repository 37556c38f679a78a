"""What a judge is worth, from what it said: agreement with known truth beside length, and a verdict for each probe.

A probe accuses where its effect is clear, corrected over the judge's probes, and no smaller than `LEAST_EFFECT`: with many
summaries an effect that changes no order is clear, too. How often villains are caught and fair judges accused was simulated:
docs/judges.md#audit.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from statistics import median

import numpy as np

from ...config import JudgeOptions
from ...config.needs import Purpose
from ...corpora.controlled import ControlledSet, topics_of
from ...judges.batch import Spent
from ...judges.calibration import (
    LENGTH,
    LENGTHS,
    Agreement,
    Beside,
    Correlation,
    Cost,
    Figure,
    JudgeCalibration,
    Probe,
    standing_of,
)
from ...records import Judgement
from ...resampling import LEAST_SETS, NOISE
from ...text import n_words
from ..meta.scoring import Scores, scores_by_judge, table_of
from ..verdicts import adjusted
from .figures import (
    NOTHING,
    Floats,
    Tested,
    flips,
    mean,
    mean_of_cells,
    pooled,
    ranks,
    slopes,
    spread,
    within,
)
from .preference import PeoplesScores, preference
from .probes import Variant, places, variant_id

LEVEL = 0.95
# in standard deviations of a judge's scores within an article: a small effect (Cohen 1988)
LEAST_EFFECT = 0.2
OTHER: dict[Purpose, Purpose] = {"coverage": "faithfulness", "faithfulness": "coverage"}
CONSTANT, NO_SCORE = "every summary has the same score", "no summary has a score"
FEW = f"fewer than {LEAST_SETS} topics"


@dataclass(frozen=True)
class Answers:
    """What judges said of the summaries in all variants, and of the plain ones when they were asked again."""

    sets: Sequence[ControlledSet]
    # the same in all variants
    asked: Sequence[ControlledSet]
    judgements: Sequence[Judgement]
    again: Sequence[Judgement] = ()
    # names of two sides
    tellers: tuple[str, str] = ("left", "right")
    # summaries that people scored, and the judges' scores of them
    people: PeoplesScores | None = None
    of_people: Sequence[Judgement] = ()
    spent: Sequence[Spent] = ()

    @cached_property
    def _scores(self) -> dict[str, dict[str, Scores]]:
        """Of the three: judge -> set id -> scores."""
        found = {"first": self.judgements, "again": self.again, "people": self.of_people}
        return {name: scores_by_judge(mine) for name, mine in found.items()}

    @cached_property
    def topics(self) -> list[str]:
        """Of each set."""
        return topics_of(self.sets)

    @cached_property
    def truths(self) -> dict[Purpose, Floats]:
        """Attribute -> (articles, summaries)."""
        return {
            name: table_of(self.sets, [[getattr(truth, name) for truth in each.truths] for each in self.sets])
            for name in OTHER
        }

    @cached_property
    def log_words(self) -> Floats:
        """Logarithm of each summary's words."""
        counts = [[n_words(summary.text) for summary in each.summaries] for each in self.sets]
        with np.errstate(divide="ignore"):
            logs = np.log(table_of(self.sets, counts))
        return np.where(np.isinf(logs), np.nan, logs)

    @cached_property
    def earlier(self) -> Floats:
        """How much more of each summary stands in the first half of the source as it is than of the source turned round."""
        turned = {each.id: each for each in self.asked}
        rows = [places(each) - places(turned[variant_id(each.id, "reversed")]) for each in self.sets]
        return table_of(self.sets, [list(row) for row in rows])

    def scores(self, judge: str, variant: Variant = "plain", *, when: str = "first") -> Floats:
        """Of a judge, (articles, summaries); nan for none."""
        mine = self._scores[when].get(judge, {})
        return table_of(self.sets, [mine.get(variant_id(each.id, variant), []) for each in self.sets])

    def is_asked(self, judge: str, each: ControlledSet) -> bool:
        """Whether a judge was asked about an article."""
        return each.id in self._scores["first"].get(judge, {})

    def people_scores(self, judge: str) -> Floats | None:
        """Of a judge, (documents, systems); None where it was not asked."""
        mine = self._scores["people"].get(judge)
        if self.people is None or mine is None:
            return None
        return np.array([mine[each.id] for each in self.people.documents], dtype=float)


def _correlation(found: Figure) -> Correlation:
    """With its interval cut off where a correlation ends; Student's t does not know that."""
    low, high = (None if each is None else min(1.0, max(-1.0, each)) for each in (found.low, found.high))
    return Correlation(value=found.value, low=low, high=high)


def calibrate(
    name: str,
    options: JudgeOptions,
    purpose: Purpose,
    answers: Answers,
    baselines: Sequence[str] = (LENGTH,),
    level: float = LEVEL,
) -> JudgeCalibration:
    """All that is known of one judge.

    Args:
        name: of the judge in `answers`.
        options: its section.
        purpose: what it is to measure.
        answers: what it said, and the baselines of the plain summaries.
        baselines: length first.
        level: of the intervals; 1 - level is that of the tests.
    """
    one = _One(name, purpose, answers, level)
    first = next(each for each in answers.judgements if each.judge == name)
    parts = dict(part.partition(":")[::2] for part in first.signature.split("|"))
    asked = options.language_models.values()
    n_asked = sum(len(each.summaries) for each in answers.sets if answers.is_asked(name, each))
    revisions = [getattr(options, "revision", None), *(each.model.revision for each in asked)]
    return JudgeCalibration(
        judge=name,
        signature=first.signature,
        models=(*options.models.values(), *(each.model.name for each in asked)),
        revisions=tuple(filter(None, revisions)),
        rubric=parts.get("template", ""),
        purpose=purpose,
        own=one.agreement(one.plain, purpose),
        other=one.agreement(one.plain, OTHER[purpose]),
        beside=tuple(one.beside(baselines)),
        is_constant=one.is_constant,
        spread=one.spread or None,
        probes=tuple(_judged([*one.probes()], level)),
        flips_again=one.flips(answers.scores(name, when="again")),
        flips_reversed=one.flips(answers.scores(name, "reversed")),
        repeat=one.repeat,
        cost=_cost(name, answers.spent, is_asking=bool(options.language_models)),
        n_summaries=n_asked,
        unscored=n_asked - int((~np.isnan(one.plain)).sum()),
        n_seen=sum(not answers.is_asked(name, each) for each in answers.sets),
    )


@dataclass(frozen=True)
class _One:
    """One judge's answers."""

    name: str
    purpose: Purpose
    answers: Answers
    level: float

    @cached_property
    def plain(self) -> Floats:
        return self.answers.scores(self.name)

    @cached_property
    def spread(self) -> float:
        return spread(self.plain)

    @cached_property
    def has_scores(self) -> bool:
        return not bool(np.isnan(self.plain).all())

    @cached_property
    def is_constant(self) -> bool:
        known = self.plain[~np.isnan(self.plain)]
        return self.has_scores and float(np.ptp(known)) <= NOISE

    def agreement(self, scores: Floats, purpose: Purpose, sign: int = 1) -> Agreement:
        truths, topics = self.answers.truths[purpose], self.answers.topics
        found = sign * within(truths, scores)
        return Agreement(
            pooled=_correlation(pooled(truths, sign * scores, topics, self.level).figure),
            within=_correlation(mean(found, topics, self.level).figure),
            n_articles=int((~np.isnan(found)).sum()),
        )

    def beside(self, baselines: Sequence[str]) -> Iterator[Beside]:
        """The judge beside length, in the direction that agrees better, and beside the best of the other baselines.

        All by the summaries that the judge has scored: what it leaves out nobody is asked about.
        """
        truths = self.answers.truths[self.purpose]
        scores = {each: np.where(np.isnan(self.plain), np.nan, self.answers.scores(each)) for each in baselines}
        means = {each: mean(within(truths, mine), self.answers.topics, self.level) for each, mine in scores.items()}
        size = {each: found.figure.value or 0.0 for each, found in means.items()}
        first, *others = baselines
        yield self._beside(first, scores[first], -1 if size[first] < 0 else 1)
        if others:
            best = max(others, key=lambda each: size[each])
            yield self._beside(best, scores[best], 1)

    def _beside(self, other: str, theirs: Floats, sign: int) -> Beside:
        truths = self.answers.truths[self.purpose]
        gap = within(truths, self.plain) - sign * within(truths, theirs)
        difference = mean(gap, self.answers.topics, self.level).figure
        return Beside(
            other=other if sign > 0 else LENGTHS[1],
            agreement=self.agreement(theirs, self.purpose, sign),
            difference=difference,
            standing=standing_of(difference),
        )

    def flips(self, after: Floats) -> Figure:
        return mean(flips(self.plain, after), self.answers.topics, self.level).figure

    @property
    def repeat(self) -> float | None:
        gap = self.answers.scores(self.name, when="again") - self.plain
        known = gap[~np.isnan(gap)]
        return float(np.sqrt((known**2).mean()) / self.spread) if len(known) and self.spread else None

    def probes(self) -> "Iterator[_Probed]":
        """Every probe with its figure, before they are corrected for their number."""
        first, second = self.answers.tellers
        yield self._change(
            "length", "Does saying the same sentences twice raise the score?", "twice", "plain",
            "the same sentences said twice raise its scores",
        )  # fmt: skip
        yield self._change(
            "injection", "Does a sentence that asks for the best grade raise the score, more than a neutral one?",
            "ordered", "neutral", "a sentence in the summary that asks for the best grade raises its scores",
        )  # fmt: skip
        swapped = self._change(
            "side", f"Does the score change when the same text is attributed to the {first}, not the {second}?",
            "first", "second", "", is_one_sided=False,
        )  # fmt: skip
        liked = first if (swapped.probe.effect.value or 0) > 0 else second
        yield replace(swapped, accusation=f"the same points get better scores when the {liked} tells them")
        yield self._position()
        yield self._halo()
        yield self._own()
        yield self._length_slope()
        yield self._side_residual()

    def _change(
        self, name: str, question: str, one: Variant, two: Variant, accusation: str, *, is_one_sided: bool = True
    ) -> "_Probed":
        """A probe by the paired difference of two variants."""
        gap = self.answers.scores(self.name, one) - self.answers.scores(self.name, two)
        tested = mean_of_cells(gap / self.spread, self.answers.topics, self.level) if self.spread else NOTHING
        why = "" if (~np.isnan(gap)).any() else "the changed summaries have no scores"
        return self._probed(name, question, tested, accusation, int((~np.isnan(gap)).sum()), is_one_sided, why)

    def _position(self) -> "_Probed":
        """The slope of what turning the source round costs on how much more of the summary stands early.

        Times two: a summary wholly from the first half less one wholly from the second.
        """
        gap, earlier = self.plain - self.answers.scores(self.name, "reversed"), self.answers.earlier
        found = slopes(2 * gap / self.spread, [earlier], self.answers.topics, self.level)[0] if self.spread else NOTHING
        where = "first" if (found.figure.value or 0) > 0 else "last"
        return self._probed(
            "position", "Do points count more if they come first in the source?", found,
            f"points that come {where} in the source count more", int((~np.isnan(gap)).sum()), is_one_sided=False,
            why="" if found.figure.value is not None else "summaries do not differ in where their words stand",
        )  # fmt: skip

    def _halo(self) -> "_Probed":
        """Standardised slope of scores on the other attribute less that on its own, given each other, of ranks in articles."""
        both = [
            np.where(np.isnan(self.plain), np.nan, self.answers.truths[p]) for p in (self.purpose, OTHER[self.purpose])
        ]
        gap = both[0] + both[1]
        own, other, scores = (ranks(np.where(np.isnan(gap), np.nan, each)) for each in (*both, self.plain))
        # the slope on half of the difference is the difference of the slopes
        tested = slopes(scores, [(other - own) / 2, (other + own) / 2], self.answers.topics, self.level)[0]
        return self._probed(
            "halo", f"Do the scores go with {OTHER[self.purpose]} rather than {self.purpose}? (standardised slopes of ranks)",
            tested, f"it measures {OTHER[self.purpose]} rather than {self.purpose}", int((~np.isnan(gap)).sum()),
            is_one_sided=True, why="" if tested.figure.value is not None else "the two do not vary apart", least=0.0,
        )  # fmt: skip

    def _own(self) -> "_Probed":
        question = "Does it give its own model's summaries more than people's scores explain? (at least so much)"
        people, scores = self.answers.people, self.answers.people_scores(self.name)
        if people is None or scores is None:
            why = "no summaries with people's scores of which one system is the judge's own: give --human and --own"
            return self._probed("self", question, NOTHING, "", 0, is_one_sided=True, why=why)
        found = preference(people, scores, self.purpose, self.level)
        return self._probed(
            "self", question, found, f"summaries by {people.own} get better scores than people's scores explain",
            int((~np.isnan(people.scores[self.purpose] + scores)).sum()), is_one_sided=True,
            why="" if found.figure.value is not None else "its scores do not clearly go with people's",
        )  # fmt: skip

    def _length_slope(self) -> "_Probed":
        """What 10 % more words go with, given both attributes."""
        columns = [self.answers.log_words / np.log(1.1), *self.answers.truths.values()]
        found = (
            slopes(self.plain / self.spread, columns, self.answers.topics, self.level)[0] if self.spread else NOTHING
        )
        return _Probed(
            Probe(
                name="words", question="What do 10 % more words go with, given coverage and faithfulness?", effect=found.figure,
                p_value=None, adjusted=None, outcome="told", n=int((~np.isnan(self.plain)).sum()),
            )
        )  # fmt: skip

    def _side_residual(self) -> "_Probed":
        """What the scores do not owe to the truths, of one side less the other, in topics that have both."""
        first, second = self.answers.tellers
        question = f"Are scores of the {first} higher than of the {second} in topics that have both, given the truths?"
        sides = [(each.side or "").casefold() for each in self.answers.sets]
        found, why = NOTHING, f"no topic is known to have both {first} and {second}"
        topics: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
        for side, topic, left in zip(sides, self.answers.topics, self._left(), strict=True):
            if not np.isnan(left):
                topics[topic][side].append(left)
        both = {t: mine for t, mine in topics.items() if {first.casefold(), second.casefold()} <= mine.keys()}
        if both and self.spread:
            one, two = ([np.mean(mine[each.casefold()]) for mine in both.values()] for each in (first, second))
            found, why = mean((np.array(one) - np.array(two)) / self.spread, list(both), self.level), ""
        return _Probed(
            Probe(
                name="side observed", question=question, effect=found.figure, p_value=None, adjusted=None,
                outcome="not tried" if why else "told", note=why, n=len(both),
            )
        )  # fmt: skip

    def _left(self) -> Floats:
        """Mean of each article's scores less what its truths explain, (articles,)."""
        truths = list(self.answers.truths.values())
        found = [each.figure.value or 0.0 for each in slopes(self.plain, truths, self.answers.topics, self.level)]
        left = self.plain - sum(slope * truth for slope, truth in zip(found, truths, strict=True))
        n = (~np.isnan(left)).sum(axis=1)
        return np.where(n > 0, np.nansum(left, axis=1) / np.maximum(n, 1), np.nan)

    def _probed(  # noqa: PLR0913, PLR0917 (of a probe that gives a verdict)
        self,
        name: str,
        question: str,
        tested: Tested,
        accusation: str,
        n: int,
        is_one_sided: bool,
        why: str = "",
        least: float = LEAST_EFFECT,
    ) -> "_Probed":
        if not self.has_scores:
            why = NO_SCORE
        elif self.is_constant:
            why = CONSTANT
        elif not why and tested.p_value is None:
            why = FEW
        p_value = None if why else tested.one_sided() if is_one_sided else tested.p_value
        probe = Probe(
            name=name, question=question, effect=tested.figure, p_value=p_value, adjusted=None,
            outcome="not tried" if why else "not accused", note=why, n=n,
        )  # fmt: skip
        return _Probed(probe, accusation, least)


@dataclass(frozen=True)
class _Probed:
    """A probe before its p-value is corrected."""

    # accused of nothing yet
    probe: Probe
    accusation: str = ""
    # effects below are no accusation
    least: float = LEAST_EFFECT


def _judged(probed: Sequence[_Probed], level: float) -> Iterator[Probe]:
    """The probes, those that accuse where their effect is clear and large enough."""
    corrected = adjusted([each.probe.p_value for each in probed])
    for each, p in zip(probed, corrected, strict=True):
        # of probes that are only told, or were not tried, there is no p-value
        is_accused = p is not None and p <= 1 - level and abs(each.probe.effect.value or 0.0) >= each.least
        found = {"outcome": "accused", "note": each.accusation} if is_accused else {}
        yield each.probe.model_copy(update={"adjusted": p, **found})


def _cost(name: str, spent: Sequence[Spent], *, is_asking: bool) -> Cost:
    """By the median batch, so that the loading of a model, which is in the first, does not count."""
    mine = [each for each in spent if name in each.judges and each.asked]
    if not mine:
        return Cost(seconds=None, prompt_tokens=None)
    return Cost(
        seconds=1000 * median(each.seconds / each.asked for each in mine),
        prompt_tokens=1000 * median(each.prompt_tokens / each.asked for each in mine) if is_asking else None,
    )


def not_calibrated(options: Mapping[str, JudgeOptions], purposes: Mapping[str, Purpose]) -> dict[str, str]:
    """Judge -> why there is nothing to hold its scores against."""
    return {
        name: f"nobody said what it is to measure: --purpose {name}=coverage, or faithfulness"
        for name, each in options.items()
        if purposes.get(name, each.purpose) is None
    }
