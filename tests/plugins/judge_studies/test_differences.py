"""Differences of agreement between groups of articles, against what is planted."""

import numpy as np
import pytest

from evenhand.judges.calibration import Probe
from evenhand.plugins.judge_studies.differences import by_group, by_topic, over_articles
from evenhand.plugins.judge_studies.figures import NOTHING, mean
from evenhand.plugins.judge_studies.hypotheses import Hypothesis, conclude

N = 24
TOPICS = [f"t{k // 2}" for k in range(N)]
MINORITY = np.arange(N) % 4 == 3


def p_of(found):
    return found.number.p_value


def noise(seed=0, shape=(N,)):
    return np.random.default_rng(seed).normal(size=shape)


def test_a_group_is_held_against_the_others():
    values = np.where(MINORITY, 0.1, 0.8) + 0.1 * noise()
    found = by_group(values, MINORITY, TOPICS, 0)
    assert found.number.value == pytest.approx(values[MINORITY].mean() - values[~MINORITY].mean())
    assert found.number.p_value < 0.001 and found.draws.observed[0] < 0 and (found.draws.drawn >= 0).all()
    # the other group is as far off the other way
    assert by_group(values, ~MINORITY, TOPICS, 0).draws.observed == pytest.approx(-found.draws.observed)


def test_groups_that_differ_in_their_spread_alone_do_not_differ():
    seldom = sum(
        p_of(by_group(np.where(MINORITY, 0.5, 0.1) * noise(seed), MINORITY, TOPICS, 0)) <= 0.05 for seed in range(60)
    )
    assert seldom <= 7


def test_a_group_of_whole_topics_is_dealt_by_topics():
    # eight topics of one article each say as much as eight of two that agree
    twice = np.repeat(noise(1, (8,)), 2)
    of_topics = np.repeat(np.arange(8) < 4, 2)
    topics = [f"t{k // 2}" for k in range(16)]
    once = by_group(twice[::2], of_topics[::2], topics[::2], 0)
    assert p_of(by_group(twice, of_topics, topics, 0)) == p_of(once)


@pytest.mark.parametrize("inside", [np.zeros(N, bool), np.ones(N, bool), np.arange(N) < 2])
def test_too_small_a_group_is_not_tried(inside):
    assert by_group(noise(), inside, TOPICS, 0) is NOTHING


def test_topics_that_agree_within_themselves_and_not_with_each_other_are_found():
    of_topic = np.repeat(noise(2, (N // 2,)), 2)
    assert p_of(by_topic(of_topic + 0.1 * noise(3), TOPICS, 0)) < 0.01
    assert p_of(by_topic(noise(4), TOPICS, 0)) > 0.05
    assert by_topic(noise(4), [f"t{k}" for k in range(N)], 0) is NOTHING


def test_a_judge_that_is_blind_to_a_quarter_of_the_articles_is_told_from_one_that_errs_everywhere():
    truths, errors = noise(5, (N, 7)), noise(6, (N, 7))
    blind = np.where(MINORITY[:, None], errors, truths + 0.3 * errors)
    found = over_articles(truths, blind, 0)
    assert p_of(found) < 0.01 and found.number.value > 0.2
    assert p_of(over_articles(truths, truths + errors, 0)) > 0.05
    # nothing is said of articles of three summaries, of truths that do not vary, or of none
    assert over_articles(np.ones((N, 7)), blind, 0) is over_articles(np.full((N, 7), np.nan), blind, 0) is NOTHING
    assert over_articles(truths[:, :3], blind[:, :3], 0) is NOTHING


def test_what_accuses_has_an_interval_without_zero_and_nothing_else_has():
    rng = np.random.default_rng(7)
    for size in (0.0, 0.2, 0.4, 0.8):
        values = size * MINORITY + 0.3 * rng.normal(size=N)
        tests = [by_group(values, MINORITY, TOPICS, 0), mean(size + rng.normal(size=N), TOPICS)]
        hypotheses = [
            Hypothesis(Probe(value=value, verdict="not accused", note="x"), test, least_effect=0.0)
            for test, value in ((each, each.number.value) for each in tests)
        ]
        for each in conclude(hypotheses):
            assert (each.verdict == "accused") == (each.adjusted <= 0.05) == (each.low > 0 or each.high < 0)
            assert bool(each.note) == (each.verdict == "accused")
