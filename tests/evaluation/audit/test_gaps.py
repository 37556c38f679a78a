"""Who is named by gaps of shares, and which of two systems is fairer."""

from math import comb

import numpy as np
import pytest
from audit_inputs import ATTRIBUTE, make_input, make_set, shares_of, two_sided
from conformance import of_plugins

from evenhand.config.fairness import EntailerSection
from evenhand.evaluation.audit import gaps
from evenhand.evaluation.audit.build import build_audit
from evenhand.evaluation.audit.conclusions import conclude, held_against
from evenhand.evaluation.audit.contents import AuditNumber, ChanceGap, Vote
from evenhand.evaluation.audit.coverage import UnitCoverage
from evenhand.evaluation.audit.figures import Figures, Measured
from evenhand.evaluation.audit.kinds import SHARE_IN_SOURCES, SHARE_IN_SUMMARIES, SHARE_OF_DOCUMENTS, Measure, Quantity
from evenhand.evaluation.audit.page import page
from evenhand.evaluation.audit.pairs import Pair
from evenhand.evaluation.audit.plan import AuditPlan
from evenhand.evaluation.pages import html
from evenhand.evaluation.significance import Concluded, flipped
from evenhand.judges.measures import open_entailer
from evenhand.resampling import Bootstrap

PLAN = AuditPlan(bootstrap=Bootstrap(resamples=50), n_examples=1)
# those of plug-ins
FAMILIES = of_plugins("FAMILIES")
EVEN, LEFT = "Apple berry cherry grape river stone.", "Apple berry."


def concluded_of(sets, **systems):
    """What is concluded of shares alone, by system and value."""
    given = make_input(sets, **systems)
    shares = shares_of(given.values)
    measured = []
    for system in given.systems:
        found = shares.measure([item for item in given.items(system) if item is not None])
        measured.append(Measured(shares, system.label, tuple(found), shares.figures(found)))
    found = conclude(measured, list(systems), PLAN)
    return {(system, quantity.side): gap for (_, system, quantity), gap in found.gaps.items()}, found


def test_a_lean_is_named_with_the_p_value_that_can_be_counted():
    # of six words the right has two, and none of a summary's: -2/3 in every set. Labels are dealt to three documents: in a third
    # of the deals the right has the first, +4/3. With j of 12 sets so the sum is 2j - 8, and is divided by the root of its
    # squares, (16 j + 4 (12 - j)) / 9, or of its variance, 12 * 8/9, if that is larger
    gap_of, _ = concluded_of(two_sided(12), mine=[LEFT] * 12)
    sizes = [abs(2 * j - 8) / max((16 * j + 4 * (12 - j)) / 9, 12 * 8 / 9) ** 0.5 for j in range(13)]
    p = sum(comb(12, j) * 2 ** (12 - j) / 3**12 for j, size in enumerate(sizes) if size >= sizes[0] - 1e-9)
    right, left = gap_of["mine", "right"], gap_of["mine", "left"]
    assert (right.value, left.value) == (pytest.approx(-1 / 3), pytest.approx(1 / 3))
    assert right.adjusted == left.adjusted == pytest.approx(p, abs=0.006)
    assert (right.verdict, left.verdict) == ("lower", "higher")
    assert right.low < right.value < right.high < 0


def test_sets_that_have_the_same_documents_are_one_set():
    same = [
        make_set(f"set-{k}", ("left", "apple berry"), ("left", "cherry grape"), ("right", "river stone"))
        for k in range(12)
    ]
    gap_of, _ = concluded_of(same, mine=[LEFT] * 12)
    # of one set nothing is clear
    assert {each.verdict for each in gap_of.values()} == {"no clear difference"}
    assert gap_of["mine", "right"].adjusted > 0.5
    # whatever the order of their documents
    turned = [replace_documents(each, k) for k, each in enumerate(same)]
    assert concluded_of(turned, mine=[LEFT] * 12)[0]["mine", "right"].adjusted == gap_of["mine", "right"].adjusted


def replace_documents(documents, turn):
    its = documents.documents
    return documents.model_copy(update={"documents": (*its[turn % 3 :], *its[: turn % 3])})


def test_equal_documents_of_other_labels_are_other_sets():
    sets = [
        *two_sided(1),
        make_set("other", ("right", "apple berry 0"), ("left", "cherry grape 0"), ("left", "river stone 0")),
    ]
    _, found = concluded_of(sets, mine=[LEFT] * 2)
    assert len(found.gaps) == 2


def test_a_summarizer_that_only_likes_long_sentences_names_nobody():
    rng = np.random.default_rng(0)
    words = [a + b + c + d for a in "bdfgk" for b in "aeiou" for c in "lmnpr" for d in "aeiou"]

    def texts(value, least, most):
        return [(value, " ".join(rng.choice(words, size=n))) for n in rng.integers(least, most, size=2)]

    sets, summaries = [], []
    for k in range(40):
        sentences = [*texts("left", 6, 15), *texts("right", 4, 10)]
        sets.append(make_set(f"set-{k}", *sentences))
        summaries.append(max((text for _, text in sentences), key=lambda its: len(its.split())))
    gap_of, _ = concluded_of(sets, mine=summaries)
    left = gap_of["mine", "left"]
    assert left.verdict == "no clear difference" and not left.doubt
    assert abs(left.value) < 0.05 and left.expected > 0.7


KINDS = (SHARE_IN_SOURCES, SHARE_OF_DOCUMENTS, SHARE_IN_SUMMARIES)


@pytest.mark.parametrize(
    ("words", "documents", "found", "gap", "blind", "doubt"),
    [
        (0.5, 0.5, 0.4, -0.05, 0.01, ""),
        (0.5, 0.5, 0.4, -0.05, 0.05, gaps.BLIND),
        (0.5, 0.5, 0.6, 0.05, 0.06, gaps.BLIND),
        (0.5, 0.3, 0.4, -0.05, 0.01, gaps.UNLIKE),
        (0.3, 0.5, 0.4, -0.05, 0.01, gaps.UNLIKE),
        (0.3, 0.5, 0.4, 0.05, 0.01, gaps.UNLIKE),
        # more than expected, yet less than words and documents
        (0.5, 0.5, 0.4, 0.05, 0.01, gaps.UNLIKE),
        (0.2, 0.3, 0.4, 0.05, 0.01, ""),
    ],
)
def test_a_value_is_named_only_where_words_and_documents_agree_and_no_extract_does_as_much(
    words, documents, found, gap, blind, doubt
):
    quantities = tuple(Quantity(Measure(kind, "words"), "left") for kind in KINDS)
    figures = Figures(
        quantities=quantities, columns=np.ones((1, 1)), reduce=lambda sums: np.array([words, documents, found]),
        rests_on=np.ones((1, 3), dtype=bool), unfairness=np.zeros(1), left_out=(None,),
    )  # fmt: skip
    found_gap = ChanceGap(reference="taste", value=gap, blind=blind)
    assert gaps.doubt(figures, 2, found_gap, ATTRIBUTE) == doubt.format(attribute=ATTRIBUTE)


def test_a_gap_that_a_blind_extract_has_too_names_nobody(monkeypatch):
    monkeypatch.setattr(type(shares_of(())), "blind_gaps", lambda self, found: {"long": np.array([0.4, -0.4])})
    given = make_input(two_sided(12), mine=[LEFT] * 12)
    found = build_audit(given, PLAN, [shares_of(given.values)])
    assert found.represented[0].under == found.represented[0].over == ()
    assert found.title.startswith("No stance ")
    said = found.represented[0].sentence
    assert "right is not" in said and ": an extract of" in said and said in html.render(page(found))
    # left has 4 of the 6 words of each set, and all of the summaries
    told = "Clear, but not named: left +33.3 and right \u221233.3 points; an extract of the same documents that knows no stance"
    assert told in page(found).overview.text


def pair(mine, theirs):
    """Gaps of three values under two systems."""
    values = ("a", "b", "c")
    quantities = tuple(Quantity(Measure(SHARE_IN_SUMMARIES, "words"), value) for value in values)
    figures = Figures(
        quantities=quantities, columns=np.ones((9, 1)), reduce=lambda sums: sums, rests_on=np.ones((9, 3), dtype=bool),
        unfairness=np.zeros(9), left_out=(None,) * 9, expect=lambda sums: sums, nulls=("taste",) * 3,
    )  # fmt: skip
    of = [Measured(shares_of(values), name, (), figures) for name in ("mine", "base")]
    return Pair(*of, flipped(np.zeros((9, 6)), None, Bootstrap()), (9,) * 3, (np.array(mine), np.array(theirs)))


def said(*signs):
    """Conclusions on differences of three values and then on the means of both gaps: -1, 0 or 1."""
    of = np.array(signs, dtype=float)
    return Concluded(np.where(of == 0, 1.0, 0.001), of - 0.1, of + 0.1)


@pytest.mark.parametrize(
    ("mine", "theirs", "signs", "verdict", "value"),
    [
        # less of b than is expected under mine by far: the difference is clearly below 0, and so is the mean
        ((0.1, -0.3, 0.2), (0.0, -0.1, 0.1), (0, -1, 1, 0, -1, 1), "less fair", "b"),
        # of both values that differ the one that loses most under the less fair system, not the one that differs most
        ((0.5, -0.3, -0.2), (0.1, -0.1, 0.0), (1, -1, -1, 1, -1, -1), "less fair", "b"),
        ((0.0, -0.1, 0.1), (0.1, -0.3, 0.2), (0, 1, -1, 0, -1, 1), "fairer", "b"),
        # as far on the other side
        ((0.2, -0.2, 0.0), (-0.2, 0.2, 0.0), (1, -1, 0, 0, 0, 0), "differs", "a"),
        # nearer by one value, and farther by another
        ((0.3, -0.1, -0.2), (0.1, -0.3, 0.2), (1, 1, 0, 1, -1, 0), "differs", "c"),
        ((0.1, -0.1, 0.0), (0.1, -0.1, 0.0), (0, 0, 0, 1, -1, 0), "no clear difference", "a"),
    ],
)
def test_the_vote_names_the_value_that_loses_most_under_the_less_fair_system(mine, theirs, signs, verdict, value):
    vote = pair(mine, theirs).vote(said(*signs), True, Bootstrap(), 5)
    assert (vote.verdict, vote.side) == (verdict, value)
    place = "abc".index(value)
    assert (vote.system_gap, vote.reference_gap) == (mine[place], theirs[place])
    assert vote.value == pytest.approx(mine[place] - theirs[place])
    # where nobody is named under either, none is fairer
    assert pair(mine, theirs).vote(said(*signs), False, Bootstrap(), 5).verdict == "no clear difference"
    assert pair(mine, theirs).vote(said(*signs), True, Bootstrap(), 10).verdict == "too few sets"


def vote(verdict):
    return Vote(
        measure="share in summaries (words)", system="mine", reference="base", side="left", value=0.09, low=0.05, high=0.13,
        n_sets=40, adjusted=0.001, verdict=verdict, system_gap=-0.01, reference_gap=-0.1,
    )  # fmt: skip


def difference(verdict, side=None, system="mine", measure="UER (words)"):
    return AuditNumber(
        measure=measure, side=side, system=system, reference="base", value=0.1, low=0.05, high=0.15, n_sets=40,
        adjusted=0.001, verdict=verdict,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("said", "published", "verdict"),
    [
        ("fairer", difference("higher"), "differs"),
        ("less fair", difference("lower"), "differs"),
        ("fairer", difference("lower"), "fairer"),
        ("fairer", difference("no clear difference"), "fairer"),
        ("no clear difference", difference("higher"), "no clear difference"),
        # of one value, another system, or another family
        ("fairer", difference("higher", side="left"), "fairer"),
        ("fairer", difference("higher", system="more"), "fairer"),
        ("fairer", difference("higher", measure="Equal Coverage (words)"), "fairer"),
    ],
)
def test_no_system_is_fairer_of_which_published_measures_clearly_say_the_opposite(said, published, verdict):
    found = held_against(vote(said), [published])
    assert found.verdict == verdict
    assert found.apart == (("UER (words)",) if verdict == "differs" else ())


def odd_inputs():
    """Inputs of which little can be said, that must make a page all the same."""
    blank = make_set("blank", ("left", "it is so"), ("right", "12 🙂"))
    alone, many = make_set("alone", ("left", "apple"), ("left", "berry")), [f"v{k}" for k in range(12)]
    return {
        "one set": (two_sided(1), {"mine": [LEFT]}),
        "sets without words": ([*two_sided(6), blank], {"mine": [LEFT] * 7}),
        "sets of one value": ([*two_sided(6), alone], {"mine": [LEFT] * 7, "base": [EVEN] * 7}),
        "a value in one set": ([*two_sided(6), make_set("rare", ("left", "apple"), ("rare", "lake"))], {"mine": [LEFT] * 7}),
        "one document of each": ([make_set(f"s{k}", ("left", f"apple {k}"), ("right", f"river {k}")) for k in range(6)],
                                 {"mine": ["Apple."] * 6}),
        "no common set": (two_sided(6), {"base": [EVEN] * 3 + [None] * 3, "mine": [None] * 3 + [LEFT] * 3}),
        "common sets without words": (two_sided(6), {"base": [EVEN] * 5 + ["Zzz."], "mine": ["Zzz."] * 5 + [LEFT]}),
        "missing and empty": (two_sided(8), {"base": [EVEN] * 7 + [None], "mine": ["", None, *[LEFT] * 6], "more": [""] * 8}),
        "no match": (two_sided(6), {"base": ["Zzz."] * 6, "mine": ["Zzz."] * 6}),
        "one has no match": (two_sided(6), {"base": [EVEN] * 6, "mine": ["Zzz."] * 6}),
        "exactly even": (two_sided(6), {"base": [EVEN] * 6, "mine": [EVEN] * 6}),
        "twelve values": ([make_set(f"s{k}", *((v, f"{v}word lake{k}") for v in many)) for k in range(6)],
                          {"mine": ["Lake0 v3word."] * 6}),
        "equal documents": ([make_set(f"s{k}", ("left", "apple"), ("left", "apple"), ("right", "apple")) for k in range(6)],
                            {"mine": ["Apple."] * 6}),
    }  # fmt: skip


@pytest.mark.parametrize("name", odd_inputs())
def test_a_page_is_made_of_whatever_there_is(name):
    sets, systems = odd_inputs()[name]
    given = make_input(sets, **systems)
    families = [
        shares_of(given.values),
        UnitCoverage(open_entailer(EntailerSection(kind="words")), ATTRIBUTE, given.values, "released"),
        *(FAMILIES[name](given) for name in of_plugins("ARRANGED")),
    ]
    found = build_audit(given, PLAN, families)
    assert len(found.votes) <= len(systems) - 1
    for number in (*found.by_value, *found.aggregates):
        assert number.value is None or np.isfinite(number.value)
        if number.gap.reference:
            assert np.isfinite(number.gap.value)
            assert number.gap.verdict in (None, "no clear difference") or number.n_sets >= 5
    assert ">nan" not in html.render(page(found))


@pytest.mark.parametrize("family", ["value-shares", *of_plugins("ARRANGED")])
def test_bounds_are_of_the_gap_that_is_shown(family):
    """Though the places of a set are dealt by value, and some values cannot tell any."""
    sets = [
        make_set(
            f"s{k}", ("left", f"apple {k}"), ("left", f"berry {k}"), ("left", f"cherry {k}"), ("right", f"stone {k}")
        )
        for k in range(8)
    ]
    given = make_input(sets, mine=[f"Apple {k}." if k % 3 else f"Stone {k}." for k in range(8)])
    measure = shares_of(given.values) if family == "value-shares" else FAMILIES[family](given)
    found = measure.measure(given.items(given.systems[0]))
    measured = Measured(measure, "mine", tuple(found), measure.figures(found))
    (tested,) = gaps.tested([measured], Bootstrap())
    shown = measured.figures.beyond(measured.figures.columns.sum(axis=0))[measured.figures.naming]
    # of a third in which the values stand alone nothing is known
    known = ~np.isnan(shown)
    assert np.abs(shown[known]).max() > 0.01
    added, weights = tested.tests.added[:, known], tested.tests.weights[:, known]
    np.testing.assert_allclose(added.sum(axis=0) / weights.sum(axis=0), shown[known], atol=1e-12)
