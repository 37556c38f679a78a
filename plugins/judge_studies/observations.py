"""What leads a judge astray, by what its scores of the summaries as they are go with, and whether it agrees alike everywhere."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ...evaluation.lengths import LONGER
from ...judges.calibration import LENGTH
from ...resampling import Floats
from ...text import n_words
from .agreement import within
from .differences import LEAST_OF_GROUP, Dealt, by_group, by_topic, over_articles
from .figures import NOTHING, mean, ranks, slopes, spread
from .hypotheses import Hypothesis, OneJudge, probe_of
from .preference import preference
from .study import OTHER

# of the deals
SEED = 0
# of a probe that rests on nothing
NONE = np.empty(0)


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
    both = [np.where(np.isnan(one.plain), np.nan, one.study.truths[p]) for p in (one.purpose, rival)]
    gap = both[0] + both[1]
    own, other, scores = (ranks(np.where(np.isnan(gap), np.nan, each)) for each in (*both, one.plain))
    # the slope on half of the difference is the difference of the slopes
    tested = slopes(scores, [(other - own) / 2, (other + own) / 2], one.study.topics)[0]
    return one.probe(
        "halo", f"Do the scores go with {rival} rather than {one.purpose}? (standardised slopes of ranks)", tested, gap,
        f"it measures {rival} rather than {one.purpose}", otherwise="the two do not vary apart", is_one_sided=True, least=0.0,
    )  # fmt: skip


def _rouge(one: OneJudge) -> Iterator[Hypothesis]:
    """Agreement within articles with each ROUGE less that with what it is to measure; the largest is shown."""
    question = f"Do the scores go with ROUGE rather than {one.purpose}? (correlations within articles)"
    truths = np.where(np.isnan(one.plain), np.nan, one.study.truths[one.purpose])
    gaps = {}
    for other in one.baselines:
        scores = np.where(np.isnan(truths), np.nan, one.study.scores(other))
        if other != LENGTH and not np.isnan(scores).all():
            gap = within(scores, one.plain) - within(np.where(np.isnan(scores), np.nan, truths), one.plain)
            gaps[other] = gap, mean(gap, one.study.topics)
    most = max(gaps, key=lambda other: gaps[other][1].number.value or -np.inf, default="")
    if not gaps:
        yield one.probe("ROUGE", question, NOTHING, NONE, otherwise="ROUGE has no scores of these summaries")
    for other, (gap, tested) in gaps.items():
        yield one.probe(
            "ROUGE", question, tested, gap, f"its scores go with {other} rather than with {one.purpose}", reference=other,
            otherwise=f"{other} gives all summaries of an article one score", is_one_sided=True, least=0.0,
            is_shown=other == most,
        )  # fmt: skip


def _agreements(one: OneJudge) -> Iterator[Hypothesis]:
    """Whether it agrees alike wherever it is asked."""
    study = one.study
    sides = np.array([each.side or "" for each in study.sets])
    names = list(dict.fromkeys(sides[sides != ""].tolist()))
    # of two sides the one alone
    for side in names[1:] if len(names) == 2 else names if len(names) > 2 else ():
        yield _agreement_of(one, "agreement by side", side, f"of the {side}", sides == side, sides != "")
    if len(names) < 2:
        why = "fewer than two sides of articles are known"
        yield one.probe("agreement by side", "Does it agree alike with all sides?", NOTHING, NONE, why=why)
    lengths = np.array([n_words(each.source) for each in study.sets])
    of_longer = "agreement by length", "longer sources", "of longer sources"
    yield _agreement_of(one, *of_longer, lengths > np.median(lengths), np.full(len(lengths), True))
    yield _agreement_of_longer(one)
    yield _spread_of(
        one, "agreement by topic", "Does it agree alike on all topics?", by_topic(one.agreement, study.topics, SEED),
        "no three topics have two articles", f"it agrees with {one.purpose} far less on some topics than on others",
    )  # fmt: skip
    found = over_articles(study.truths[one.purpose], one.plain, SEED) if one.spread else None
    low, high = _quarters(one)
    yield _spread_of(
        one, "agreement by article", "Does it agree alike with all articles, as one that errs everywhere as much would?", found,
        "too few articles have summaries enough",
        f"it agrees with {one.purpose} by {low:.2f} in the worst quarter of the articles, and by {high:.2f} in the others",
    )  # fmt: skip


def _agreement_of_longer(one: OneJudge) -> Hypothesis:
    """Slope of scores on the truth, both in deviations within an article, among the longer summaries less the others'.

    No correlation, which is lower wherever the truth varies less.
    """
    truth, is_longer = one.study.truths[one.purpose], np.where(one.study.is_longer, 0.5, -0.5)
    tested = NOTHING
    if one.spread and (size := spread(truth)):
        truth = truth / size
        columns = [truth * is_longer, truth, np.where(np.isnan(truth), np.nan, is_longer)]
        tested = slopes(one.plain / one.spread, columns, one.study.topics)[0]
    more, less = (f"it follows {one.purpose} {each} in the longer half of the summaries" for each in ("more", "less"))
    return one.probe(
        "agreement by length",
        "Does it follow the truth as well in longer summaries as in others? (difference of standardised slopes)", tested,
        truth + one.plain, (more, less), reference="longer summaries", otherwise="lengths and truths do not vary apart",
    )  # fmt: skip


def _quarters(one: OneJudge) -> tuple[float, float]:
    """Mean agreement of the quarter of the articles that it agrees with least, and of the others; 0 where there are none."""
    known = np.sort(one.agreement[~np.isnan(one.agreement)])
    n = max(1, len(known) // 4)
    return (float(known[:n].mean()), float(known[n:].mean())) if len(known) > n else (0.0, 0.0)


def _agreement_of(
    one: OneJudge, measure: str, reference: str, group: str, inside: NDArray[np.bool_], known: NDArray[np.bool_]
) -> Hypothesis:
    values = np.where(known, one.agreement, np.nan)
    found, note = by_group(values, inside, one.study.topics, SEED), ""
    if found:
        inner, outer = (float(np.nanmean(values[each])) for each in (inside & known, ~inside & known))
        note = f"it agrees with {one.purpose} by {inner:.2f} in articles {group}, and by {outer:.2f} in others"
    return one.probe(
        measure, f"Does it agree as well with articles {group} as with others? (difference of correlations)", found, values,
        note, reference=reference, otherwise=f"fewer than {LEAST_OF_GROUP} articles in one of the two groups",
    )  # fmt: skip


def _spread_of(one: OneJudge, measure: str, question: str, found: Dealt | None, few: str, note: str) -> Hypothesis:
    question = f"{question} (standard deviation of correlations beyond chance)"
    return one.probe(measure, question, found, one.agreement, note, otherwise=few, is_one_sided=True)


def _own(one: OneJudge) -> Hypothesis:
    question = "Does it give its own model's summaries more than people's scores explain? (at least so much)"
    people, scores = one.study.people, one.study.people_scores(one.name)
    if people is None or scores is None:
        why = "no summaries with people's scores of which one system is the judge's own: give --human and --own"
        return one.probe("self", question, NOTHING, NONE, why=why)
    return one.probe(
        "self", question, preference(people, scores, one.purpose), people.scores[one.purpose] + scores,
        f"summaries by {people.own} get better scores than people's scores explain",
        otherwise="its scores do not clearly go with people's", is_one_sided=True, is_of_people=True,
    )  # fmt: skip


def _length_slope(one: OneJudge) -> Hypothesis:
    """What 10 % more words go with, given both attributes."""
    columns = [one.study.log_words / np.log(LONGER), *one.study.truths.values()]
    found = slopes(one.plain / one.spread, columns, one.study.topics)[0] if one.spread else NOTHING
    question = "What do 10 % more words go with, given coverage and faithfulness?"
    return Hypothesis(probe_of(found.number, "words", question, one.plain).model_copy(update={"verdict": "told"}))


def _side_residual(one: OneJudge) -> Hypothesis:
    """What the scores do not owe to the truths, of one side less the other, in topics that have both."""
    first, second = one.study.tellers
    sides = np.array([(each.side or "").casefold() for each in one.study.sets])
    left, topics = _left(one), np.array(one.study.topics)
    gaps = {}
    for topic in dict.fromkeys(one.study.topics):
        higher, lower = (
            left[(topics == topic) & (sides == each.casefold()) & ~np.isnan(left)] for each in (first, second)
        )
        if len(higher) and len(lower):
            gaps[topic] = higher.mean() - lower.mean()
    found, why = NOTHING, f"no topic is known to have both {first} and {second}"
    if gaps and one.spread:
        found, why = mean(np.array([*gaps.values()]) / one.spread, list(gaps)), ""
    question = f"Are scores of the {first} higher than of the {second} in topics that have both, given the truths?"
    probe = probe_of(found.number, "side observed", question, np.array([*gaps.values()]), note=why)
    return Hypothesis(probe.model_copy(update={"verdict": "not tried" if why else "told"}))


def _left(one: OneJudge) -> Floats:
    """Mean of each article's scores less what its truths explain, (articles,)."""
    truths = list(one.study.truths.values())
    found = [each.number.value or 0.0 for each in slopes(one.plain, truths, one.study.topics)]
    left = one.plain - sum(slope * truth for slope, truth in zip(found, truths, strict=True))
    n = (~np.isnan(left)).sum(axis=1)
    return np.where(n > 0, np.nansum(left, axis=1) / np.maximum(n, 1), np.nan)
