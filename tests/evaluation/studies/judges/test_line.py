"""Ridge with held signs, its penalty, and what it says of topics that it never saw."""

import numpy as np
import pytest
from scipy.optimize import lsq_linear

from evenhand.plugins.judge_studies.agreement import correlations
from evenhand.plugins.judge_studies.line import PENALTIES, fit_best, fits, leave_topic_out, moments_by_topic

FREE = np.full(3, -np.inf), np.full(3, np.inf)


def made(seed=0, topics=8, each=6, signal=0.0):
    """Features on scales of their own, truths in [0, 1] that follow the first by `signal`; topics of equal size."""
    generator = np.random.default_rng(seed)
    rows = generator.normal(size=(topics * each, 3)) * [1.0, 50.0, 0.01] + [0.0, 100.0, 5.0]
    noise = generator.normal(size=len(rows))
    truths = np.clip(0.5 + 0.2 * (signal * rows[:, 0] + noise), 0, 1)
    return rows, truths, [f"t{k // each}" for k in range(len(rows))]


def whole(rows, truths, topics):
    return sum(moments_by_topic(rows, truths, topics).values())


def fit(rows, truths, topics, penalty, held=FREE):
    return fits(whole(rows, truths, topics), [penalty], held)[0]


def by_rows(rows, truths, penalty, bounds=(-np.inf, np.inf)):
    """The same line from the rows themselves: standardised, the penalty as rows of its own."""
    standard = (rows - rows.mean(axis=0)) / rows.std(axis=0)
    n, width = standard.shape
    above = np.vstack([standard, np.sqrt(n * penalty) * np.eye(width)])
    return lsq_linear(above, np.concatenate([truths - truths.mean(), np.zeros(width)]), bounds).x


@pytest.mark.parametrize("penalty", PENALTIES)
def test_sums_of_products_give_the_ridge_of_the_rows(penalty):
    rows, truths, topics = made(signal=1.0)
    line = fit(rows, truths, topics, penalty)
    assert line.coefficients == pytest.approx(by_rows(rows, truths, penalty), abs=1e-8)
    assert line.intercept == pytest.approx(truths.mean())


def test_a_sign_is_held_and_the_others_are_the_best_beside_it():
    rows, truths, topics = made(signal=1.0)
    low, high = np.full(3, -np.inf), np.array([0.0, np.inf, np.inf])
    line = fit(rows, truths, topics, 0.1, (low, high))
    assert line.coefficients[0] == 0.0
    assert line.coefficients == pytest.approx(by_rows(rows, truths, 0.1, (low, high)), abs=1e-6)


def test_a_feature_that_does_not_vary_has_no_say():
    rows, truths, topics = made(signal=1.0)
    rows[:, 1] = 4.25
    line = fit(rows, truths, topics, 0.1)
    assert (line.coefficients[1], line.scales[1]) == (0.0, 1.0)
    assert line.at(rows + np.array([0, 1000, 0])) == pytest.approx(line.at(rows))


def test_squared_errors_from_sums_are_those_of_the_rows():
    rows, truths, topics = made(signal=1.0)
    line = fit(rows, truths, topics, 0.3)
    said = line.intercept + (rows - line.means) / line.scales @ line.coefficients
    assert line.squared_errors(whole(rows, truths, topics)) == pytest.approx(((said - truths) ** 2).sum())


def test_the_penalty_is_the_one_that_predicts_left_out_topics_best():
    rows, truths, topics = made(seed=3, signal=0.5)
    names, errors = np.array(topics), []
    for penalty in PENALTIES:
        error = 0.0
        for topic in set(topics):
            out = names == topic
            standard = (rows - rows[~out].mean(axis=0)) / rows[~out].std(axis=0)
            slopes = by_rows(rows[~out], truths[~out], penalty)
            error += ((truths[~out].mean() + standard[out] @ slopes - truths[out]) ** 2).sum()
        errors.append(error)
    parts = list(moments_by_topic(rows, truths, topics).values())
    assert fit_best(parts, FREE).penalty == PENALTIES[int(np.argmin(errors))]
    assert 0 < int(np.argmin(errors)) < len(PENALTIES) - 1


def test_shares_stay_between_0_and_1():
    rows, truths, topics = made(signal=1.0)
    line = fit(rows, truths, topics, 0.001)
    assert line.at(np.array([[-99.0, 100, 5], [99, 100, 5]])).tolist() == [0, 1]


def test_a_topics_own_truths_change_nothing_of_what_is_said_of_it():
    rows, truths, topics = made(signal=1.0)
    said, penalties = leave_topic_out(rows, truths, topics, FREE)
    mine = np.array(topics) == "t2"
    turned = np.where(mine, 1 - truths, truths)
    again, penalties_again = leave_topic_out(rows, turned, topics, FREE)
    assert again[mine].tolist() == said[mine].tolist()
    assert penalties_again["t2"] == penalties["t2"]
    # and of what is said of others they do change something
    assert np.abs(again[~mine] - said[~mine]).min() > 0


def low_end(truths, said, topics):
    """Lower end of the pooled agreement's interval over topics, as it is reported."""
    names = np.array(topics)
    mine = [np.flatnonzero(names == each) for each in dict.fromkeys(topics)]
    both = (np.array([each[rows] for rows in mine]) for each in (truths, said))
    return correlations(*both, list(dict.fromkeys(topics)), chooses=False)[0].low


def marked(seed, topics=6, each=5):
    """Truths that go with the topic and with no feature, of which each is a topic's mark: nothing is to be learned."""
    generator = np.random.default_rng(seed)
    number = np.repeat(np.arange(topics), each)
    rows = np.eye(topics)[number] + 0.1 * generator.normal(size=(len(number), topics))
    truths = np.clip(0.5 + 0.2 * generator.normal(size=topics)[number] + 0.1 * generator.normal(size=len(number)), 0, 1)
    free = np.full(topics, -np.inf), np.full(topics, np.inf)
    return rows, truths, [f"t{k}" for k in number], free


def test_where_a_topic_is_known_by_its_features_alone_nothing_is_learned_of_another():
    found = []
    for seed in range(200):
        rows, truths, topics, free = marked(seed)
        found.append(low_end(truths, leave_topic_out(rows, truths, topics, free)[0], topics) > 0)
    assert sum(found) <= 10


def test_leaving_single_summaries_out_would_have_seemed_to_learn():
    found = []
    for seed in range(5):
        rows, truths, topics, free = marked(seed)
        single = [str(k) for k in range(len(rows))]
        found.append(low_end(truths, leave_topic_out(rows, truths, single, free)[0], topics) > 0)
    assert sum(found) >= 4


def test_truths_exchanged_at_random_are_rarely_learned():
    rows, truths, topics = made(signal=1.0, topics=6)
    generator = np.random.default_rng(0)
    found = []
    for _ in range(200):
        mixed = generator.permutation(truths)
        found.append(low_end(mixed, leave_topic_out(rows, mixed, topics, FREE)[0], topics) > 0)
    assert sum(found) <= 10
    # the same rows with their own truths
    assert low_end(truths, leave_topic_out(rows, truths, topics, FREE)[0], topics) > 0.5
