from itertools import product

import numpy as np
import pytest
from audit_inputs import ATTRIBUTE, listed_words, make_input, make_set, shares_of, taken, two_sided

from evenhand.config.fairness import EntailerSection
from evenhand.evaluation.audit.build import build_audit
from evenhand.evaluation.audit.coverage import Covered, UnitCoverage
from evenhand.evaluation.audit.figures import Measured
from evenhand.evaluation.audit.page import page
from evenhand.evaluation.audit.pairs import judged_differences, paired_differences
from evenhand.evaluation.audit.plan import AuditPlan
from evenhand.evaluation.pages.blocks import Heading
from evenhand.evaluation.significance import concluded
from evenhand.fairness.groups.evidence import SetCoverage
from evenhand.fairness.groups.masses import Masses
from evenhand.judges.measures import open_entailer
from evenhand.resampling import Bootstrap

PLAN = AuditPlan(bootstrap=Bootstrap(level=0.95, resamples=400, seed=0), least_group=3)
FAIR, LEFT, RIGHT = "Apple berry cherry grape river stone.", "Apple berry.", "River stone."
# of 2,000 draws, in which a share of 1 / 128 comes up 16 times, five standard errors
AS_DRAWN = 0.01
THREE = ("a", "b", "c")
LABELS = (0, 0, 0, 1, 1, 1, 2, 2)


def audit(n, **systems):
    given = make_input(two_sided(n), **systems)
    return build_audit(given, PLAN, [shares_of(given.values)])


def differences(found):
    return {(d.measure, d.side): d for d in found.differences}


def concluded_of(family, one, other, seed=0, least_group=1):
    """The differences of two systems by what was found of them, concluded by themselves."""
    measured = [Measured(family, name, (), family.figures(found)) for name, found in (("one", one), ("other", other))]
    rows = paired_differences(measured, ["one", "other"], Bootstrap(level=0.95, resamples=100, seed=seed), least_group)
    _, found = concluded([], [tests for _, tests in rows], 0.95)
    return [each for (its, _), said in zip(rows, found, strict=True) for each in judged_differences(its, said, 0.95)]


def alone(family, one, other, measure, seed=0):
    """The difference and p-value of one measure, of which nothing else is asked."""
    measured = [Measured(family, name, (), family.figures(found)) for name, found in (("one", one), ("other", other))]
    ((rows, tests),) = paired_differences(measured, ["one", "other"], Bootstrap(seed=seed), 1)
    place = [(each.measure, each.side) for each in rows].index((measure, None))
    _, (found,) = concluded([], [tests.only([place])], 0.95)
    return rows[place].value, found.p_value[0]


def test_every_set_worse_is_as_sure_as_exchanges_allow():
    # eight sets, each unfair under the second system only: 2 of 2^8 exchanges are as extreme
    found = differences(audit(8, fair=[FAIR] * 8, mine=[LEFT] * 8))
    bur = found["BUR (words)", None]
    assert (bur.value, bur.low, bur.high, bur.n_sets, bur.left_out) == (1.0, 1.0, 1.0, 8, 0)
    # twice, as shares have the other half of the level
    assert bur.adjusted == pytest.approx(2 * 2 / 2**8, abs=AS_DRAWN)
    assert bur.verdict == "higher"
    # of what the right has in the sources, 1/3, it lacks all
    assert found["shortfall (words)", "right"].value == pytest.approx(1 / 3)
    assert found["shortfall (words)", "left"].verdict == "no clear difference"


def test_of_eight_systems_the_one_that_differs_does_so():
    texts = {"fair": [FAIR] * 20, "mine": [LEFT] * 20} | {f"as fair {k}": [FAIR] * 20 for k in range(6)}
    found = [d for d in audit(20, **texts).differences if d.measure == "UER (words)"]
    assert {d.system: d.verdict for d in found} == dict.fromkeys(texts.keys() - {"fair"}, "no clear difference") | {
        "mine": "higher"
    }
    # as small as 2,000 draws can make it
    assert found[0].adjusted == pytest.approx(1 / 2001)


def heading(found):
    """What is said above the table of published measures."""
    (said,) = (each for each in page(found).body if isinstance(each, Heading) and "Published" in each.text)
    return said.lead


def test_a_page_says_how_differences_are_tested_what_is_known_of_length_and_what_is_not():
    found = heading(audit(12, fair=[FAIR] * 12, mine=[LEFT] * 12))
    assert "p by exchanging" in found and "evenhand compare" in found
    assert "6.0 of fair" in found and "2.0 of mine" in found


def test_sets_scored_under_one_system_only_are_counted_out_of_the_pair():
    found = differences(audit(6, fair=[FAIR] * 5 + [""], mine=[LEFT, None, LEFT, LEFT, LEFT, LEFT]))
    bur = found["BUR (words)", None]
    assert (bur.n_sets, bur.left_out, bur.value) == (4, 2, 1.0)


@pytest.mark.parametrize("missing", ["", None])
def test_systems_without_a_set_in_common_differ_in_nothing(missing):
    found = audit(6, one=[FAIR] * 3 + [missing] * 3, other=[missing] * 3 + [LEFT] * 3)
    assert {(d.value, d.n_sets, d.adjusted, d.verdict) for d in found.differences} == {(None, 0, None, "not measured")}
    assert found.votes == ()


def test_a_system_does_not_differ_from_itself():
    texts = [FAIR, LEFT, RIGHT, LEFT, FAIR]
    found = audit(5, one=texts, other=texts)
    assert {(d.value, d.adjusted, d.verdict) for d in found.differences} == {(0.0, 1.0, "no clear difference")}
    assert [each.verdict for each in found.votes] == ["no clear difference"]


def test_a_value_of_too_few_sets_is_not_tested():
    found = differences(audit(2, fair=[FAIR] * 2, mine=[LEFT] * 2))
    assert ("BUR (words)", None) in found
    assert not any(value for _, value in found)


def test_for_a_mean_over_sets_the_test_is_the_flip_of_signs():
    unfair = [Masses((1.0, 1.0), (0.0, 1.0), ("left", "right")), Masses((1.0, 1.0), (1.0, 1.0), ("left", "right"))]
    one, other = [0, 1, 0, 0, 0, 0, 0], [1, 1, 1, 0, 1, 1, 1]
    changes = np.array(other) - np.array(one)
    sums = [abs(np.dot(signs, changes)) for signs in product((-1, 1), repeat=7)]
    expected = np.mean(np.array(sums) >= abs(changes.sum()) - 1e-9)
    found = alone(
        shares_of(("left", "right")),
        *([taken(unfair[1 - k]) for k in of] for of in (one, other)),
        "BUR (words)",
    )
    assert found == (pytest.approx(changes.mean()), pytest.approx(expected, abs=0.03))


def test_exchange_worked_by_hand_where_the_measure_is_no_mean():
    # shortfalls of left and right in three sets, (1/2, 0) against (0, 0): SOF 1/4 against 0. With one set exchanged it is 1/6
    # against 1/12: of 8 exchanges 2 differ by 1/4, the others by 1/12
    names, family = ("left", "right"), shares_of(("left", "right"))
    fair = [taken(Masses((1.0, 1.0), (1.0, 1.0), names))] * 3
    biased = [taken(Masses((1.0, 1.0), (0.0, 1.0), names))] * 3
    assert alone(family, fair, biased, "SOF (words)") == (pytest.approx(1 / 4), pytest.approx(2 / 8, abs=0.03))
    # (1/2, 0) and (0, 1/2) against (0, 0) twice: SOF 0 under both, which every exchange reaches
    turned = [biased[0], taken(Masses((1.0, 1.0), (1.0, 0.0), names))]
    assert alone(family, fair[:2], turned, "SOF (words)") == (pytest.approx(0), 1.0)


def random_masses(generator, n=40):
    sources = generator.integers(30, 80, size=(n, 3))
    return [
        [
            taken(Masses(tuple(map(float, s)), tuple(map(float, generator.multinomial(20, s / s.sum()))), THREE))
            for s in sources
        ]
        for _ in range(2)
    ]


def random_coverage(generator):
    return [[covered(generator.random(8) * 0.3) for _ in range(40)] for _ in range(2)]


def covered(by_document):
    labels = np.array(LABELS)
    means = [float(by_document[labels == k].mean()) for k in range(3)]
    overall = float(by_document.mean())
    gaps = tuple(mean - overall for mean in means)
    coverage = SetCoverage(
        ec=float(np.abs(gaps).mean()), unscored=None, by_document=tuple(by_document.tolist()), overall=overall,
        by_value=tuple(means), difference=gaps, counts=(3, 3, 2), clusters=((0,), (1,), (2,)), n_units=3,
    )  # fmt: skip
    return Covered(coverage, THREE, LABELS)


COVERAGE = UnitCoverage(open_entailer(EntailerSection(kind="words")), ATTRIBUTE, THREE, "released")


@pytest.mark.parametrize(
    ("family", "pair", "measure"),
    [
        (shares_of(THREE), random_masses, "SOF (words)"),
        (COVERAGE, random_coverage, "Coverage Parity (words)"),
    ],
)
def test_systems_that_do_not_differ_are_rarely_told_apart_by_measures_of_absolute_gaps(family, pair, measure):
    # of 150 pairs of equal systems 7.5 have p up to 0.05 where p-values are uniform; sign flips of jackknife values find 20
    generator = np.random.default_rng(7)
    found = [alone(family, *pair(generator), measure, seed=k)[1] for k in range(150)]
    assert sum(p <= 0.05 for p in found) < 12


def test_pages_of_systems_that_do_not_differ_rarely_see_any_difference_in_published_measures():
    generator = np.random.default_rng(3)
    pages = [concluded_of(shares_of(THREE), *random_masses(generator, 20), seed=k) for k in range(100)]
    says = sum(any(each.verdict in ("higher", "lower") for each in its) for its in pages)
    # 5 %, and two standard errors
    assert says <= 5 + 2 * (100 * 0.05 * 0.95) ** 0.5


def test_which_system_is_the_reference_does_not_matter():
    one, other = random_masses(np.random.default_rng(1), 6)
    family = shares_of(THREE)
    (estimate, p), (turned, same) = (alone(family, *pair, "SOF (words)") for pair in ((one, other), (other, one)))
    assert (turned, same) == (pytest.approx(-estimate), p)


@pytest.mark.needs("plugins/bias")
def test_an_exchange_that_leaves_nothing_to_compare_counts_as_differing():
    # gender words of two sets, female and male: sources 2 and 2; one: 1, 0; other: 0, 1 and no word in the second set.
    # Nothing is exchanged, or both: |1/2 - 1/2| = 0. Every exchange is as far as the 0 that was found.
    words = listed_words()
    spoken = [make_set(f"set-{k}", ("left", "She saw him.")) for k in range(2)]
    given = make_input(spoken, one=["She.", "Rain."], other=["Rain.", "He."])
    (found,) = build_audit(given, PLAN, [words]).differences
    assert (found.value, found.adjusted, found.verdict) == (pytest.approx(0.0), 1.0, "no clear difference")


def test_a_single_set_has_no_test():
    found = differences(audit(1, fair=[FAIR], mine=[LEFT]))["BUR (words)", None]
    assert (found.value, found.adjusted, found.verdict) == (1.0, None, "no clear difference")


def test_all_that_a_pair_knows_is_of_the_sets_scored_under_both():
    given = make_input(two_sided(4), one=[FAIR] * 4, other=[FAIR, FAIR, "", FAIR])
    shares = shares_of(given.values)
    one, other = (
        Measured(shares, system.label, tuple(found), shares.figures(found))
        for system in given.systems
        for found in [shares.measure(given.items(system))]
    )
    both = one.figures.scored & other.figures.scored
    mine, theirs = other.figures.only(both), one.figures.only(both)
    assert len(mine.parts) == len(mine.rests_on) == len(mine.columns) == 3
    assert theirs.left_out == (None,) * 3
    ((rows, _),) = paired_differences([one, other], ["one", "other"], PLAN.bootstrap, 1)
    assert {each.n_sets for each in rows} == {3}
