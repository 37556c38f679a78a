"""Agreement of scores with known values."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.corpora.controlled import read_controlled
from evenhand.errors import DataError
from evenhand.evaluation.studies.meta.agreement import STATISTICS, Article, agreement, agreement_intervals
from evenhand.judges.rouge import rouge

# pairs of the first: 1 > 0.5 right, 1 > 0 right, 0.5 > 0 tied
TIED = Article((1.0, 0.5, 0.0), (3.0, 1.0, 1.0))


@pytest.mark.parametrize(("ties", "winrate"), [("half", 2.5 / 3), ("wrong", 2 / 3), ("drop", 1.0)])
def test_ties_count_as_told(ties, winrate):
    found = agreement([TIED], ties)
    assert (found.winrate_macro, found.winrate_micro) == pytest.approx((winrate, winrate))
    assert (found.pairs, found.metric_ties) == (3, 1)


def test_an_article_of_ties_alone_drops_out_of_the_winrate_with_drop():
    found = agreement([TIED, Article((1.0, 0.0), (2.0, 2.0))], "drop")
    assert (found.winrate_articles, found.winrate_macro, found.winrate_micro) == (1, 1.0, 1.0)
    assert (found.pairs, found.metric_ties) == (4, 2)


def test_micro_weighs_pairs_and_macro_weighs_articles():
    # three pairs, all right; one pair, wrong
    found = agreement([Article((3.0, 2.0, 1.0), (3.0, 2.0, 1.0)), Article((1.0, 0.0), (0.0, 1.0))])
    assert (found.winrate_macro, found.winrate_micro) == (0.5, 0.75)
    assert found.spearman_macro == pytest.approx(0.0)


def test_summaries_without_value_or_score_are_left_out_and_counted():
    gaps = Article((1.0, None, 0.5, 0.0), (3.0, 9.0, None, 1.0))
    found = agreement([gaps])
    assert found.left_out == 2
    assert (found.pairs, found.winrate_macro, found.spearman_pooled) == (1, 1.0, pytest.approx(1.0))


def test_values_and_scores_must_be_equally_many():
    with pytest.raises(DataError, match="2 known values, but 1 scores"):
        Article((1.0, 0.0), (1.0,))


articles = st.lists(
    st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), max_size=6).map(
        lambda rows: Article(tuple(float(t) for t, _ in rows), tuple(float(s) for _, s in rows))
    ),
    max_size=4,
)


@given(articles)
def test_order_of_articles_does_not_matter_and_reversed_scores_mirror_everything(found):
    plain, backwards = agreement(found), agreement(found[::-1])
    mirrored = agreement([Article(a.truths, tuple(-s for s in a.scores)) for a in found])
    for name in STATISTICS:
        value, middle = getattr(plain, name), 0.5 if name.startswith("winrate") else 0.0
        if value is None:
            assert getattr(backwards, name) is getattr(mirrored, name) is None
        else:
            assert getattr(backwards, name) == pytest.approx(value)
            assert getattr(mirrored, name) - middle == pytest.approx(middle - value)


@given(articles)
def test_a_metric_that_grows_with_the_score_agrees_alike(found):
    assert agreement(found) == agreement([Article(a.truths, tuple(s**3 + 1 for s in a.scores)) for a in found])


RIGHT, WRONG = Article((1.0, 0.0), (1.0, 0.0)), Article((1.0, 0.0), (0.0, 1.0))


def test_interval_over_five_topics_worked_by_hand():
    # winrates of the articles 1, 1, 1, 1 and 0: mean 0.8, standard error 0.2, t with 4 degrees of freedom 2.776; clipped to 1
    found = agreement_intervals([RIGHT] * 4 + [WRONG], list("abcde"), "half", 0.95)
    for name in ("winrate_macro", "winrate_micro"):
        assert found[name] == (pytest.approx(0.8), pytest.approx(0.8 - 2.7764 * 0.2, abs=1e-4), 1.0)
    assert found["spearman_macro"] == (pytest.approx(0.6), pytest.approx(0.6 - 2.7764 * 0.4, abs=1e-4), 1.0)


def test_sides_of_one_topic_are_one_piece_of_evidence():
    found = agreement_intervals([RIGHT, WRONG] * 5, [topic for topic in "abcde" for _ in range(2)], "half", 0.95)
    # every topic has one right and one wrong pair
    assert found["winrate_macro"] == (0.5, 0.5, 0.5)


def test_no_interval_with_few_topics_or_where_a_statistic_is_undefined_without_one():
    few = agreement_intervals([RIGHT] * 4, list("abcd"), "half", 0.95)
    assert {each[1:] for each in few.values()} == {(None, None)}
    constant = Article((1.0, 0.0), (2.0, 2.0))
    some = agreement_intervals([TIED, *[constant] * 5], list("abcdef"), "half", 0.95)
    assert some["spearman_macro"][1:] == (None, None)
    assert None not in some["winrate_macro"]


@pytest.mark.parametrize("n_topics", [6, 17])
def test_intervals_have_the_true_value_in_them_nearly_as_often_as_they_say(n_topics):
    def drawn(generator, n):
        made = []
        for _ in range(n):
            truths = np.round(4 * generator.beta(0.7, 0.7, 8)) / 4
            scores = 0.3 * truths + 0.35 * (generator.normal(size=8) + generator.normal())
            made.append(Article(tuple(truths.tolist()), tuple(scores.tolist())))
        return made

    true = agreement(drawn(np.random.default_rng(1), 3000)).spearman_macro
    held = 0
    for seed in range(200):
        articles = drawn(np.random.default_rng([n_topics, seed]), n_topics)
        _, low, high = agreement_intervals(articles, [*map(str, range(n_topics))], "half", 0.95)["spearman_macro"]
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
            result = agreement([Article(t, s) for t, s in zip(truths, scores[metric], strict=True)])
            reproduced += [result.spearman_pooled, result.spearman_macro, result.winrate_macro]
        assert reproduced == pytest.approx(expected, abs=6e-4), metric
