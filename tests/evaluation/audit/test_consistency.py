"""No sentence of an audit contradicts another, whatever the documents and the summaries."""

import re
from collections import Counter

import numpy as np
import pytest
from audit_inputs import ATTRIBUTE, make_input, make_set, shares_of

from evenhand.benchmarks.calibration import Corpus, coverage, drawn_sets, shares, summary
from evenhand.config.fairness import MatcherSection
from evenhand.evaluation.audit.build import build_audit
from evenhand.evaluation.audit.findings import MOST_WORDS
from evenhand.evaluation.audit.kinds import SHARE_IN_SOURCES, SHARE_OF_DOCUMENTS
from evenhand.evaluation.audit.page import page
from evenhand.evaluation.audit.plan import AuditPlan
from evenhand.evaluation.pages.blocks import tables
from evenhand.judges.measures import open_matcher
from evenhand.resampling import NOISE, Bootstrap
from evenhand.text import sentences

N_AUDITS = 60
PLAN = AuditPlan(bootstrap=Bootstrap(level=0.95, resamples=20, seed=0), least_group=5, n_examples=5)
WORDS = open_matcher(MatcherSection(kind="words"))
VALUES = ("alpha", "beta", "gamma", "delta")
VERDICTS = {"fairer", "less fair", "differs", "no clear difference", "too few sets"}


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


def named(sentence):
    """Whom a claim calls represented less, and whom more."""
    claim, than, _ = sentence.partition(" than documents written alike")
    if claim.startswith("No ") or not than:
        return set(), set()
    verb = "(?:is|are) represented"
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
            of_whom = [v for d, v in starts if d.startswith(f"{v} has")]
            assert of_whom == [*each.under, *each.over]
            levels = {n.side: n for n in audit.by_value if n.system == each.system and n.measure == each.measure}
            assert {v for v, n in levels.items() if n.gap.reference and n.gap.verdict == "lower"} == under
            assert {v for v, n in levels.items() if n.gap.reference and n.gap.verdict == "higher"} == over
            # who is represented less has a smaller share than is expected
            assert all(levels[v].value < levels[v].gap.expected for v in under)
            assert all(levels[v].value > levels[v].gap.expected for v in over)
            # nobody by what an extract that knows no value has too, nor where words and documents point apart
            assert all(abs(levels[v].gap.value) > levels[v].gap.blind for v in under | over)
            rows = {(n.kind, n.side): n.value for n in audit.by_value if n.system == each.system}
            for due in (SHARE_IN_SOURCES, SHARE_OF_DOCUMENTS):
                assert all(rows[due, v] > levels[v].value for v in under)
                assert all(rows[due, v] < levels[v].value for v in over)
            doubted = {v for v, n in levels.items() if n.gap.reference and n.gap.doubt}
            assert not doubted & (under | over)
            assert {v for v in VALUES if f"{v} is not named, though its gap is clear" in each.sentence} == doubted
            n_named += len(under | over)
    # else there was nothing to contradict
    assert n_named > N_AUDITS / 2, n_named


def test_the_headline_of_one_system_names_whom_it_represents_less_or_more(audits):
    alone = [audit for audit in audits if len(audit.systems) == 1]
    n_named = 0
    for audit in alone:
        (shares,) = (each for each in audit.represented if each.family == "value-shares")
        whom = shares.under or shares.over
        told = re.fullmatch(r"(\w+) gets ([\d.]+) % .*; ([\d.]+) % .*", audit.title)
        if told is None:
            # nobody, too few sets, or gaps that are too small for a headline
            first = sentences(shares.sentence)[0]
            assert audit.title == first.removesuffix(".") or audit.title.startswith("Too few sets") or whom
            assert not whom or audit.title.startswith("No gap ")
            continue
        n_named += 1
        # the one who is farthest below what is expected, or above it, by the very numbers that stand below
        value, here, expected = told.groups()
        assert value == whom[0]
        detail = shares.details[0]
        assert f"{here} % of" in detail and f"{expected} % would" in detail
        assert (float(here) < float(expected)) == bool(shares.under)
    assert 0 < n_named < len(alone)


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
            assert f" summaries of {mine[0].set_id}" in said
            for each in mine:
                assert each.is_gap
                assert each.measure.startswith(f"gap of {first} to")
                assert each.unfairness <= NOISE if found.under else each.unfairness >= -NOISE
                assert not set(each.left_out) & set(found.over[:1]), (audit.title, each)
                assert set(each.left_out) <= set(found.under) or not found.under
                assert first in each.left_out or not found.under or abs(each.unfairness) <= NOISE
                n_shown[bool(found.under)] += 1
    assert min(n_shown.values()) > 5, n_shown


def test_who_is_called_fairer_is_nearer_to_chance(audits):
    seen = Counter()
    for audit in audits:
        for vote in audit.votes:
            seen[vote.verdict] += 1
            if vote.verdict == "fairer":
                assert abs(vote.system_gap) < abs(vote.reference_gap)
            elif vote.verdict == "less fair":
                assert abs(vote.system_gap) > abs(vote.reference_gap)
            if vote.verdict in ("fairer", "less fair"):
                # by the value that loses most under the less fair system
                less_fair = vote.system if vote.verdict == "less fair" else vote.reference
                gaps = {n.side: n.gap.value for n in audit.by_value if n.system == less_fair and n.gap.reference}
                # over all sets of the system, of which the pair may have fewer
                assert gaps[vote.side] < 0
                assert not vote.apart
            if vote.verdict in ("fairer", "less fair", "differs"):
                assert vote.n_sets >= PLAN.least_group
    assert set(seen) == VERDICTS


def test_headline_and_table_have_the_same_verdicts(audits):
    n_told = 0
    for audit in audits:
        made = page(audit)
        assert made.title == f"{audit.title}."
        assert len(audit.title.split()) <= MOST_WORDS
        shown = [table for table in tables(made.body) if table.name == "which system is fairer"]
        place = [column.name for column in shown[0].columns].index("verdict") if shown else 0
        assert [row.cells[place].text for table in shown for row in table.rows] == [v.verdict for v in audit.votes]
        assert len(audit.votes) == len(audit.systems) - 1
        verdicts = {vote.system: vote.verdict for vote in audit.votes}
        if told := re.search(r"; (\w+) is (fairer|less fair)$", audit.title):
            assert verdicts[told[1]] == told[2]
        if told := re.search(r"; (\w+) is nearest$", audit.title):
            assert "fairer" in verdicts.values() or "less fair" in verdicts.values()
            assert verdicts.get(told[1]) in (None, "fairer")
        n_told += bool(told)
        if not {"fairer", "less fair"} & set(verdicts.values()):
            assert ";" not in audit.title or len(audit.systems) == 1
    assert n_told > 0


@pytest.mark.parametrize(("n", "is_named"), [(4, False), (12, True)])
def test_a_value_of_too_few_sets_is_not_named_however_many_sets_there_are(n, is_named):
    # beta is left out wherever it is: in 4 sets of 30 that is clear by the test, but few
    sets = [
        make_set(
            f"set-{k}",
            *(("alpha", f"apple berry {k}"), ("delta", f"lake pond {k}")),
            *((("beta", f"river stone {k}"),) if k < n else ()),
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
        if x.kind.is_share and not x.kind.is_difference and x.low is not None
    ]
    assert len(shares) > 1000
    outside = [(x.measure, x.low, x.high) for x in shares if x.low < 0 or x.high > 1]
    assert not outside, outside[:5]


def test_a_half_that_a_system_leaves_out_makes_it_less_fair_by_shares_alone():
    corpus, generator = Corpus((4, 4), 80, 0.3), np.random.default_rng(2)
    documents = drawn_sets(corpus, generator)
    systems = {
        name: [summary(its, "extract", generator, halved) for its in documents]
        for name, halved in (("fair", None), ("lean", "second"))
    }
    given = make_input(
        [make_set(f"s{k}", *((each.value, each.text) for each in its)) for k, its in enumerate(documents)], **systems
    )
    audit = build_audit(given, PLAN, [family(given.values) for family in (shares, coverage)])
    (vote,) = audit.votes
    # coverage has no vote; the value that loses is the one that is named
    assert (vote.family, vote.verdict, vote.side) == ("value-shares", "less fair", "second")
    assert re.fullmatch(r"lean gives second \d+ points less than .*; lean is less fair", audit.title)
    assert {each.family for each in audit.represented} == {"value-shares"}
