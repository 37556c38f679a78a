"""What leads a judge astray, by what its scores of the summaries as they are go with, and whether it agrees alike everywhere."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ...evaluation.lengths import LONGER
from ...judges.calibration import LENGTH
from ...resampling import Floats
from ...text import n_words
from .agreement import within
from .differences import LEAST_OF_GROUP, by_group, by_topic, over_articles
from .figures import NOTHING, mean, ranks, slopes, spread
from .hypotheses import Hypothesis, OneJudge
from .preference import preference
from .study import OTHER

# of the deals
SEED = 0
OF_CORRELATIONS = "(standard deviation of correlations beyond chance)"


def observations(one: OneJudge) -> Iterator[Hypothesis]:
    """The probes that look at what is there, in the order of the page."""
    yield _halo(one)
    yield from _rouge(one)
    yield from _by_side(one)
    lengths = np.array([n_words(each.source) for each in one.study.sets])
    yield _of_group(
        one, "agreement by length", "longer sources", "of longer sources", lengths > np.median(lengths), lengths >= 0
    )
    yield _of_longer(one)
    yield one.probe(
        "agreement by topic", f"Does it agree alike on all topics? {OF_CORRELATIONS}",
        by_topic(one.agreement, one.study.topics, SEED), one.agreement,
        f"it agrees with {one.purpose} far less on some topics than on others", is_one_sided=True,
        otherwise="no three topics have two articles",
    )  # fmt: skip
    yield _by_article(one)
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
        yield one.probe("ROUGE", question, otherwise="ROUGE has no scores of these summaries")
    for other, (gap, tested) in gaps.items():
        yield one.probe(
            "ROUGE", question, tested, gap, f"its scores go with {other} rather than with {one.purpose}", reference=other,
            otherwise=f"{other} gives all summaries of an article one score", is_one_sided=True, least=0.0,
            is_shown=other == most,
        )  # fmt: skip


def _by_side(one: OneJudge) -> Iterator[Hypothesis]:
    measure, sides = "agreement by side", np.array([each.side or "" for each in one.study.sets])
    names = list(dict.fromkeys(sides[sides != ""].tolist()))
    if len(names) < 2:
        yield one.probe(
            measure, "Does it agree alike with all sides?", otherwise="fewer than two sides of articles are known"
        )
    # of two sides the one alone
    for side in names if len(names) > 2 else names[1:]:
        yield _of_group(one, measure, side, f"of the {side}", sides == side, sides != "")


def _of_group(
    one: OneJudge, measure: str, reference: str, group: str, inside: NDArray[np.bool_], known: NDArray[np.bool_]
) -> Hypothesis:
    """Its agreement in articles of a group less that in others of which is known whether they are of it."""
    values = np.where(known, one.agreement, np.nan)
    tested, note = by_group(values, inside, one.study.topics, SEED), ""
    if tested is not NOTHING:
        inner, outer = (float(np.nanmean(values[each])) for each in (inside & known, ~inside & known))
        note = f"it agrees with {one.purpose} by {inner:.2f} in articles {group}, and by {outer:.2f} in others"
    return one.probe(
        measure, f"Does it agree as well with articles {group} as with others? (difference of correlations)", tested, values,
        note, reference=reference, otherwise=f"fewer than {LEAST_OF_GROUP} articles in one of the two groups",
    )  # fmt: skip


def _of_longer(one: OneJudge) -> Hypothesis:
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


def _by_article(one: OneJudge) -> Hypothesis:
    """Whether it agrees with some articles less than errors that are alike everywhere explain."""
    known = np.sort(one.agreement[~np.isnan(one.agreement)])
    n = max(1, len(known) // 4)
    low, high = (known[:n].mean(), known[n:].mean()) if len(known) > n else (0.0, 0.0)
    return one.probe(
        "agreement by article",
        f"Does it agree alike with all articles, as one that errs everywhere as much would? {OF_CORRELATIONS}",
        over_articles(one.study.truths[one.purpose], one.plain, SEED) if one.spread else NOTHING, one.agreement,
        f"it agrees with {one.purpose} by {low:.2f} in the worst quarter of the articles, and by {high:.2f} in the others",
        is_one_sided=True, otherwise="too few articles have summaries enough",
    )  # fmt: skip


def _own(one: OneJudge) -> Hypothesis:
    question = "Does it give its own model's summaries more than people's scores explain? (at least so much)"
    people, scores = one.study.people, one.study.people_scores(one.name)
    if people is None or scores is None:
        why = "no summaries with people's scores of which one system is the judge's own: give --human and --own"
        return one.probe("self", question, otherwise=why)
    return one.probe(
        "self", question, preference(people, scores, one.purpose), people.scores[one.purpose] + scores,
        f"summaries by {people.own} get better scores than people's scores explain",
        otherwise="its scores do not clearly go with people's", is_one_sided=True,
    )  # fmt: skip


def _length_slope(one: OneJudge) -> Hypothesis:
    """What 10 % more words go with, given both attributes."""
    columns = [one.study.log_words / np.log(LONGER), *one.study.truths.values()]
    tested = slopes(one.plain / one.spread, columns, one.study.topics)[0] if one.spread else NOTHING
    return one.told("words", "What do 10 % more words go with, given coverage and faithfulness?", tested, one.plain)


def _side_residual(one: OneJudge) -> Hypothesis:
    """What the scores do not owe to the truths, of one side less the other, in topics that have both."""
    first, second = one.study.exchanges.tellers
    sides = np.array([(each.side or "").casefold() for each in one.study.sets])
    left, topics = _left(one), np.array(one.study.topics)
    gaps = {}
    for topic in dict.fromkeys(one.study.topics):
        higher, lower = (
            left[(topics == topic) & (sides == each.casefold()) & ~np.isnan(left)] for each in (first, second)
        )
        if len(higher) and len(lower):
            gaps[topic] = higher.mean() - lower.mean()
    values, is_known = np.array([*gaps.values()]), bool(gaps and one.spread)
    return one.told(
        "side observed",
        f"Are scores of the {first} higher than of the {second} in topics that have both, given the truths?",
        mean(values / one.spread, list(gaps)) if is_known else NOTHING, values,
        "" if is_known else f"no topic is known to have both {first} and {second}",
    )  # fmt: skip


def _left(one: OneJudge) -> Floats:
    """Mean of each article's scores less what its truths explain, (articles,)."""
    truths = list(one.study.truths.values())
    explained = [each.number.value or 0.0 for each in slopes(one.plain, truths, one.study.topics)]
    left = one.plain - sum(slope * truth for slope, truth in zip(explained, truths, strict=True))
    n = (~np.isnan(left)).sum(axis=1)
    return np.where(n > 0, np.nansum(left, axis=1) / np.maximum(n, 1), np.nan)
