from itertools import combinations
from math import sqrt

import numpy as np
import pytest
from scipy.stats import norm

from evenhand.evaluation.audit.contents import SHARES
from evenhand.evaluation.audit.correction import CAUSES, NEARER, corrected, over_parts

ONE, OTHER, THIRD = "one", "other", "third"


def test_a_page_of_one_part_is_corrected_within_it_alone():
    # Benjamini and Hochberg over two: .01 * 2 / 1, .04 * 2 / 2
    assert corrected({(SHARES, ONE): [0.01, 0.04]}) == {(SHARES, ONE): [pytest.approx(0.02), pytest.approx(0.04)]}
    assert corrected({}) == {}
    assert corrected({("coverage", ONE): [None, None]}) == {("coverage", ONE): [None, None]}


def test_parts_are_corrected_after_holm_by_hand():
    # within: .02, .02 / .01 / .9; of weights 1/2, 1/4, 1/4: .01 * 4, then .02 * .75 / .5, which is no less than .04
    found = corrected({(SHARES, ONE): [0.02, None, 0.01], ("coverage", ONE): [0.01], ("order", ONE): [0.9, None]})
    assert found == {
        (SHARES, ONE): [pytest.approx(0.04), None, pytest.approx(0.04)],
        ("coverage", ONE): [pytest.approx(0.04)],
        ("order", ONE): [pytest.approx(0.9), None],
    }
    # a p-value of its own may be larger than that of its part
    assert corrected({(SHARES, ONE): [0.001, 0.04], ("coverage", ONE): [0.5]})[SHARES, ONE] == pytest.approx(
        [0.004, 0.04]
    )


def test_what_the_page_is_made_for_has_as_much_as_everything_else_together():
    # of one system half is for shares, and a quarter for each of two others
    found = corrected({(SHARES, ONE): [0.02], ("coverage", ONE): [0.02], ("order", ONE): [0.5]})
    # coverage is asked after shares, and Holm never goes back
    assert found[SHARES, ONE] == [pytest.approx(0.04)]
    assert found["coverage", ONE] == [pytest.approx(0.04)]
    # of two systems that are not compared each has half of that
    tests = {(SHARES, ONE): [0.9], (SHARES, OTHER): [0.009], ("tone", ONE): [0.9], ("tone", OTHER): [0.0045]}
    # .0045 / .25 first; then .009 of what is left, .75, by .25
    found = corrected(tests)
    assert found["tone", OTHER] == [pytest.approx(0.018)]
    assert found[SHARES, OTHER] == [pytest.approx(0.027)]


def compared(differ, nearer):
    return {(SHARES, OTHER, ONE): [differ], (SHARES, OTHER, ONE, NEARER): [nearer]}


def test_systems_are_compared_where_one_is_named_with_what_naming_had():
    tests = {(SHARES, ONE): [0.001], (SHARES, OTHER): [0.9], ("coverage", ONE): [0.5]}
    found = corrected(tests | compared(0.004, 0.006))
    # who is named has a quarter of the level for each system; of two of which one is named all else has the half of shares
    assert found[SHARES, ONE] == [pytest.approx(0.004)]
    assert found[SHARES, OTHER, ONE] == [pytest.approx(0.008)]
    assert found[SHARES, OTHER, ONE, NEARER] == [pytest.approx(0.012)]
    # with nobody named under either nothing is said, however sure
    found = corrected(tests | {(SHARES, ONE): [0.2]} | compared(0.0001, 0.0001))
    assert found[SHARES, OTHER, ONE][0] > 0.2
    # nor which is nearer where they do not differ
    found = corrected(tests | compared(0.3, 0.0001))
    assert found[SHARES, OTHER, ONE, NEARER][0] > 0.3


def test_what_is_kept_for_comparing_goes_to_others_when_all_is_said():
    named = {(SHARES, ONE): [0.001], (SHARES, OTHER): [0.001], ("coverage", ONE): [0.02]}
    # coverage has half of the level while it is open whether both differ, and then all of it
    assert corrected(named | compared(0.9, 0.9))["coverage", ONE] == [pytest.approx(0.04)]
    assert corrected(named | compared(0.001, 0.001))["coverage", ONE] == [pytest.approx(0.02)]
    # where nothing is compared at once
    assert corrected(named)["coverage", ONE] == [pytest.approx(0.02)]


def test_a_part_without_p_values_takes_no_share():
    tests = {(SHARES, ONE): [0.03], ("coverage", ONE): [0.9], ("order", ONE): [0.9], (CAUSES, "place"): [0.9]}
    silent = {("tone", ONE): [None], (SHARES, OTHER, ONE): [None], (SHARES, OTHER, ONE, NEARER): [None]}
    assert corrected(tests | silent) == corrected(tests) | silent
    # nobody can be named by coverage, so that nothing is compared by it
    found = corrected(tests | {("order", OTHER, ONE): [0.001], ("order", ONE): [None]})
    assert found["order", OTHER, ONE] == [1.0]


def test_the_same_holds_however_parts_are_called_and_ordered():
    tests = {(SHARES, ONE): [0.001, 0.2], (SHARES, OTHER): [0.2], ("coverage", ONE): [0.01], ("tone", OTHER): [0.3]}
    tests |= compared(0.02, 0.03)
    for one, other in combinations(tests, 2):
        swapped = {part: tests[part] for part in dict.fromkeys((other, one, *tests))}
        assert corrected(swapped) == corrected(tests)


def page_of(generator, leans):
    """p-values of two values of each system by shares, which may lean, and by coverage, which does not."""
    tests = {}
    for family in (SHARES, "coverage"):
        gaps = generator.normal(size=(len(leans), 2))
        if family == SHARES:
            gaps += np.array(leans)[:, None]
        for system, its in enumerate(gaps):
            tests[family, str(system)] = p_values(its)
            if system:
                differ = p_values((its - gaps[0]) / sqrt(2))
                middle = p_values((its + gaps[0]) / sqrt(2))
                tests[family, str(system), "0"] = differ
                tests[family, str(system), "0", NEARER] = list(map(max, differ, middle))
    return tests


def p_values(gaps):
    return (2 * norm.sf(np.abs(gaps))).tolist()


def is_wrong(part, leans):
    """Whether nothing is to be said of it."""
    if part[0] != SHARES:
        return True
    mine, *first = (leans[int(system)] for system in part[1:3])
    if not first:
        return mine == 0
    return abs(mine) == abs(first[0]) if part[3:] else mine == first[0]


@pytest.mark.parametrize(
    ("leans", "trials"),
    [((0, 0), 300), ((9, 9), 3000), ((9, 0), 300), ((3, 3), 300), ((9, 9, 0), 300), ((0, 9, 9), 300)],
)
def test_something_false_is_said_in_a_twentieth_of_pages_whoever_leans(leans, trials):
    generator = np.random.default_rng(2)
    false = 0
    for _ in range(trials):
        found = corrected(page_of(generator, leans))
        false += any(min(its) <= 0.05 and is_wrong(part, leans) for part, its in found.items())
    # two standard errors; with the share of naming given to others, and to comparing as well, it would be 7 % of (9, 9)
    assert false <= trials * 0.05 + 2 * sqrt(trials * 0.05 * 0.95)


def by_definition(smallest):
    """The corrected p-values of parts as they are defined: each step looks at every part anew."""
    size = {about: 1.0 if about in (SHARES, CAUSES) else None for about, *_ in smallest}
    size |= {about: 1 / list(size.values()).count(None) for about in size if size[about] is None}
    parts = {about: [part for part in smallest if part[0] == about] for about in sorted(size)}
    said, so_far = {}, 0.0

    def systems(about):
        is_compared = any(len(part) > 2 for part in parts[about])
        return len({system for part in parts[about] for system in part[1:3]}) if is_compared else 0

    def kept(about):
        n_left = sum(part not in said for part in parts[about])
        return size[about] * (n_left > 0 if systems(about) else n_left / len(parts[about]))

    def weight(about):
        is_begun = any(part in said for part in parts[about])
        return size[about] / (systems(about) - is_begun if systems(about) else len(parts[about]))

    def is_asked(part):
        about, system, *more = part
        return not more or (part[:3] in said if len(more) > 1 else (about, system) in said or (about, more[0]) in said)

    while asked := [part for part in smallest if part not in said and is_asked(part)]:
        left = sum(map(kept, parts))
        p_values = {part: smallest[part] * left / weight(part[0]) for part in asked}
        first = min(p_values, key=p_values.get)
        said[first] = so_far = max(so_far, min(1.0, p_values[first]))
    return said


def random_page(rng, n_systems):
    """Smallest p-values by part, of which some are equal, very small, or not there."""
    draw = [rng.random, lambda: rng.random() ** 6, lambda: float(rng.choice([1, 2, 2000]) / 20_001)][rng.integers(3)]
    families = rng.permutation([SHARES, "coverage", "order", "opinions", CAUSES])[: rng.integers(1, 6)]
    found = {}
    for about in map(str, families):
        for k in range(n_systems if about != CAUSES else 2):
            found[about, f"system {k}"] = draw()
            if k and about != CAUSES and rng.random() < 0.9:
                pair = (about, f"system {k}", "system 0")
                found |= {pair: draw(), (*pair, NEARER): draw()}
    return {part: found[part] for part in found if rng.random() < 0.95}


@pytest.mark.parametrize("seed", range(150))
def test_parts_are_corrected_as_defined_to_the_last_digit(seed):
    rng = np.random.default_rng(seed)
    page = random_page(rng, int(rng.integers(1, 7)))
    assert over_parts(page) == by_definition(page)


class Counted(float):
    """A p-value that counts how often it is looked at."""

    n = 0

    def __mul__(self, other):
        Counted.n += 1
        return float(self) * other


def test_work_grows_as_the_number_of_systems():
    counts = []
    for n_systems in (100, 200):
        Counted.n = 0
        page = {part: Counted(p) for part, p in random_page(np.random.default_rng(3), n_systems).items()}
        assert len(over_parts(page)) > n_systems
        counts.append(Counted.n / len(page))
    # a look at the first part of each of five families a step, and no more with more systems
    assert max(counts) <= 2 * 5 and counts[1] <= 1.2 * counts[0]
