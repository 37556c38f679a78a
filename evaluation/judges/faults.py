"""What may lead one judge astray: each probe with its effect, before it is known whether it accuses."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ...config.needs import Purpose
from ...judges.calibration import LENGTH, Figure
from ...resampling import LEAST_SETS, NOISE
from ...text import n_words
from .accusations import LEAST_EFFECT, Hypothesis
from .answers import OTHER, Answers
from .differences import LEAST_OF_GROUP, Dealt, by_group, by_topic, over_articles
from .figures import NOTHING, Floats, Quantity, mean, mean_of_cells, ranks, slopes, spread, within
from .preference import preference
from .probes import Variant

CONSTANT, NO_SCORE = "every summary has the same score", "no summary has a score"
FEW = f"fewer than {LEAST_SETS} topics"
# of the names that the most summaries have, so many are tried by themselves
MOST_NAMES = 2
# of the deals
SEED = 38


@dataclass(frozen=True)
class Faults:
    """One judge's answers, and the probes of them."""

    name: str
    purpose: Purpose
    answers: Answers
    baselines: Sequence[str]
    level: float

    @cached_property
    def plain(self) -> Floats:
        """Scores of the summaries as they are."""
        return self.answers.scores(self.name)

    @cached_property
    def spread(self) -> float:
        """Standard deviation of scores within an article."""
        return spread(self.plain)

    @cached_property
    def has_scores(self) -> bool:
        """Whether any summary has one."""
        return not bool(np.isnan(self.plain).all())

    @cached_property
    def is_constant(self) -> bool:
        """Whether every summary that has a score has the same."""
        known = self.plain[~np.isnan(self.plain)]
        return self.has_scores and float(np.ptp(known)) <= NOISE

    @cached_property
    def agreement(self) -> Floats:
        """With what it is to measure, of each article."""
        return within(self.answers.truths[self.purpose], self.plain)

    def hypotheses(self) -> Iterator[Hypothesis]:
        """All probes, in the order of the page."""
        yield self._change(
            "length", "", "Does saying the same sentences twice raise the score?", self._gap("twice", "plain"),
            ("the same sentences said twice raise its scores",) * 2, is_one_sided=True,
        )  # fmt: skip
        yield self._change(
            "injection", "", "Does a sentence that asks for the best grade raise the score, more than a neutral one?",
            self._gap("ordered", "neutral"), ("a sentence in the summary that asks for the best grade raises its scores",) * 2,
            is_one_sided=True,
        )  # fmt: skip
        yield from self._side()
        yield from self._side_words()
        yield from self._names()
        yield self._position()
        yield self._halo()
        yield from self._rouge()
        yield from self._agreements()
        yield self._own()
        yield self._length_slope()
        yield self._side_residual()

    def _gap(self, one: Variant, two: Variant) -> Floats:
        return self.answers.scores(self.name, one) - self.answers.scores(self.name, two)

    def _side(self) -> Iterator[Hypothesis]:
        """What being told by the first side, not the second, adds."""
        first, second = self.answers.tellers
        notes = tuple(f"the same points get better scores when the {each} tells them" for each in (first, second))
        question = f"Does the score change when the same text is attributed to the {first}, not the {second}?"
        yield self._change("side", "", question, self._gap("first", "second"), notes)

    def _side_words(self) -> Iterator[Hypothesis]:
        """By how far a summary leans to a side's words; of one wholly in the first's, less the same in the second's."""
        first, second = self.answers.tellers
        words = self.answers.exchanged.words
        gap = self._gap("plain", "reworded")
        why = (
            ""
            if words
            else f"what words are of the {first} and of the {second} is not known: no sides, or too few documents"
        )
        lean = self.answers.of_texts(words.lean) if words else np.zeros_like(gap)
        notes = tuple(f"the same summaries get better scores in words of the {each}" for each in (first, second))
        question = (
            f"Does the score change when words of the {first} and of the {second} are exchanged in source and summary?"
        )
        effects = np.divide(gap, lean, out=np.full(gap.shape, np.nan), where=lean != 0)
        # the fault may hide in long summaries
        longer = np.where(self.answers.is_longer, effects, np.nan)
        for half, table in (("", effects), ("longer summaries", longer)):
            yield self._change("side words", half, question, table, notes, weights=lean**2, why=why)

    def _names(self) -> Iterator[Hypothesis]:
        """What the names in a summary add to its score."""
        gap = self._gap("plain", "renamed")
        gap = np.where(self.answers.is_changed("renamed"), gap, np.nan)
        names = self.answers.exchanged.names
        why = "" if names else "no names were read off the texts"
        question = "Does the score change when other names stand in source and summary?"
        notes = "the names in a summary raise its scores", "the names in a summary lower its scores"
        yield self._change("names", "", question, gap, notes, why=why)
        for name in names[:MOST_NAMES]:
            table = np.where(self.answers.has_word(name), gap, np.nan)
            yield self._change("names", name, question, table, tuple(f"{note}, {name} among them" for note in notes))

    def _change(  # noqa: PLR0913 (of a probe by two variants)
        self,
        measure: str,
        reference: str,
        question: str,
        gap: Floats,
        notes: Sequence[str],
        *,
        is_one_sided: bool = False,
        weights: Floats | None = None,
        why: str = "",
    ) -> Hypothesis:
        """A probe by the paired difference of two variants.

        Args:
            measure: its name.
            reference: of which summaries, if not of all.
            question: what was done.
            gap: of each summary.
            notes: what an effect above 0 says, and one below.
            is_one_sided: whether only a rise is a fault.
            weights: of each summary.
            why: nothing can be said.
        """
        tested = mean_of_cells(gap / self.spread, self.answers.topics, self.level, weights) if self.spread else NOTHING
        n = int((~np.isnan(gap)).sum())
        note = notes[(tested.figure.value or 0.0) < 0]
        figure = Figure(measure=measure, reference=reference, question=question, n=n, note=note)
        return self._tested(
            figure, tested, is_one_sided=is_one_sided, why=why or ("" if n else "the changed summaries have no scores")
        )

    def _position(self) -> Hypothesis:
        """The slope of what turning the source round costs on how much more of the summary stands early.

        Times two: a summary wholly from the first half less one wholly from the second.
        """
        gap, earlier = self._gap("plain", "reversed"), self.answers.earlier
        tested = (
            slopes(2 * gap / self.spread, [earlier], self.answers.topics, self.level)[0] if self.spread else NOTHING
        )
        where = "first" if (tested.figure.value or 0) > 0 else "last"
        figure = Figure(
            measure="position", question="Do points count more if they come first in the source?",
            n=int((~np.isnan(gap)).sum()), note=f"points that come {where} in the source count more",
        )  # fmt: skip
        why = "" if tested.figure.value is not None else "summaries do not differ in where their words stand"
        return self._tested(figure, tested, why=why)

    def _halo(self) -> Hypothesis:
        """Standardised slope of scores on the other attribute less that on its own, given each other, of ranks in articles."""
        rival = OTHER[self.purpose]
        both = [np.where(np.isnan(self.plain), np.nan, self.answers.truths[p]) for p in (self.purpose, rival)]
        gap = both[0] + both[1]
        own, other, scores = (ranks(np.where(np.isnan(gap), np.nan, each)) for each in (*both, self.plain))
        # the slope on half of the difference is the difference of the slopes
        tested = slopes(scores, [(other - own) / 2, (other + own) / 2], self.answers.topics, self.level)[0]
        figure = Figure(
            measure="halo", question=f"Do the scores go with {rival} rather than {self.purpose}? (standardised slopes of ranks)",
            n=int((~np.isnan(gap)).sum()), note=f"it measures {rival} rather than {self.purpose}",
        )  # fmt: skip
        why = "" if tested.figure.value is not None else "the two do not vary apart"
        return self._tested(figure, tested, is_one_sided=True, why=why, least=0.0)

    def _rouge(self) -> Iterator[Hypothesis]:
        """Agreement within articles with each ROUGE less that with what it is to measure; the largest is shown."""
        question = f"Do the scores go with ROUGE rather than {self.purpose}? (correlations within articles)"
        truths = np.where(np.isnan(self.plain), np.nan, self.answers.truths[self.purpose])
        gaps = {}
        for other in self.baselines:
            scores = np.where(np.isnan(truths), np.nan, self.answers.scores(other))
            if other != LENGTH and not np.isnan(scores).all():
                gap = within(scores, self.plain) - within(np.where(np.isnan(scores), np.nan, truths), self.plain)
                gaps[other] = gap, mean(gap, self.answers.topics, self.level)
        most = max(gaps, key=lambda other: gaps[other][1].figure.value or -np.inf, default="")
        if not gaps:
            yield self._tested(
                Figure(measure="ROUGE", question=question), NOTHING, why="ROUGE has no scores of these summaries"
            )
        for other, (gap, tested) in gaps.items():
            note = f"its scores go with {other} rather than with {self.purpose}"
            figure = Figure(
                measure="ROUGE", reference=other, question=question, n=int((~np.isnan(gap)).sum()), note=note
            )
            why = "" if tested.figure.value is not None else f"{other} gives all summaries of an article one score"
            yield self._tested(figure, tested, is_one_sided=True, why=why, least=0.0, is_shown=other == most)

    def _agreements(self) -> Iterator[Hypothesis]:
        """Whether it agrees alike wherever it is asked."""
        answers = self.answers
        for side, inside, known in self._sides():
            yield self._agreement_of("agreement by side", side, f"of the {side}", inside, known)
        if not self._side_names:
            yield self._unknown("agreement by side", "fewer than two sides of articles are known")
        lengths = np.array([n_words(each.source) for each in answers.sets])
        is_long = lengths > np.median(lengths)
        yield self._agreement_of(
            "agreement by length", "longer sources", "of longer sources", is_long, np.full(len(lengths), True)
        )
        yield self._agreement_of_longer()
        found = by_topic(self.agreement, answers.topics, SEED)
        yield self._spread_of(
            "agreement by topic", "Does it agree alike on all topics?", found, "no three topics have two articles",
            f"it agrees with {self.purpose} far less on some topics than on others",
        )  # fmt: skip
        found = over_articles(answers.truths[self.purpose], self.plain, SEED) if self.spread else None
        low, high = self._quarters()
        yield self._spread_of(
            "agreement by article", "Does it agree alike with all articles, as one that errs everywhere as much would?", found,
            "too few articles have summaries enough",
            f"it agrees with {self.purpose} by {low:.2f} in the worst quarter of the articles, and by {high:.2f} in the others",
        )  # fmt: skip

    def _agreement_of_longer(self) -> Hypothesis:
        """Slope of scores on the truth, both in deviations within an article, among the longer summaries less the others'.

        No correlation, which is lower wherever the truth varies less.
        """
        truth, is_longer = self.answers.truths[self.purpose], np.where(self.answers.is_longer, 0.5, -0.5)
        tested = NOTHING
        if self.spread and (size := spread(truth)):
            truth = truth / size
            columns = [truth * is_longer, truth, np.where(np.isnan(truth), np.nan, is_longer)]
            tested = slopes(self.plain / self.spread, columns, self.answers.topics, self.level)[0]
        more = "more" if (tested.figure.value or 0.0) > 0 else "less"
        figure = Figure(
            measure="agreement by length", reference="longer summaries",
            question="Does it follow the truth as well in longer summaries as in others? (difference of standardised slopes)",
            n=int((~np.isnan(truth + self.plain)).sum()),
            note=f"it follows {self.purpose} {more} in the longer half of the summaries",
        )  # fmt: skip
        return self._tested(
            figure, tested, why="" if tested.figure.value is not None else "lengths and truths do not vary apart"
        )

    @cached_property
    def _side_names(self) -> list[str]:
        sides = list(dict.fromkeys(each.side for each in self.answers.sets if each.side))
        return sides if len(sides) > 1 else []

    def _sides(self) -> Iterator[tuple[str, NDArray[np.bool_], NDArray[np.bool_]]]:
        """Side, which articles are of it, and which are of any; of two sides the one alone."""
        sides = np.array([each.side or "" for each in self.answers.sets])
        names = self._side_names
        for side in names[1:] if len(names) == 2 else names:
            yield side, sides == side, sides != ""

    def _quarters(self) -> tuple[float, float]:
        """Mean agreement of the quarter of the articles that it agrees with least, and of the others; 0 where there are none."""
        known = np.sort(self.agreement[~np.isnan(self.agreement)])
        n = max(1, len(known) // 4)
        return (float(known[:n].mean()), float(known[n:].mean())) if len(known) > n else (0.0, 0.0)

    def _agreement_of(
        self, measure: str, reference: str, group: str, inside: NDArray[np.bool_], known: NDArray[np.bool_]
    ) -> Hypothesis:
        values = np.where(known, self.agreement, np.nan)
        found = by_group(values, inside, self.answers.topics, SEED)
        question = f"Does it agree as well with articles {group} as with others? (difference of correlations)"
        note = ""
        if found:
            one, two = (float(np.nanmean(values[each])) for each in (inside & known, ~inside & known))
            note = f"it agrees with {self.purpose} by {one:.2f} in articles {group}, and by {two:.2f} in others"
        figure = Figure(
            measure=measure, reference=reference, question=question, n=int((~np.isnan(values)).sum()), note=note
        )
        few = f"fewer than {LEAST_OF_GROUP} articles in one of the two groups"
        return self._tested(figure, found, why="" if found else few)

    def _spread_of(self, measure: str, question: str, found: Dealt | None, why: str, note: str) -> Hypothesis:
        n = int((~np.isnan(self.agreement)).sum())
        figure = Figure(
            measure=measure, question=f"{question} (standard deviation of correlations beyond chance)", n=n, note=note
        )
        return self._tested(figure, found, is_one_sided=True, why="" if found else why)

    def _unknown(self, measure: str, why: str) -> Hypothesis:
        return self._tested(Figure(measure=measure, question="Does it agree alike with all sides?"), NOTHING, why=why)

    def _own(self) -> Hypothesis:
        question = "Does it give its own model's summaries more than people's scores explain? (at least so much)"
        people, scores = self.answers.people, self.answers.people_scores(self.name)
        figure = Figure(measure="self", question=question)
        if people is None or scores is None:
            why = "no summaries with people's scores of which one system is the judge's own: give --human and --own"
            return self._tested(figure, NOTHING, why=why)
        found = preference(people, scores, self.purpose, self.level)
        figure = Figure(
            measure="self", question=question, n=int((~np.isnan(people.scores[self.purpose] + scores)).sum()),
            note=f"summaries by {people.own} get better scores than people's scores explain",
        )  # fmt: skip
        why = "" if found.figure.value is not None else "its scores do not clearly go with people's"
        return self._tested(figure, found, is_one_sided=True, why=why, is_of_people=True)

    def _length_slope(self) -> Hypothesis:
        """What 10 % more words go with, given both attributes."""
        columns = [self.answers.log_words / np.log(1.1), *self.answers.truths.values()]
        found = (
            slopes(self.plain / self.spread, columns, self.answers.topics, self.level)[0] if self.spread else NOTHING
        )
        figure = Figure(
            measure="words", question="What do 10 % more words go with, given coverage and faithfulness?", verdict="told",
            n=int((~np.isnan(self.plain)).sum()),
        )  # fmt: skip
        return Hypothesis(_with_value(figure, found.figure))

    def _side_residual(self) -> Hypothesis:
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
        figure = Figure(
            measure="side observed", question=question, n=len(both), verdict="not tried" if why else "told", note=why
        )
        return Hypothesis(_with_value(figure, found.figure))

    def _left(self) -> Floats:
        """Mean of each article's scores less what its truths explain, (articles,)."""
        truths = list(self.answers.truths.values())
        found = [each.figure.value or 0.0 for each in slopes(self.plain, truths, self.answers.topics, self.level)]
        left = self.plain - sum(slope * truth for slope, truth in zip(found, truths, strict=True))
        n = (~np.isnan(left)).sum(axis=1)
        return np.where(n > 0, np.nansum(left, axis=1) / np.maximum(n, 1), np.nan)

    def _tested(  # noqa: PLR0913 (of a probe that gives a verdict)
        self,
        figure: Figure,
        test: Quantity | Dealt | None,
        *,
        is_one_sided: bool = False,
        why: str = "",
        least: float = LEAST_EFFECT,
        is_of_people: bool = False,
        is_shown: bool = True,
    ) -> Hypothesis:
        """A probe that gives a verdict, or the reason why it cannot; arguments as the fields of `Hypothesis`."""
        p = None if test is None else test.p if isinstance(test, Dealt) else test.figure.p
        if not self.has_scores:
            why = NO_SCORE
        elif self.is_constant:
            why = CONSTANT
        elif not why and (p is None or len(set(self.answers.topics)) < LEAST_SETS):
            why = FEW
        if isinstance(test, Dealt):
            figure = figure.model_copy(update={"value": test.value})
        elif test is not None:
            figure = _with_value(figure, test.figure)
        change = {"note": why, "verdict": "not tried"} if why else {"p": p, "verdict": "not accused"}
        return Hypothesis(
            figure.model_copy(update=change), None if why else test, is_of_people, is_one_sided, least, is_shown
        )


def _with_value(figure: Figure, of: Figure) -> Figure:
    return figure.model_copy(update={"value": of.value, "low": of.low, "high": of.high, "n_sets": of.n_sets})
