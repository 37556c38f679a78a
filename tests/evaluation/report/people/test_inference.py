"""What ratings of some summaries and a judge of all say together, beside ppi-python and in a simulation."""

import numpy as np
import pytest
from scipy.stats import norm

from evenhand.benchmarks.ratings import PARTS, SETS, TRUTH, World
from evenhand.evaluation.report.people.inference import RatedScores, infer, selection_p_value

# 12 rated and 30 unrated summaries; made once by ppi_python 0.2.3 with numpy.random.default_rng(20261129), rounded to cents:
# ppi_mean_pointestimate and ppi_mean_ci(alpha=0.05) with lam=0, 0.5, 1 and as tuned there, which is 0.57674
PEOPLE = [2.43, 3.4, 3.27, 4.61, 2.16, 1.37, 2.6, 3.1, 2.99, 2.58, 2.34, 4.92]
RATED = [2.53, 2.53, 2.6, 3.77, 3.16, 1.16, 2.95, 3.19, 2.37, 2.65, 2.2, 3.94]
UNRATED = [
    3.56, 3.62, 2.0, 3.59, 2.37, 2.99, 1.86, 1.91, 3.27, 3.35, 3.04, 3.75, 2.87, 1.06, 2.61,
    2.71, 2.71, 4.48, 2.61, 3.96, 1.34, 2.03, 2.31, 2.93, 4.12, 2.89, 2.26, 1.45, 1.75, 1.89,
]  # fmt: skip
PPI_PY = {
    0.0: (2.98083333, 2.43970706, 3.52195961),
    0.5: (2.95858333, 2.53296097, 3.3842057),
    1.0: (2.93633333, 2.49433592, 3.37833075),
}
TUNED = (2.95516781, 2.53664976, 3.37368586)
ALL = {0: 1.0}


def independent(people=PEOPLE):
    n = len(RATED) + len(UNRATED)
    ratings = np.full((n, 1), np.nan)
    ratings[: len(people), 0] = people
    return RatedScores(np.array(RATED + UNRATED), np.arange(n), np.zeros(n, dtype=int), ratings)


def z_bounds(said):
    """Bounds as ppi-python has them: variances divided by n and not by n - 1, and a normal in place of Student's t."""
    n, other = len(RATED), len(UNRATED)
    error = (said.of_rated * (n - 1) / n + said.of_unrated * (other - 1) / other) ** 0.5
    return said.value, said.value - norm.ppf(0.975) * error, said.value + norm.ppf(0.975) * error


@pytest.mark.parametrize("weight", PPI_PY)
def test_of_independent_summaries_it_is_what_ppi_python_says(weight):
    assert z_bounds(infer(independent(), ALL, weight)) == pytest.approx(PPI_PY[weight], abs=1e-7)


def test_the_weight_makes_the_interval_narrow_as_in_ppi_python():
    # which takes the judge's variance of both samples together
    assert z_bounds(infer(independent(), ALL, 0.57674)) == pytest.approx(TUNED, abs=1e-5)
    said = infer(independent(), ALL)
    assert said.value == pytest.approx(TUNED[0], abs=0.01)
    # the variance is larger by 12 / 11 for the weight that was chosen by it
    narrowest = min(infer(independent(), ALL, w).error for w in np.linspace(0, 1, 101))
    assert said.error * (11 / 12) ** 0.5 == pytest.approx(narrowest, rel=0.01)


def test_of_ratings_alone_it_is_their_mean_and_students_t():
    said = infer(independent(), ALL, 0.0)
    assert said.value == pytest.approx(np.mean(PEOPLE))
    assert said.error == pytest.approx(np.std(PEOPLE, ddof=1) / 12**0.5)
    assert np.mean(list(said.by_set.values())) == pytest.approx(said.value)


def test_a_judge_that_says_one_thing_of_all_changes_nothing():
    table = independent()
    constant = RatedScores(np.full(42, 3.0), table.sets, table.cells, table.ratings)
    assert infer(constant, ALL).value == pytest.approx(np.mean(PEOPLE))


def test_where_few_are_not_rated_a_good_judge_moves_the_mean_by_little():
    generator = np.random.default_rng(5)
    errors = []
    for _ in range(200):
        people = generator.normal(size=20)[:, None] * 0.5 + generator.normal(size=(20, 2)) * 0.75**0.5
        ratings = people.reshape(-1, 1).copy()
        scores = 0.9 * people.ravel() + generator.normal(size=40) * 0.19**0.5
        ratings[generator.choice(40, size=2, replace=False)] = np.nan
        table = RatedScores(scores, np.repeat(np.arange(20), 2), np.tile([0, 1], 20), ratings)
        errors.append([infer(table, {0: 0.5, 1: 0.5}, weight).value for weight in (None, 0.0)])
    # by the spread of the two that are not rated it was .33 more
    corrected, alone = (np.array(errors) ** 2).mean(axis=0)
    assert corrected < 1.02 * alone


def test_where_few_are_not_rated_a_poor_judge_makes_no_interval_wider_than_by_5_percent():
    generator = np.random.default_rng(7)
    widths = []
    for _ in range(300):
        people = (generator.normal(size=24)[:, None] * 0.5 + generator.normal(size=(24, 4))).ravel()
        scores = 0.3 * people + generator.normal(size=96)
        people[generator.choice(96, size=16, replace=False)] = np.nan
        table = RatedScores(scores, np.repeat(np.arange(24), 4), np.tile(np.arange(4), 24), people[:, None])
        both, alone = (infer(table, dict.fromkeys(range(4), 0.25), weight).reach(0.95) for weight in (None, 0.0))
        widths.append(both / alone)
    assert max(widths) < 1.05


def test_ratings_that_would_do():
    alone = infer(independent(), ALL, 0.0)
    assert alone.ratings_for(1.0, 12) == pytest.approx(12)
    assert alone.ratings_for(0.5, 12) == pytest.approx(48)
    # what rests on unrated summaries does not shrink with more ratings
    assert infer(independent(), ALL, 1.0).ratings_for(0.1, 12) == np.inf


def world(generator, n, draw="evenly", n_raters=10):
    return World.made(generator).rated(n, n_raters, draw, generator)


@pytest.mark.parametrize("n", [50, 200])
def test_intervals_hold_what_people_would_say_and_are_hardly_wider_than_those_of_ratings_alone(n):
    generator = np.random.default_rng(n)
    # 200 draws: 95 % with a standard error of 1.5 %
    covered, widths, raw = {name: [] for name in PARTS}, [], []
    for _ in range(200):
        table = world(generator, n)
        for name, parts in PARTS.items():
            said = infer(table, parts)
            covered[name].append(abs(said.value - TRUTH[name]) <= said.reach(0.95))
            widths.append(said.reach(0.95) / infer(table, parts, 0.0).reach(0.95))
        by_set = table.scores.reshape(SETS, 4).mean(axis=1)
        raw.append(abs(by_set.mean() - TRUTH["mean"]) <= 2 * by_set.std() / SETS**0.5)
    assert all(0.9 <= np.mean(values) <= 0.995 for values in covered.values()), covered
    assert max(widths) <= 1.05
    assert np.mean(widths) < 0.99
    assert np.mean(raw) < 0.2


def test_raters_add_a_variance_that_a_difference_of_what_the_same_people_rated_does_not_have():
    generator = np.random.default_rng(3)
    table = world(generator, 200)
    mean, difference = (infer(table, PARTS[name], 0.0) for name in ("mean", "difference"))
    assert mean.of_raters > mean.of_rated > 2 * difference.of_raters
    assert mean.degrees < 20
    few = RatedScores(table.scores, table.sets, table.cells, np.nanmean(table.ratings, axis=1)[:, None])
    assert infer(few, PARTS["mean"], 0.0).of_raters == 0


def test_a_choice_of_long_summaries_is_told_from_a_random_draw():
    generator = np.random.default_rng(4)
    chosen = [world(generator, 100, "long ones") for _ in range(20)]
    drawn = [world(generator, 100) for _ in range(100)]
    assert all(selection_p_value(table.scores, table, PARTS["mean"]) < 0.005 for table in chosen)
    assert sum(selection_p_value(table.scores, table, PARTS["mean"]) < 0.05 for table in drawn) <= 12
