"""No sentence of an audit contradicts another, whatever the documents and the summaries."""

import re
from collections import Counter

import numpy as np
import pytest
from audit_inputs import ATTRIBUTE, make_input, make_set, shares_of

from evenhand.benchmarks.calibration import Corpus, coverage, drawn_sets, shares, summary
from evenhand.config.fairness import MatcherSection
from evenhand.evaluation.audit.build import build_audit
from evenhand.evaluation.audit.findings import FAMILIES, MORE_SETS
from evenhand.evaluation.audit.page import page
from evenhand.evaluation.audit.plan import AuditPlan
from evenhand.evaluation.pages.blocks import tables
from evenhand.judges.measures import open_matcher
from evenhand.resampling import NOISE, Bootstrap

N_AUDITS = 200
PLAN = AuditPlan(bootstrap=Bootstrap(level=0.95, resamples=20, seed=0), least_group=5, n_examples=5)
WORDS = open_matcher(MatcherSection(kind="words"))
VALUES = ("alpha", "beta", "gamma", "delta")
VERBS = {
    "fairer": "is fairer than",
    "less fair": "is less fair than",
    "differs": "differs from",
    "no clear difference": "does not clearly differ from",
}


def words(generator, value, n):
    """Words of one value, and some that all have."""
    return " ".join(
        f"{value}word{generator.integers(6)}" if generator.random() < 0.8 else f"common{generator.integers(3)}"
        for _ in range(n)
    )


def random_set(generator, name):
    """The first two values always, the others in some sets."""
    values = [v for k, v in enumerate(VALUES) if k < 2 or generator.random() < 0.2 / (k - 1)]
    return make_set(
        name, *((value, words(generator, value, 6)) for value in values for _ in range(generator.integers(1, 4)))
    )


def random_summary(generator, documents, leans):
    """Sentences of the documents' words, those of some values drawn more often."""
    weights = np.array([leans[VALUES.index(d.attributes[ATTRIBUTE])] for d in documents.documents])
    chosen = generator.choice(len(weights), size=generator.integers(2, 6), p=weights / weights.sum())
    return " ".join(f"{' '.join(generator.permutation(documents.documents[k].text.split())[:3])}." for k in chosen)


@pytest.fixture(scope="module")
def audits():
    """Of one to three systems that lean by chance, every other one by coverage as well."""
    found = []
    for seed in range(N_AUDITS):
        generator = np.random.default_rng(seed)
        sets = [random_set(generator, f"set-{k}") for k in range(generator.integers(3, 24))]
        leans = np.exp(generator.normal(scale=1.2, size=(1 + seed % 3, len(VALUES))))
        systems = {f"s{k}": [random_summary(generator, each, mine) for each in sets] for k, mine in enumerate(leans)}
        given = make_input(sets, **systems)
        by_shares = shares_of(given.values)
        found.append(build_audit(given, PLAN, [by_shares, *([coverage(given.values)] if seed // 3 % 2 else [])]))
    return found


def by_pair(votes):
    """By system and reference."""
    found = {}
    for vote in votes:
        found.setdefault((vote.system, vote.reference), []).append(vote)
    return found


def named(sentence):
    """Whom a claim calls represented less, and whom more."""
    claim, than, _ = sentence.partition(" than by summaries")
    if claim.startswith("No ") or not than:
        return set(), set()
    verb = "(?:is|are) (?:represented|covered)"
    who = re.fullmatch(rf"(?:(.+) {verb} less)?(?: and )?(?:(.+?)(?: {verb})? more)?", claim)
    under, over = ({value for value in VALUES if value in (part or "")} for part in who.groups())
    return under, over


def test_nobody_is_named_both_less_and_more_nor_without_enough_sets(audits):
    n_named = 0
    for audit in audits:
        for each in audit.represented:
            under, over, small = set(each.under), set(each.over), set(each.small)
            assert not under & over
            assert not small & (under | over), each.sentence
            assert named(each.sentence) == (under, over)
            # each of them with its numbers, in that order
            starts = [(d, v) for d in each.details for v in VALUES]
            of_whom = [v for d, v in starts if d.startswith((f"{v} has", f"The documents of {v} are covered"))]
            assert of_whom == [*each.under, *each.over]
            levels = {n.value: n for n in audit.by_value if n.system == each.system and n.measure == each.measure}
            assert {v for v, n in levels.items() if n.chance and n.chance.verdict == "lower"} == under
            assert {v for v, n in levels.items() if n.chance and n.chance.verdict == "higher"} == over
            # who is represented less has a smaller share than is expected
            assert all(levels[v].estimate < levels[v].chance.expected for v in under)
            assert all(levels[v].estimate > levels[v].chance.expected for v in over)
            n_named += len(under | over)
    # else there was nothing to contradict
    assert n_named > N_AUDITS / 2, n_named


def test_the_headline_of_one_system_names_whom_it_represents_less_or_more(audits):
    alone = [audit for audit in audits if len(audit.systems) == 1]
    for audit in alone:
        # whoever is named by a family, nobody reads that nobody is
        shares, *others = audit.represented
        assert shares.family == "value-shares"
        sides = [(set(found.under), set(found.over)) for found in audit.represented]
        # what happened to shares stands first, also where only coverage names somebody
        first, *further = audit.title.split(". ")
        if not any(sides[0]):
            assert f"{first}." == shares.sentence or shares.sentence.startswith(f"{first}. ")
            further = [said for said in further if "too few sets" not in said]
        else:
            # the one who is farthest below what is expected, or above it, by the very numbers that stand below
            claim, however, other = first.partition("; by coverage, however, ")
            assert shares.details[0].startswith(f"{claim}: a gap of")
            is_opposite = len(sides) > 1 and bool(sides[0][0] & sides[1][1] or sides[0][1] & sides[1][0])
            assert bool(however) == is_opposite
            assert {v for v in VALUES if v in other} <= (sides[0][0] | sides[0][1])
            if is_opposite:
                # whoever is not told by then is told behind it
                left = sides[1][0] - sides[0][1], sides[1][1] - sides[0][0]
                assert len(further) == any(left)
                assert not further or named(f"{further[0]}.") == left
                continue
        assert len(further) == sum(bool(found.under or found.over) for found in others)
        for said, found in zip(further, [found for found in others if found.under or found.over], strict=True):
            by = "" if any(sides[0]) else "By coverage, however, "
            assert said.startswith(by)
            assert named(f"{said.removeprefix(by)}.") == (set(found.under), set(found.over))
    assert {bool(audit.represented[0].under) for audit in alone} == {True, False}
    assert any(len(audit.represented) == 2 and not audit.represented[0].under for audit in alone)


def test_examples_show_what_the_page_says_of_whom(audits):
    n_shown = Counter()
    for audit in audits:
        shown = page(audit)
        for found in audit.represented:
            mine = [each for each in audit.examples if (each.system, each.family) == (found.system, found.family)]
            said = " ".join(prose.text for block in shown.findings for prose in block.items)
            gaps = [each.unfairness for each in mine]
            assert gaps == sorted(gaps, key=lambda gap: -abs(gap))
            if not (found.under or found.over):
                # whoever is farthest below what is expected in that summary, and nobody more than expected
                assert all(each.left_out and each.unfairness < 0 for each in mine)
                continue
            first = (found.under or found.over)[0]
            assert mine, audit.title
            assert f"Look first at the summaries of {mine[0].set_id}" in said
            for each in mine:
                assert each.is_gap
                assert each.measure.startswith(f"gap of {first} to what is expected")
                assert each.unfairness <= NOISE if found.under else each.unfairness >= -NOISE
                assert not set(each.left_out) & set(found.over[:1]), (audit.title, each)
                assert set(each.left_out) <= set(found.under) or not found.under
                assert first in each.left_out or not found.under or abs(each.unfairness) <= NOISE
                # the numbers beside the summary say the same
                sides = {side.name: side for side in each.sides}
                is_below = sides[first].summary < sides[first].source
                assert is_below == bool(found.under) or abs(each.unfairness) <= NOISE
                n_shown[bool(found.under)] += 1
    assert min(n_shown.values()) > 5, n_shown


def test_who_is_called_fairer_is_nearer_to_chance(audits):
    seen = Counter()
    for audit in audits:
        for vote in audit.votes:
            seen[vote.verdict] += 1
            if vote.verdict == "fairer":
                assert abs(vote.gap) < abs(vote.reference_gap)
            elif vote.verdict == "less fair":
                assert abs(vote.gap) > abs(vote.reference_gap)
            if vote.verdict in ("fairer", "less fair", "differs"):
                assert not vote.low < 0 < vote.high
                assert vote.adjusted <= 1 - PLAN.bootstrap.level
                assert vote.n >= PLAN.least_group
    assert set(seen) == {*VERBS, "too few sets"}


def test_headline_and_table_have_the_same_verdicts(audits):
    for audit in audits:
        made = page(audit)
        assert made.title == f"{audit.title}."
        said = audit.title.split("; ")
        for (system, reference), votes in by_pair(audit.votes).items():
            (told,) = (label for label in said if label.startswith((f"{system} ", "too few")) and system in label)
            verdicts = {vote.verdict for vote in votes}
            clear = verdicts & {"fairer", "less fair", "differs"}
            for verdict, verb in VERBS.items():
                is_said = verdict in (clear or verdicts)
                assert (f" {verb} {reference} by " in told) == is_said, (told, verdicts)
            is_unknown = verdicts == {"too few sets"}
            assert (
                told == f"too few sets {MORE_SETS} to say whether {system} is fairer than {reference}"
            ) == is_unknown
            # each family beside its verdict, and no other
            for vote in votes:
                of_verb = told.split(f" {VERBS.get(vote.verdict)} {reference} by ")[-1]
                assert (re.search(rf"\b{FAMILIES[vote.family]}\b", of_verb) is not None) or vote.verdict not in clear
        shown = [table for table in tables(made.body) if table.name == "which system is fairer"]
        place = [column.name for column in shown[0].columns].index("verdict") if shown else 0
        assert [row.cells[place].text for table in shown for row in table.rows] == [v.verdict for v in audit.votes]
        families = {vote.family for vote in audit.votes}
        assert len(audit.votes) == (len(audit.systems) - 1) * len(families)


@pytest.mark.parametrize(("n", "is_named"), [(4, False), (12, True)])
def test_a_value_of_too_few_sets_is_not_named_however_many_sets_there_are(n, is_named):
    # beta is left out wherever it is: in 4 sets of 30 that is clear by the test, but few
    sets = [
        make_set(
            f"set-{k}", ("alpha", "apple berry"), ("delta", "lake pond"), *((("beta", "river stone"),) if k < n else ())
        )
        for k in range(30)
    ]
    given = make_input(sets, mine=["Apple lake berry pond."] * 30)
    shares = shares_of(given.values)
    (found,) = build_audit(given, PLAN, [shares]).represented
    assert (("beta" in found.under), ("beta" in found.small)) == (is_named, not is_named)


def test_intervals_of_shares_end_where_shares_end(audits):
    shares = [
        x
        for a in audits
        for x in (*a.by_value, *a.aggregates)
        if x.is_share and not x.measure.kind.is_difference and x.low is not None
    ]
    assert len(shares) > 1000
    outside = [(x.measure, x.low, x.high) for x in shares if x.low < 0 or x.high > 1]
    assert not outside, outside[:5]


def test_shares_and_coverage_have_a_vote_each_and_the_headline_has_both():
    corpus, generator = Corpus((4, 4), 30, 0.3), np.random.default_rng(2)
    documents = drawn_sets(corpus, generator)
    systems = {
        name: [summary(its, "extract", generator, halved) for its in documents]
        for name, halved in (("fair", None), ("lean", "second"))
    }
    given = make_input(
        [make_set(f"s{k}", *((each.value, each.text) for each in its)) for k, its in enumerate(documents)], **systems
    )
    audit = build_audit(given, PLAN, [family(given.values) for family in (shares, coverage)])
    # of two values one has what the other lacks
    assert [(each.family, each.verdict) for each in audit.votes] == [
        ("value-shares", "less fair"),
        ("coverage", "less fair"),
    ]
    assert re.match(r"lean is less fair than fair by shares \(\w+: .*\) and coverage \(\w+: ", audit.title)
    (shown,) = (table for table in tables(page(audit).body) if table.name == "which system is fairer")
    assert len(shown.rows) == 2
