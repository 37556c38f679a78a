"""Whether a report is right about where reward and report judges part: simulated runs, a part here, all with `-m campaign`."""

from itertools import product

import pytest
from chance import most_false

from evenhand.benchmarks.rounds import PARTING, RUNS, Run, count_chosen, count_parted

TOGETHER = sorted(set(RUNS) - {*PARTING, "reward stops, judges fall"})


@pytest.mark.parametrize("kind", TOGETHER)
def test_runs_without_parting_are_seldom_said_to_part(kind):
    assert count_parted(Run(kind, 4, 12), 60).parted <= most_false(60)


@pytest.mark.parametrize(
    ("kind", "n_sets", "least"), [("judges fall", 30, 0.5), ("judges fall", 100, 0.95), ("judges stop", 100, 0.7)]
)
def test_parting_is_found_from_a_round_on_from_which_it_is_true(kind, n_sets, least):
    found = count_parted(Run(kind, 4, n_sets), 40)
    assert found.parted >= least * found.trials
    assert found.false <= most_false(found.trials)


def test_a_round_that_is_called_the_best_is_seldom_worse_than_another():
    found = [
        count_chosen(Run(kind, 2, 30), 15) for kind in ("both rise", "judges fall", "judges slow down to two thirds")
    ]
    assert sum(each.chosen for each in found) > 1
    assert sum(each.wrong for each in found) <= most_false(sum(each.trials for each in found))


@pytest.mark.campaign
@pytest.mark.parametrize(("kind", "n_rounds"), list(product(RUNS, (2, 4, 10))))
def test_all_runs(kind, n_rounds):
    for n_sets in (5, 12, 30, 100):
        run = Run(kind, n_rounds, n_sets)
        found, choice = count_parted(run, 200), count_chosen(run, 50)
        assert found.false <= most_false(found.trials)
        assert choice.wrong <= most_false(choice.trials)
