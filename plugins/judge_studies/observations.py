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


def observations(judge: OneJudge) -> Iterator[Hypothesis]:
    """The probes that look at what is there, in the order of the page."""
    yield _halo(judge)
    yield from _rouge(judge)
    yield from _by_side(judge)
    lengths = np.array([n_words(article.source) for article in judge.study.sets])
    yield _of_group(
        judge, "agreement by length", "longer sources", "of longer sources", lengths > np.median(lengths), lengths >= 0
    )
    yield _of_longer(judge)
    yield judge.probe(
        "agreement by topic", f"Does it agree alike on all topics? {OF_CORRELATIONS}",
        by_topic(judge.agreement, judge.study.topics, SEED), judge.agreement,
        f"it agrees with {judge.purpose} far less on some topics than on others", is_one_sided=True,
        otherwise="no three topics have two articles",
    )  # fmt: skip
    yield _by_article(judge)
    yield _own(judge)
    yield _length_slope(judge)
    yield _side_residual(judge)


def _halo(judge: OneJudge) -> Hypothesis:
    """Standardised slope of scores on the other attribute less that on its own, given each other, of ranks in articles."""
    rival = OTHER[judge.purpose]
    truths = [np.where(np.isnan(judge.plain), np.nan, judge.study.truths[p]) for p in (judge.purpose, rival)]
    gap = truths[0] + truths[1]
    own_ranks, rival_ranks, scores = (
        ranks(np.where(np.isnan(gap), np.nan, values)) for values in (*truths, judge.plain)
    )
    # the slope on half of the difference is the difference of the slopes
    tested = slopes(scores, [(rival_ranks - own_ranks) / 2, (rival_ranks + own_ranks) / 2], judge.study.topics)[0]
    return judge.probe(
        "halo", f"Do the scores go with {rival} rather than {judge.purpose}? (standardised slopes of ranks)", tested, gap,
        f"it measures {rival} rather than {judge.purpose}", otherwise="the two do not vary apart", is_one_sided=True,
        least_effect=0.0,
    )  # fmt: skip


def _rouge(judge: OneJudge) -> Iterator[Hypothesis]:
    """Agreement within articles with each ROUGE less that with what it is to measure; the largest is shown."""
    question = f"Do the scores go with ROUGE rather than {judge.purpose}? (correlations within articles)"
    truths = np.where(np.isnan(judge.plain), np.nan, judge.study.truths[judge.purpose])
    gaps = {}
    for baseline in judge.baselines:
        scores = np.where(np.isnan(truths), np.nan, judge.study.scores(baseline))
        if baseline != LENGTH and not np.isnan(scores).all():
            gap = within(scores, judge.plain) - within(np.where(np.isnan(scores), np.nan, truths), judge.plain)
            gaps[baseline] = gap, mean(gap, judge.study.topics)
    largest = max(gaps, key=lambda name: gaps[name][1].number.value or -np.inf, default="")
    if not gaps:
        yield judge.probe("ROUGE", question, otherwise="ROUGE has no scores of these summaries")
    for baseline, (gap, tested) in gaps.items():
        yield judge.probe(
            "ROUGE", question, tested, gap, f"its scores go with {baseline} rather than with {judge.purpose}", reference=baseline,
            otherwise=f"{baseline} gives all summaries of an article one score", is_one_sided=True, least_effect=0.0,
            is_shown=baseline == largest,
        )  # fmt: skip


def _by_side(judge: OneJudge) -> Iterator[Hypothesis]:
    measure, sides = "agreement by side", np.array([article.side or "" for article in judge.study.sets])
    names = list(dict.fromkeys(sides[sides != ""].tolist()))
    if len(names) < 2:
        yield judge.probe(
            measure, "Does it agree alike with all sides?", otherwise="fewer than two sides of articles are known"
        )
    # of two sides the one alone
    for side in names if len(names) > 2 else names[1:]:
        yield _of_group(judge, measure, side, f"of the {side}", sides == side, sides != "")


def _of_group(
    judge: OneJudge, measure: str, reference: str, group: str, inside: NDArray[np.bool_], is_known: NDArray[np.bool_]
) -> Hypothesis:
    """The judge's agreement in articles of a group less that in others of which is known whether they are of it."""
    values = np.where(is_known, judge.agreement, np.nan)
    tested, note = by_group(values, inside, judge.study.topics, SEED), ""
    if tested is not NOTHING:
        inner, outer = (float(np.nanmean(values[rows])) for rows in (inside & is_known, ~inside & is_known))
        note = f"it agrees with {judge.purpose} by {inner:.2f} in articles {group}, and by {outer:.2f} in others"
    return judge.probe(
        measure, f"Does it agree as well with articles {group} as with others? (difference of correlations)", tested, values,
        note, reference=reference, otherwise=f"fewer than {LEAST_OF_GROUP} articles in one of the two groups",
    )  # fmt: skip


def _of_longer(judge: OneJudge) -> Hypothesis:
    """Slope of scores on the truth, both in deviations within an article, among the longer summaries less the others'.

    No correlation, which is lower wherever the truth varies less.
    """
    truth, is_longer = judge.study.truths[judge.purpose], np.where(judge.study.is_longer, 0.5, -0.5)
    tested = NOTHING
    if judge.spread and (size := spread(truth)):
        truth = truth / size
        columns = [truth * is_longer, truth, np.where(np.isnan(truth), np.nan, is_longer)]
        tested = slopes(judge.plain / judge.spread, columns, judge.study.topics)[0]
    more_note, less_note = (
        f"it follows {judge.purpose} {degree} in the longer half of the summaries" for degree in ("more", "less")
    )
    return judge.probe(
        "agreement by length",
        "Does it follow the truth as well in longer summaries as in others? (difference of standardised slopes)", tested,
        truth + judge.plain, (more_note, less_note), reference="longer summaries",
        otherwise="lengths and truths do not vary apart",
    )  # fmt: skip


def _by_article(judge: OneJudge) -> Hypothesis:
    """Probe: whether the judge agrees with some articles less than errors that are alike everywhere explain."""
    correlations = np.sort(judge.agreement[~np.isnan(judge.agreement)])
    n = max(1, len(correlations) // 4)
    low, high = (correlations[:n].mean(), correlations[n:].mean()) if len(correlations) > n else (0.0, 0.0)
    return judge.probe(
        "agreement by article",
        f"Does it agree alike with all articles, as one that errs everywhere as much would? {OF_CORRELATIONS}",
        over_articles(judge.study.truths[judge.purpose], judge.plain, SEED) if judge.spread else NOTHING, judge.agreement,
        f"it agrees with {judge.purpose} by {low:.2f} in the worst quarter of the articles, and by {high:.2f} in the others",
        is_one_sided=True, otherwise="too few articles have summaries enough",
    )  # fmt: skip


def _own(judge: OneJudge) -> Hypothesis:
    question = "Does it give its own model's summaries more than people's scores explain? (at least so much)"
    people, scores = judge.study.people, judge.study.people_scores(judge.name)
    if people is None or scores is None:
        reason = "no summaries with people's scores of which one system is the judge's own: give --human and --own"
        return judge.probe("self", question, otherwise=reason)
    return judge.probe(
        "self", question, preference(people, scores, judge.purpose), people.scores[judge.purpose] + scores,
        f"summaries by {people.own} get better scores than people's scores explain",
        otherwise="its scores do not clearly go with people's", is_one_sided=True,
    )  # fmt: skip


def _length_slope(judge: OneJudge) -> Hypothesis:
    """Probe: by how much scores rise with 10 % more words, given both attributes."""
    columns = [judge.study.log_words / np.log(LONGER), *judge.study.known_truths]
    tested = slopes(judge.plain / judge.spread, columns, judge.study.topics)[0] if judge.spread else NOTHING
    return judge.told("words", "What do 10 % more words go with, given coverage and faithfulness?", tested, judge.plain)


def _side_residual(judge: OneJudge) -> Hypothesis:
    """Probe: what the scores do not owe to the truths, of one side less the other, in topics that have both."""
    first, second = judge.study.exchanges.tellers
    sides = np.array([(article.side or "").casefold() for article in judge.study.sets])
    residuals, topics = _residuals(judge), np.array(judge.study.topics)
    gaps = {}
    for topic in dict.fromkeys(judge.study.topics):
        higher, lower = (
            residuals[(topics == topic) & (sides == side.casefold()) & ~np.isnan(residuals)] for side in (first, second)
        )
        if len(higher) and len(lower):
            gaps[topic] = higher.mean() - lower.mean()
    values, is_known = np.array([*gaps.values()]), bool(gaps and judge.spread)
    return judge.told(
        "side observed",
        f"Are scores of the {first} higher than of the {second} in topics that have both, given the truths?",
        mean(values / judge.spread, list(gaps)) if is_known else NOTHING, values,
        "" if is_known else f"no topic is known to have both {first} and {second}",
    )  # fmt: skip


def _residuals(judge: OneJudge) -> Floats:
    """Mean of each article's scores less what its truths explain, (articles,)."""
    truths = judge.study.known_truths
    explained = [slope.number.value or 0.0 for slope in slopes(judge.plain, truths, judge.study.topics)]
    residuals = judge.plain - sum(slope * truth for slope, truth in zip(explained, truths, strict=True))
    n = (~np.isnan(residuals)).sum(axis=1)
    return np.where(n > 0, np.nansum(residuals, axis=1) / np.maximum(n, 1), np.nan)
