"""What leads a judge astray, by what its scores of the summaries as they are go with, and whether it agrees alike everywhere."""

from collections import defaultdict
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ....judges.calibration import LENGTH, Probe
from ....text import n_words
from .accusations import Hypothesis
from .answers import OTHER
from .differences import LEAST_OF_GROUP, Dealt, by_group, by_topic, over_articles
from .figures import NOTHING, Floats, mean, ranks, slopes, spread, within
from .one_judge import OneJudge, with_value
from .preference import preference

# of the deals
SEED = 0


def observations(one: OneJudge) -> Iterator[Hypothesis]:
    """The probes that look at what is there, in the order of the page."""
    yield _halo(one)
    yield from _rouge(one)
    yield from _agreements(one)
    yield _own(one)
    yield _length_slope(one)
    yield _side_residual(one)


def _halo(one: OneJudge) -> Hypothesis:
    """Standardised slope of scores on the other attribute less that on its own, given each other, of ranks in articles."""
    rival = OTHER[one.purpose]
    both = [np.where(np.isnan(one.plain), np.nan, one.answers.truths[p]) for p in (one.purpose, rival)]
    gap = both[0] + both[1]
    own, other, scores = (ranks(np.where(np.isnan(gap), np.nan, each)) for each in (*both, one.plain))
    # the slope on half of the difference is the difference of the slopes
    tested = slopes(scores, [(other - own) / 2, (other + own) / 2], one.answers.topics, one.level)[0]
    probe = Probe(
        measure="halo", question=f"Do the scores go with {rival} rather than {one.purpose}? (standardised slopes of ranks)",
        n=int((~np.isnan(gap)).sum()), note=f"it measures {rival} rather than {one.purpose}",
    )  # fmt: skip
    why = "" if tested.number.value is not None else "the two do not vary apart"
    return one.tested(probe, tested, is_one_sided=True, why=why, least=0.0)


def _rouge(one: OneJudge) -> Iterator[Hypothesis]:
    """Agreement within articles with each ROUGE less that with what it is to measure; the largest is shown."""
    question = f"Do the scores go with ROUGE rather than {one.purpose}? (correlations within articles)"
    truths = np.where(np.isnan(one.plain), np.nan, one.answers.truths[one.purpose])
    gaps = {}
    for other in one.baselines:
        scores = np.where(np.isnan(truths), np.nan, one.answers.scores(other))
        if other != LENGTH and not np.isnan(scores).all():
            gap = within(scores, one.plain) - within(np.where(np.isnan(scores), np.nan, truths), one.plain)
            gaps[other] = gap, mean(gap, one.answers.topics, one.level)
    most = max(gaps, key=lambda other: gaps[other][1].number.value or -np.inf, default="")
    if not gaps:
        yield one.tested(
            Probe(measure="ROUGE", question=question), NOTHING, why="ROUGE has no scores of these summaries"
        )
    for other, (gap, tested) in gaps.items():
        note = f"its scores go with {other} rather than with {one.purpose}"
        probe = Probe(measure="ROUGE", reference=other, question=question, n=int((~np.isnan(gap)).sum()), note=note)
        why = "" if tested.number.value is not None else f"{other} gives all summaries of an article one score"
        yield one.tested(probe, tested, is_one_sided=True, why=why, least=0.0, is_shown=other == most)


def _agreements(one: OneJudge) -> Iterator[Hypothesis]:
    """Whether it agrees alike wherever it is asked."""
    answers = one.answers
    for side, inside, known in _sides(one):
        yield _agreement_of(one, "agreement by side", side, f"of the {side}", inside, known)
    if not _side_names(one):
        yield _unknown(one, "agreement by side", "fewer than two sides of articles are known")
    lengths = np.array([n_words(each.source) for each in answers.sets])
    is_long = lengths > np.median(lengths)
    yield _agreement_of(
        one, "agreement by length", "longer sources", "of longer sources", is_long, np.full(len(lengths), True)
    )
    yield _agreement_of_longer(one)
    found = by_topic(one.agreement, answers.topics, SEED)
    yield _spread_of(
        one,
        "agreement by topic", "Does it agree alike on all topics?", found, "no three topics have two articles",
        f"it agrees with {one.purpose} far less on some topics than on others",
    )  # fmt: skip
    found = over_articles(answers.truths[one.purpose], one.plain, SEED) if one.spread else None
    low, high = _quarters(one)
    yield _spread_of(
        one,
        "agreement by article", "Does it agree alike with all articles, as one that errs everywhere as much would?", found,
        "too few articles have summaries enough",
        f"it agrees with {one.purpose} by {low:.2f} in the worst quarter of the articles, and by {high:.2f} in the others",
    )  # fmt: skip


def _agreement_of_longer(one: OneJudge) -> Hypothesis:
    """Slope of scores on the truth, both in deviations within an article, among the longer summaries less the others'.

    No correlation, which is lower wherever the truth varies less.
    """
    truth, is_longer = one.answers.truths[one.purpose], np.where(one.answers.is_longer, 0.5, -0.5)
    tested = NOTHING
    if one.spread and (size := spread(truth)):
        truth = truth / size
        columns = [truth * is_longer, truth, np.where(np.isnan(truth), np.nan, is_longer)]
        tested = slopes(one.plain / one.spread, columns, one.answers.topics, one.level)[0]
    more = "more" if (tested.number.value or 0.0) > 0 else "less"
    probe = Probe(
        measure="agreement by length", reference="longer summaries",
        question="Does it follow the truth as well in longer summaries as in others? (difference of standardised slopes)",
        n=int((~np.isnan(truth + one.plain)).sum()),
        note=f"it follows {one.purpose} {more} in the longer half of the summaries",
    )  # fmt: skip
    return one.tested(
        probe, tested, why="" if tested.number.value is not None else "lengths and truths do not vary apart"
    )


def _side_names(one: OneJudge) -> list[str]:
    sides = list(dict.fromkeys(each.side for each in one.answers.sets if each.side))
    return sides if len(sides) > 1 else []


def _sides(one: OneJudge) -> Iterator[tuple[str, NDArray[np.bool_], NDArray[np.bool_]]]:
    """Side, which articles are of it, and which are of any; of two sides the one alone."""
    sides = np.array([each.side or "" for each in one.answers.sets])
    names = _side_names(one)
    for side in names[1:] if len(names) == 2 else names:
        yield side, sides == side, sides != ""


def _quarters(one: OneJudge) -> tuple[float, float]:
    """Mean agreement of the quarter of the articles that it agrees with least, and of the others; 0 where there are none."""
    known = np.sort(one.agreement[~np.isnan(one.agreement)])
    n = max(1, len(known) // 4)
    return (float(known[:n].mean()), float(known[n:].mean())) if len(known) > n else (0.0, 0.0)


def _agreement_of(
    one: OneJudge, measure: str, reference: str, group: str, inside: NDArray[np.bool_], known: NDArray[np.bool_]
) -> Hypothesis:
    values = np.where(known, one.agreement, np.nan)
    found = by_group(values, inside, one.answers.topics, SEED)
    question = f"Does it agree as well with articles {group} as with others? (difference of correlations)"
    note = ""
    if found:
        inner, outer = (float(np.nanmean(values[each])) for each in (inside & known, ~inside & known))
        note = f"it agrees with {one.purpose} by {inner:.2f} in articles {group}, and by {outer:.2f} in others"
    probe = Probe(measure=measure, reference=reference, question=question, n=int((~np.isnan(values)).sum()), note=note)
    few = f"fewer than {LEAST_OF_GROUP} articles in one of the two groups"
    return one.tested(probe, found, why="" if found else few)


def _spread_of(one: OneJudge, measure: str, question: str, found: Dealt | None, why: str, note: str) -> Hypothesis:
    n = int((~np.isnan(one.agreement)).sum())
    probe = Probe(
        measure=measure, question=f"{question} (standard deviation of correlations beyond chance)", n=n, note=note
    )
    return one.tested(probe, found, is_one_sided=True, why="" if found else why)


def _unknown(one: OneJudge, measure: str, why: str) -> Hypothesis:
    return one.tested(Probe(measure=measure, question="Does it agree alike with all sides?"), NOTHING, why=why)


def _own(one: OneJudge) -> Hypothesis:
    question = "Does it give its own model's summaries more than people's scores explain? (at least so much)"
    people, scores = one.answers.people, one.answers.people_scores(one.name)
    probe = Probe(measure="self", question=question)
    if people is None or scores is None:
        why = "no summaries with people's scores of which one system is the judge's own: give --human and --own"
        return one.tested(probe, NOTHING, why=why)
    found = preference(people, scores, one.purpose, one.level)
    probe = Probe(
        measure="self", question=question, n=int((~np.isnan(people.scores[one.purpose] + scores)).sum()),
        note=f"summaries by {people.own} get better scores than people's scores explain",
    )  # fmt: skip
    why = "" if found.number.value is not None else "its scores do not clearly go with people's"
    return one.tested(probe, found, is_one_sided=True, why=why, is_of_people=True)


def _length_slope(one: OneJudge) -> Hypothesis:
    """What 10 % more words go with, given both attributes."""
    columns = [one.answers.log_words / np.log(1.1), *one.answers.truths.values()]
    found = slopes(one.plain / one.spread, columns, one.answers.topics, one.level)[0] if one.spread else NOTHING
    probe = Probe(
        measure="words", question="What do 10 % more words go with, given coverage and faithfulness?", verdict="told",
        n=int((~np.isnan(one.plain)).sum()),
    )  # fmt: skip
    return Hypothesis(with_value(probe, found.number))


def _side_residual(one: OneJudge) -> Hypothesis:
    """What the scores do not owe to the truths, of one side less the other, in topics that have both."""
    first, second = one.answers.tellers
    question = f"Are scores of the {first} higher than of the {second} in topics that have both, given the truths?"
    sides = [(each.side or "").casefold() for each in one.answers.sets]
    found, why = NOTHING, f"no topic is known to have both {first} and {second}"
    topics: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for side, topic, left in zip(sides, one.answers.topics, _left(one), strict=True):
        if not np.isnan(left):
            topics[topic][side].append(left)
    both = {t: mine for t, mine in topics.items() if {first.casefold(), second.casefold()} <= mine.keys()}
    if both and one.spread:
        higher, lower = ([np.mean(mine[each.casefold()]) for mine in both.values()] for each in (first, second))
        found, why = mean((np.array(higher) - np.array(lower)) / one.spread, list(both), one.level), ""
    probe = Probe(
        measure="side observed", question=question, n=len(both), verdict="not tried" if why else "told", note=why
    )
    return Hypothesis(with_value(probe, found.number))


def _left(one: OneJudge) -> Floats:
    """Mean of each article's scores less what its truths explain, (articles,)."""
    truths = list(one.answers.truths.values())
    found = [each.number.value or 0.0 for each in slopes(one.plain, truths, one.answers.topics, one.level)]
    left = one.plain - sum(slope * truth for slope, truth in zip(found, truths, strict=True))
    n = (~np.isnan(left)).sum(axis=1)
    return np.where(n > 0, np.nansum(left, axis=1) / np.maximum(n, 1), np.nan)
