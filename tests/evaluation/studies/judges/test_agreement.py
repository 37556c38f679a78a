"""Agreement of scores with known values."""

from itertools import zip_longest
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.corpora.controlled import read_controlled
from evenhand.judges.rouge import rouge
from evenhand.plugins.judge_studies.agreement import correlations, winrates, within

NAMES = ("pooled", "within", "winrate_within", "winrate_pooled")


def table(rows):
    """A row an article, nan for None and where it has fewer values than another."""
    return np.array([*zip_longest(*rows)], dtype=float).T.reshape(len(rows), max(map(len, rows), default=0))


def agreement(articles, ties="half", topics=None):
    """The four numbers by name, and the scores' ties, of (truths, scores) of each article."""
    truths, scores = (table([each[side] for each in articles]) for side in (0, 1))
    topics = topics or list(map(str, range(len(articles))))
    *rates, n_ties = winrates(truths, scores, topics, ties)
    return SimpleNamespace(
        **dict(zip(NAMES, (*correlations(truths, scores, topics, chooses=False), *rates), strict=True)),
        ties=n_ties,
    )


def values(found):
    return {name: getattr(found, name).value for name in NAMES}


# pairs of the first: 1 > 0.5 right, 1 > 0 right, 0.5 > 0 tied
TIED = ((1.0, 0.5, 0.0), (3.0, 1.0, 1.0))


@pytest.mark.parametrize(("ties", "winrate"), [("half", 2.5 / 3), ("wrong", 2 / 3), ("drop", 1.0)])
def test_ties_count_as_told(ties, winrate):
    found = agreement([TIED], ties)
    assert (found.winrate_within.value, found.winrate_pooled.value) == pytest.approx((winrate, winrate))
    assert (found.winrate_pooled.n, found.ties) == (3, 1)


def test_an_article_of_ties_alone_drops_out_of_the_winrate_with_drop():
    found = agreement([TIED, ((1.0, 0.0), (2.0, 2.0))], "drop")
    assert (found.winrate_within.n, found.winrate_within.value, found.winrate_pooled.value) == (1, 1.0, 1.0)
    assert (found.winrate_pooled.n, found.ties) == (4, 2)


def test_micro_weighs_pairs_and_macro_weighs_articles():
    # three pairs, all right; one pair, wrong
    found = agreement([((3.0, 2.0, 1.0), (3.0, 2.0, 1.0)), ((1.0, 0.0), (0.0, 1.0))])
    assert (found.winrate_within.value, found.winrate_pooled.value) == (0.5, 0.75)
    assert found.within.value == pytest.approx(0.0)


def test_summaries_without_value_or_score_are_left_out_and_counted():
    found = agreement([((1.0, None, 0.5, 0.0), (3.0, 9.0, None, 1.0))])
    assert found.pooled.n == 2
    assert (found.winrate_pooled.n, found.winrate_within.value, found.pooled.value) == (1, 1.0, pytest.approx(1.0))


articles = st.lists(
    st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), max_size=6).map(
        lambda rows: (tuple(float(t) for t, _ in rows), tuple(float(s) for _, s in rows))
    ),
    max_size=4,
)


@given(articles)
def test_order_of_articles_does_not_matter_and_reversed_scores_mirror_everything(found):
    plain, backwards = agreement(found), agreement(found[::-1])
    mirrored = agreement([(truths, tuple(-s for s in scores)) for truths, scores in found])
    plain, backwards, mirrored = map(values, (plain, backwards, mirrored))
    for name, value in plain.items():
        middle = 0.5 if name.startswith("winrate") else 0.0
        if value is None:
            assert backwards[name] is mirrored[name] is None
        else:
            assert backwards[name] == pytest.approx(value)
            assert mirrored[name] - middle == pytest.approx(middle - value)


@given(articles)
def test_a_metric_that_grows_with_the_score_agrees_alike(found):
    assert agreement(found) == agreement([(truths, tuple(s**3 + 1 for s in scores)) for truths, scores in found])


RIGHT, WRONG = ((1.0, 0.0), (1.0, 0.0)), ((1.0, 0.0), (0.0, 1.0))


def bounded(number):
    return number.value, number.low, number.high


def test_interval_over_five_topics_worked_by_hand():
    # winrates of the articles 1, 1, 1, 1 and 0: mean 0.8, standard error 0.2, t with 4 degrees of freedom 2.776; clipped to 1
    found = agreement([RIGHT] * 4 + [WRONG], topics=list("abcde"))
    for number in (found.winrate_within, found.winrate_pooled):
        assert bounded(number) == (pytest.approx(0.8), pytest.approx(0.8 - 2.7764 * 0.2, abs=1e-4), 1.0)
    assert bounded(found.within) == (pytest.approx(0.6), pytest.approx(0.6 - 2.7764 * 0.4, abs=1e-4), 1.0)


def test_sides_of_one_topic_are_one_piece_of_evidence():
    found = agreement([RIGHT, WRONG] * 5, topics=[topic for topic in "abcde" for _ in range(2)])
    # every topic has one right and one wrong pair
    assert bounded(found.winrate_within) == (0.5, 0.5, 0.5) and found.winrate_within.n_sets == 5


def test_no_interval_with_few_topics_or_where_a_statistic_is_undefined_without_one():
    few = agreement([RIGHT] * 4, topics=list("abcd"))
    assert {bounded(getattr(few, name))[1:] for name in NAMES} == {(None, None)}
    constant = ((1.0, 0.0), (2.0, 2.0))
    some = agreement([TIED, *[constant] * 5], topics=list("abcdef"))
    assert bounded(some.within)[1:] == (None, None)
    assert None not in bounded(some.winrate_within)


def test_topics_that_a_number_does_not_rest_on_do_not_make_it_surer():
    # whose articles the scores do not order, so that they have no correlation
    constant = ((1.0, 0.0), (2.0, 2.0))
    alone = agreement([RIGHT] * 4 + [WRONG])
    with_others = agreement([*[RIGHT] * 4, WRONG, *[constant] * 20])
    assert with_others.within == alone.within and alone.within.n_sets == 5


@pytest.mark.parametrize("n_topics", [6, 17])
def test_intervals_have_the_true_value_in_them_nearly_as_often_as_they_say(n_topics):
    def drawn(generator, n):
        made = []
        for _ in range(n):
            truths = np.round(4 * generator.beta(0.7, 0.7, 8)) / 4
            scores = 0.3 * truths + 0.35 * (generator.normal(size=8) + generator.normal())
            made.append((truths.tolist(), scores.tolist()))
        return made

    true = np.nanmean(within(*map(np.array, zip(*drawn(np.random.default_rng(1), 3000), strict=True)), chooses=False))
    held = 0
    for seed in range(200):
        articles = drawn(np.random.default_rng([n_topics, seed]), n_topics)
        _, low, high = bounded(agreement(articles).within)
        held += low <= true <= high
    # percentiles of draws held in 84 % at six topics
    assert held >= 180


# docs/papers.md#ri-values: correlation pooled and by article, winrate by article; of coverage, then of faithfulness
PUBLISHED = {
    ("rouge1", "recall"): (0.413, 0.368, 0.654, -0.225, -0.176, 0.425),
    ("rouge1", "precision"): (0.099, 0.196, 0.597, 0.253, 0.373, 0.672),
    ("rouge2", "recall"): (0.320, 0.352, 0.652, -0.017, 0.057, 0.532),
    ("rouge2", "precision"): (0.053, 0.158, 0.573, 0.204, 0.352, 0.657),
    ("rougeL", "recall"): (0.403, 0.387, 0.665, -0.192, -0.147, 0.438),
    ("rougeL", "precision"): (-0.111, -0.001, 0.504, 0.321, 0.320, 0.640),
    ("length", "words"): (0.435, 0.294, 0.631, -0.295, -0.258, 0.392),
}


def test_published_benchmark_of_rouge_and_length_is_reproduced_to_three_decimals(polisum):
    sets = read_controlled(polisum / "controlled_dev.json")
    scores = {metric: [] for metric in PUBLISHED}
    for each in sets:
        found = [rouge(each.source, summary.text) for summary in each.summaries]
        for kind, measure in PUBLISHED:
            scores[kind, measure].append(
                tuple(float(len(s.text.split())) for s in each.summaries)
                if kind == "length"
                else tuple(values[kind][measure] for values in found)
            )
    for metric, expected in PUBLISHED.items():
        reproduced = []
        for attribute in ("coverage", "faithfulness"):
            truths = [tuple(getattr(t, attribute) for t in each.truths) for each in sets]
            result = agreement([(t, s) for t, s in zip(truths, scores[metric], strict=True)])
            reproduced += [result.pooled.value, result.within.value, result.winrate_within.value]
        assert reproduced == pytest.approx(expected, abs=6e-4), metric
