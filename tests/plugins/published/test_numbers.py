"""What papers report beside their measures, against the functions and by hand."""

import pytest
from audit_inputs import make_input, make_set

from evenhand.config.fairness import EntailerSection, MatcherSection
from evenhand.evaluation.audit.build import build_audit
from evenhand.evaluation.audit.coverage import MOST_SENTENCES
from evenhand.evaluation.audit.families import families, open_tools
from evenhand.evaluation.audit.plan import AuditPlan
from evenhand.fairness.groups.masses import pack
from evenhand.fairness.groups.shares import area, unfair_by_cutoff
from evenhand.plugins.published.numbers import PublishedOptions, matrices
from evenhand.resampling import Bootstrap

TEXTS = {
    "left": ("Apple berry.", "Cherry grape.", "Melon plum."),
    "right": ("River stone.", "Cloud rain.", "Sand dune."),
}
# of the left, one of the right, or as many of both
COUNTS = [(3, 1), (3, 2), (1, 3), (2, 2)]
SETS = [
    make_set(f"set-{k}", *[("left", t) for t in TEXTS["left"][:n]], *[("right", t) for t in TEXTS["right"][:m]])
    for k, (n, m) in enumerate(COUNTS)
]
ONE_SIDED = ["Apple berry. Cherry grape. River stone."] * len(SETS)


def audited(**options):
    given = make_input(SETS, ours=ONE_SIDED)
    plan = AuditPlan(
        measures=("value-shares", "coverage"),
        options={"published": PublishedOptions(**options)},
        bootstrap=Bootstrap(resamples=200),
    )
    tools = open_tools(given, plan, MatcherSection(kind="words"), EntailerSection(kind="words"))
    own = families(given, plan, tools)
    return build_audit(given, plan, own), own, given


def rows(found, measure):
    return {(each.how, each.side): each for each in found.beside if each.measure == f"{measure} (words)"}


@pytest.fixture(scope="module")
def all_of_it():
    return audited(published=True, bounds=True)


def test_nothing_of_it_stands_in_an_audit_that_does_not_ask(all_of_it):
    found, *_ = audited()
    assert found.beside == ()
    assert (found.aggregates, found.title) == (all_of_it[0].aggregates, all_of_it[0].title)


def test_area_is_over_the_released_cut_offs(all_of_it):
    found, (shares, _), given = all_of_it
    masses = [each.masses for each in shares.measure(given.items(given.systems[0]))]
    expected = area(unfair_by_cutoff(pack(masses)).mean(axis=1))
    assert rows(found, "AUC")["over the released cut-offs", None].value == pytest.approx(expected)


def test_most_over_and_under_represented_values_have_their_p(all_of_it):
    over, under = (
        next(
            row
            for (how, _), row in rows(all_of_it[0], "coverage difference").items()
            if how == f"most {which}-represented"
        )
        for which in ("over", "under")
    )
    # two of three units are the left's in every set but one
    assert (over.side, under.side) == ("left", "right")
    assert over.value > 0 > under.value
    # one-sided, so below one half on the side that a value leans to
    assert over.p_value < 0.5
    assert under.p_value < 0.5


def test_measures_by_the_value_that_has_most_documents_leave_ties_out(all_of_it):
    found = rows(all_of_it[0], "Equal Coverage")
    mine = {value: row for (how, value), row in found.items() if how == "where it has most documents"}
    assert {value: row.n_sets for value, row in mine.items()} == {"left": 2, "right": 1}
    whole = next(n for n in all_of_it[0].aggregates if n.measure == "Equal Coverage (words)")
    tie = 4 * whole.value - 2 * mine["left"].value - mine["right"].value
    # of the set of two and two: units of the left are covered by 1/2 of its documents, as 1/2 of 3 units
    assert tie == pytest.approx(0.0833, abs=1e-3)
    # a single set has nothing to resample
    assert mine["right"].low is None
    assert mine["left"].gap.expected is not None


def test_reachable_measures_are_those_of_as_many_sentences(all_of_it):
    for measure in ("Equal Coverage", "Coverage Parity"):
        found = rows(all_of_it[0], measure)
        low, high = (found[f"{which} found with 3 sentences", None] for which in ("lowest", "highest"))
        assert 0 <= low.value < high.value
        assert (low.n_sets, high.n_sets) == (4, 4)


def test_of_very_long_sets_as_many_sentences_are_asked_for_what_is_reachable_as_for_the_chance_level(all_of_it):
    _, (_, coverage), _ = all_of_it
    texts = [" ".join(f"Word{k}{side}." for k in range(200)) for side in ("a", "b")]
    given = make_input([make_set("long", ("left", texts[0]), ("right", texts[1]))], mine=["Word1a."])
    n_documents, n_sentences = matrices(coverage, given)["long"].shape
    assert n_documents == 2
    assert 0 < n_sentences <= MOST_SENTENCES
