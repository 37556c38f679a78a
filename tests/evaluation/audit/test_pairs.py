import numpy as np
import pytest
from audit_inputs import ATTRIBUTE, make_input, make_set, shares_of, two_sided

from evenhand.config.fairness import EntailerSection
from evenhand.evaluation.audit.build import build_audit
from evenhand.evaluation.audit.contents import UER, Measure, Quantity, SystemNote
from evenhand.evaluation.audit.coverage import Covered, UnitCoverage
from evenhand.evaluation.audit.figures import Figures, Measured
from evenhand.evaluation.audit.page import page
from evenhand.evaluation.audit.pairs import paired_differences
from evenhand.evaluation.audit.plan import AuditPlan
from evenhand.evaluation.audit.warnings import by_length
from evenhand.evaluation.audit.word_lists import ListedWords
from evenhand.evaluation.pages.blocks import Heading
from evenhand.fairness.demographic.word_lists import WordLists
from evenhand.fairness.groups.evidence import SetCoverage
from evenhand.fairness.groups.masses import Masses
from evenhand.judges.measures import open_entailer
from evenhand.resampling import Bootstrap, sign_flip_p_value

PLAN = AuditPlan(bootstrap=Bootstrap(level=0.95, resamples=400, seed=0), least_group=3)
FAIR, LEFT, RIGHT = "Apple berry cherry grape river stone.", "Apple berry.", "River stone."


def audit(n, **systems):
    given = make_input(two_sided(n), **systems)
    shares = shares_of(given.values)
    return build_audit(given, PLAN, [shares])


def differences(found):
    return {(str(d.measure), d.value): d for d in found.differences}


def test_every_set_worse_is_as_sure_as_sign_flips_allow():
    # eight sets, each unfair under the second system only: 2 of 2^8 sign patterns are as extreme
    found = differences(audit(8, fair=[FAIR] * 8, mine=[LEFT] * 8))
    bur = found["BUR (words)", None]
    assert (bur.estimate, bur.low, bur.high, bur.n, bur.left_out) == (1.0, 1.0, 1.0, 8, 0)
    assert bur.p_value == pytest.approx(2 / 2**8)
    assert (bur.adjusted <= 0.05, bur.verdict) == (True, "higher")
    # of what the right has in the sources, 1/3, it lacks all
    assert found["shortfall (words)", "right"].estimate == pytest.approx(1 / 3)
    assert found["shortfall (words)", "left"].verdict == "no clear difference"


def test_of_eight_systems_the_one_that_differs_does_so_with_every_number_of_resamples():
    # as small as can be are the p of six tests of 7 * 7, those of one system; its measures had a seventieth of the level
    texts = {"fair": [FAIR] * 20, "mine": [LEFT] * 20} | {f"as fair {k}": [FAIR] * 20 for k in range(6)}
    found = [d for d in audit(20, **texts).differences if str(d.measure) == "UER (words)"]
    assert {d.system: d.verdict for d in found} == dict.fromkeys(texts.keys() - {"fair"}, "no clear difference") | {
        "mine": "higher"
    }
    # 400 were asked for
    assert {d.resamples for d in found} == {20_000}
    assert found[0].adjusted < 0.001


def heading(found):
    """What is said above the table of published measures."""
    (said,) = (each for each in page(found).body if isinstance(each, Heading) and "Published" in each.text)
    return said.lead


@pytest.mark.parametrize(
    ("n", "said"),
    [
        # 2 of 2^n patterns are as far; there are seven tests
        (4, "With 4 sets no p below 0.125 is possible, so that no difference is clear."),
        (5, "With 5 sets no p below 0.062 is possible, so that no difference is clear."),
        # 7 * 1/32 / 5 = 0.044, and of four 0.055; 7 * 1/128 / 2 = 0.027
        (
            6,
            "With 6 sets no p below 0.031 is possible, so that a difference is clear only together with at least 4 others.",
        ),
        (
            8,
            "With 8 sets no p below 0.008 is possible, so that a difference is clear only together with at least 1 other.",
        ),
    ],
)
def test_the_page_says_what_so_few_sets_can_show(n, said):
    assert said in heading(audit(n, fair=[FAIR] * n, mine=[LEFT] * n))
    assert "no p below" not in heading(audit(9, fair=[FAIR] * 9, mine=[LEFT] * 9))


def split(mine, theirs, n=12):
    """The difference of two systems of (score, what is expected), with a little noise of both."""
    noise = 0.001 * np.random.default_rng(0).normal(size=(2, n, 2))

    def measured(system, means, its):
        figures = Figures(
            quantities=(Quantity(Measure(UER, "words")),),
            columns=np.hstack([np.ones((n, 1)), means + its]),
            reduce=lambda sums: sums[..., 1:2] / sums[..., :1],
            expect=lambda sums: sums[..., 2:] / sums[..., :1],
            nulls=("a null",), rests_on=np.ones((n, 1), dtype=bool), unfairness=np.zeros(n), left_out=(None,) * n,
        )  # fmt: skip
        return Measured(SHARES, system, (), figures)

    both = [measured("base", theirs, noise[0]), measured("mine", mine, noise[1])]
    (found,) = paired_differences(both, ["base", "mine"], PLAN.bootstrap, 3)
    return found


@pytest.mark.parametrize(
    ("mine", "theirs", "is_warned"),
    [
        # 0.17 of 0.20 would be expected
        ((0.30, 0.25), (0.10, 0.08), True),
        # 0.05 of 0.20
        ((0.30, 0.13), (0.10, 0.08), False),
        # the other way round would be expected
        ((0.30, 0.01), (0.10, 0.08), False),
        # more than all of it
        ((0.30, 0.40), (0.10, 0.08), True),
        ((0.30, 0.25), (0.30, 0.08), False),
    ],
)
def test_what_lengths_alone_would_make_of_a_difference_stands_beside_it(mine, theirs, is_warned):
    found = split(mine, theirs)
    expected = mine[1] - theirs[1]
    assert found.beyond.expected == pytest.approx(expected, abs=0.002)
    assert found.beyond.rest == pytest.approx(found.estimate - found.beyond.expected)
    assert found.beyond.rest_low < found.beyond.rest < found.beyond.rest_high
    systems = [SystemNote(label=name, source="", digest="", n_summaries=12, n_words=words, n_sentences=2)
               for name, words in (("base", 33.0), ("mine", 25.0))]  # fmt: skip
    said = list(by_length([found], systems))
    assert len(said) == is_warned
    assert not said or ("mine, UER (words): half" in said[0] and "(25.0 and 33.0 words" in said[0])


def test_a_page_says_what_is_known_of_length_and_what_is_not():
    found = audit(12, fair=[FAIR] * 12, mine=[LEFT] * 12)
    assert "6.0 of fair and 2.0 of mine" in heading(found)
    assert "evenhand compare compares systems at equal length" in heading(found)


def test_sets_scored_under_one_system_only_are_counted_out_of_the_pair():
    found = differences(audit(6, fair=[FAIR] * 5 + [""], mine=[LEFT, None, LEFT, LEFT, LEFT, LEFT]))
    bur = found["BUR (words)", None]
    assert (bur.n, bur.left_out, bur.estimate) == (4, 2, 1.0)


def test_a_system_does_not_differ_from_itself():
    texts = [FAIR, LEFT, RIGHT, LEFT, FAIR]
    found = audit(5, one=texts, other=texts)
    assert {(d.estimate, d.p_value, d.verdict) for d in found.differences} == {(0.0, 1.0, "no clear difference")}
    assert [each.verdict for each in found.votes] == ["no clear difference"]


def test_a_value_of_too_few_sets_is_not_tested():
    found = differences(audit(2, fair=[FAIR] * 2, mine=[LEFT] * 2))
    assert ("BUR (words)", None) in found
    assert not any(value for _, value in found)


def test_for_a_mean_over_sets_the_test_is_the_sign_flip():
    one = [FAIR, LEFT, RIGHT, FAIR, FAIR, LEFT, FAIR]
    other = [LEFT, LEFT, FAIR, LEFT, LEFT, LEFT, LEFT]
    # BUR of a set is 0 where the summary is fair, else 1
    changes = [float(b != FAIR) - float(a != FAIR) for a, b in zip(one, other, strict=True)]
    expected = sign_flip_p_value(changes, [str(k) for k in range(7)], PLAN.bootstrap)
    bur = differences(audit(7, fair=one, mine=other))["BUR (words)", None]
    assert bur.p_value == pytest.approx(expected)


def test_exchange_worked_by_hand_where_the_measure_is_no_mean():
    # shortfalls of left and right in three sets, (1/2, 0) against (0, 0): SOF 1/4 against 0. With one set exchanged it is 1/6
    # against 1/12: of 8 patterns 2 differ by 1/4, the others by 1/12
    sources = [Masses((1.0, 1.0), (1.0, 1.0), ("left", "right"))] * 3
    biased = [Masses((1.0, 1.0), (0.0, 1.0), ("left", "right"))] * 3
    assert p_values(SHARES, sources, biased, "SOF (words)") == (pytest.approx(1 / 4), pytest.approx(2 / 8))
    # (1/2, 0) and (0, 1/2) against (0, 0) twice: SOF 0 under both, which every pattern reaches
    turned = [biased[0], Masses((1.0, 1.0), (1.0, 0.0), ("left", "right"))]
    assert p_values(SHARES, sources[:2], turned, "SOF (words)") == (pytest.approx(0), 1.0)


SHARES = shares_of(("left", "right"))
THREE = ("a", "b", "c")
LABELS = (0, 0, 0, 1, 1, 1, 2, 2)


def p_values(family, one, other, measure, seed=0, resamples=100):
    measured = [Measured(family, name, (), family.figures(found)) for name, found in (("one", one), ("other", other))]
    bootstrap = Bootstrap(level=0.95, resamples=resamples, seed=seed)
    found = paired_differences(measured, ["one", "other"], bootstrap, 1)
    return next((d.estimate, d.p_value) for d in found if (str(d.measure), d.value) == (measure, None))


def random_masses(generator):
    sources = generator.integers(30, 80, size=(40, 3))
    return [
        [
            Masses(tuple(map(float, s)), tuple(map(float, generator.multinomial(20, s / s.sum()))), THREE)
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


@pytest.mark.parametrize(
    ("family", "pair", "measure"),
    [
        (shares_of(THREE), random_masses, "SOF (words)"),
        (UnitCoverage(open_entailer(EntailerSection(kind="words")), ATTRIBUTE, THREE, "released"), random_coverage,
         "Coverage Parity (words)"),
    ],
)  # fmt: skip
def test_systems_that_do_not_differ_are_rarely_told_apart_by_measures_of_absolute_gaps(family, pair, measure):
    # of 150 pairs of equal systems 7.5 have p up to 0.05 where p-values are uniform; sign flips of jackknife values find 20
    generator = np.random.default_rng(7)
    found = [p_values(family, *pair(generator), measure, seed=k)[1] for k in range(150)]
    assert sum(p <= 0.05 for p in found) < 12


def test_which_system_is_the_reference_does_not_matter():
    generator = np.random.default_rng(1)
    one, other = (system[:6] for system in random_masses(generator))
    family = shares_of(THREE)
    (estimate, p), (turned, same) = (p_values(family, *pair, "SOF (words)") for pair in ((one, other), (other, one)))
    assert (turned, same) == (pytest.approx(-estimate), p)


def test_a_pattern_that_leaves_nothing_to_compare_counts_as_differing():
    # gender words of two sets, female and male: sources 2 and 2; one: 1, 0; other: 0, 1 and no word in the second set.
    # Nothing is exchanged, or both: |1/2 - 1/2| = 0. Every pattern is as far as the 0 that was found.
    words = ListedWords(WordLists())
    spoken = [make_set(f"set-{k}", ("left", "She saw him.")) for k in range(2)]
    given = make_input(spoken, one=["She.", "Rain."], other=["Rain.", "He."])
    (found,) = build_audit(given, PLAN, [words]).differences
    assert (found.estimate, found.p_value, found.verdict) == (pytest.approx(0.0), 1.0, "no clear difference")


def test_a_single_set_has_no_test():
    found = differences(audit(1, fair=[FAIR], mine=[LEFT]))["BUR (words)", None]
    assert (found.estimate, found.p_value, found.adjusted, found.verdict) == (1.0, None, None, "no clear difference")


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
    assert {each.n for each in paired_differences([one, other], ["one", "other"], PLAN.bootstrap, 1)} == {3}
