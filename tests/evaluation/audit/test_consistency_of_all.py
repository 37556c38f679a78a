"""No sentence of an audit contradicts another where all families, orders of the documents and several systems stand on a page."""

import re
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from audit_inputs import ATTRIBUTE, make_input, make_set, shares_of
from conformance import of_plugins

from evenhand.benchmarks.calibration import SYLLABLES, coverage
from evenhand.config.fairness import MatcherSection
from evenhand.evaluation.audit.build import build_audit
from evenhand.evaluation.audit.families import measure_names
from evenhand.evaluation.audit.findings import MOST_WORDS
from evenhand.evaluation.audit.page import page
from evenhand.evaluation.audit.plan import AuditPlan
from evenhand.evaluation.pages.blocks import Items, Prose, tables
from evenhand.judges.measures import open_matcher
from evenhand.resampling import Bootstrap

pytestmark = pytest.mark.slow
N_AUDITS = 120
PLAN = AuditPlan(bootstrap=Bootstrap(level=0.95, resamples=40, seed=0), least_group=5, n_examples=2)
WORDS = open_matcher(MatcherSection(kind="words"))
VALUES = ("alpha", "beta", "gamma")
LISTED = {"female": ("she", "her", "woman"), "male": ("he", "his", "man")}
# families of which none is there in some audits; opinions take longest
BROUGHT = of_plugins("FAMILIES")
OPTIONAL = tuple(name for name in measure_names() if name in ("coverage", *BROUGHT))
# those that ask what gaps follow where one summarizer had the documents in several orders: what they must say of it
ARRANGED = of_plugins("ARRANGED")
VERBS = {
    "value-shares": ("represented", "less", "more", VALUES),
    **of_plugins("SAID"),
}


def text(generator, value, tone):
    """Words of one value, of all, of the document alone, of a gender and of praise or blame, in two sentences."""
    listed = LISTED[list(LISTED)[VALUES.index(value) % 2 if generator.random() < 0.8 else 0]]
    words = [f"{value}word{generator.integers(6)}" for _ in range(5)] + [
        f"common{generator.integers(4)}" for _ in range(3)
    ]
    words += [str(generator.choice(listed)) for _ in range(2)] + [
        f"own{SYLLABLES[generator.integers(70)]}{SYLLABLES[generator.integers(70)]}" for _ in range(14)
    ]
    words += [f"{'good' if generator.random() < tone else 'bad'}{generator.integers(3)}" for _ in range(2)]
    words = [str(word) for word in generator.permutation(words)]
    return f"{' '.join(words[:13])}. {' '.join(words[13:])}."


def turned(n, turn):
    """Where each of n documents stands when a set begins with another third of them."""
    return tuple((place - turn * n // 3) % n for place in range(n))


def random_set(generator, name):
    n = {value: generator.integers(2, 4) for value in VALUES[: generator.integers(2, 4)]}
    texts = [
        (value, text(generator, value, 0.7 if value == "alpha" else 0.3)) for value, k in n.items() for _ in range(k)
    ]
    return make_set(name, *(texts[int(k)] for k in generator.permutation(len(texts))))


def random_summary(generator, documents, places, leans):
    """Sentences of the documents; values and thirds are preferred, blame and women added, by the system's leaning."""
    by_value, by_place, blame, women = leans
    weights = np.exp(
        [
            by_value[VALUES.index(each.attributes[ATTRIBUTE])] + by_place[3 * place // len(places)]
            for each, place in zip(documents.documents, places, strict=True)
        ]
    )
    said = []
    for k in generator.choice(len(weights), size=4, p=weights / weights.sum()):
        sentence = str(generator.choice(documents.documents[k].text.rstrip(".").split(". ")))
        if generator.random() < blame and documents.documents[k].attributes[ATTRIBUTE] == "beta":
            sentence = sentence.replace("good", "bad")
        if generator.random() < women:
            sentence = re.sub(r"\b(she|her|woman)\b", "he", sentence)
        said.append(f"{sentence}.")
    return " ".join(said)


def random_audit(seed):
    """Of one to three systems, or of three orders, by some of the families."""
    generator = np.random.default_rng(seed)
    are_orders = seed % 4 == 3 and bool(ARRANGED)
    has = {name for name in OPTIONAL if generator.random() < (0.2 if name == "opinions" else 0.5)} | (
        set(ARRANGED) if are_orders else set()
    )
    # where little else is tested a place is named as well
    is_of_places = seed % 10 == 4 and bool(ARRANGED)
    has = set(ARRANGED) if is_of_places else has
    n_sets = 60 if is_of_places else generator.integers(4, 12 if "opinions" in has else 60)
    sets = [random_set(generator, f"set-{k}") for k in range(n_sets)]
    places = {each.id: range(len(each.documents)) for each in sets}

    def drawn(scale):
        """One leaning in two is none."""
        return generator.normal(scale=scale, size=3) * generator.integers(0, 2)

    thirds = np.roll([4.0, 0.0, 0.0], seed) * (is_of_places or seed % 5 < 2)
    n_systems = 1 if is_of_places else 1 + seed % 3
    leans = [(drawn(2.0), thirds, generator.integers(2), generator.integers(2)) for _ in range(n_systems)]
    if are_orders:
        turns = [{name: turned(len(its), turn) for name, its in places.items()} for turn in range(3)]
        given = make_input(
            sets,
            **{
                f"turn-{turn}": [random_summary(generator, each, its[each.id], leans[0]) for each in sets]
                for turn, its in enumerate(turns)
            },
        )
        systems = [
            replace(s, places=its if k else None) for k, (s, its) in enumerate(zip(given.systems, turns, strict=True))
        ]
        given = replace(given, systems=tuple(systems))
    else:
        texts = {
            f"s{k}": [random_summary(generator, each, places[each.id], mine) for each in sets]
            for k, mine in enumerate(leans)
        }
        given = make_input(sets, **texts)
    families = {
        "coverage": lambda given: coverage(given.values),
        **BROUGHT,
    }
    shares = shares_of(given.values)
    return build_audit(given, PLAN, [shares, *(families[name](given) for name in OPTIONAL if name in has)])


@pytest.fixture(scope="module")
def audits():
    return [random_audit(seed) for seed in range(N_AUDITS)]


def named(sentence, family):
    """Whom a claim of a family says less of, and of whom more."""
    verb, less, more, names = VERBS[family]
    claim, than, _ = sentence.partition(" than ")
    if claim.startswith("No ") or not than:
        return set(), set()
    who = re.fullmatch(rf"(?:(.+) (?:is|are) {verb} {less})?(?: and )?(?:(.+?)(?: (?:is|are) {verb})? {more})?", claim)
    assert who, sentence
    under, over = ({name for name in names if re.search(rf"\b{name}\b", part or "")} for part in who.groups())
    return under, over


def prose(made):
    """All sentences above the tables and between them."""
    blocks = (*made.findings, *made.body)
    return [
        each.text
        for block in blocks
        for each in (block.items if isinstance(block, Items) else [block] if isinstance(block, Prose) else [])
    ]


def test_every_family_names_in_words_whom_its_gaps_name(audits):
    seen = Counter()
    for audit in audits:
        for found in audit.represented:
            sides = set(found.under), set(found.over)
            assert not sides[0] & sides[1]
            assert named(found.sentence, found.family) == sides
            levels = {
                n.side: n.gap
                for n in audit.by_value
                if (n.system, n.measure) == (found.system, found.measure) and n.gap.reference
            }
            for side, which in zip(sides, ("lower", "higher"), strict=True):
                assert {value for value, gap in levels.items() if gap.verdict == which} == side
                assert all((levels[value].value < 0) == (which == "lower") for value in side)
                assert all(levels[value].adjusted <= 0.05 for value in side)
            seen[found.family, bool(sides[0] or sides[1])] += 1
    # else there was nothing to contradict
    assert all(seen[family, True] > 2 and seen[family, False] > 2 for family in VERBS), seen


def test_every_family_that_names_has_its_sentence_on_the_page_and_the_headline_is_short(audits):
    for audit in audits:
        assert len(audit.title.split()) <= MOST_WORDS, audit.title
        if audit.orders:
            continue
        said = " ".join(prose(page(audit)))
        for found in audit.represented:
            if found.under or found.over:
                assert found.sentence in said, (found.sentence, audit.title)
    assert sum(len(audit.systems) == 1 for audit in audits) > N_AUDITS / 6


@pytest.mark.needs("plugins/published")
def test_a_system_is_compared_only_where_somebody_is_named_under_one_of_two(audits):
    seen = Counter()
    for audit in audits:
        whom = {(each.family, each.system): each.under + each.over for each in audit.represented}
        for vote in audit.votes:
            seen[vote.verdict] += 1
            if vote.verdict in ("fairer", "less fair", "differs"):
                assert whom[vote.family, vote.system] or whom[vote.family, vote.reference], audit.title
            if vote.verdict in ("fairer", "less fair"):
                assert (abs(vote.system_gap) < abs(vote.reference_gap)) == (vote.verdict == "fairer")
        texts = prose(page(audit))
        nobody = [each for each in texts if "none of this is clearly off what is expected" in each]
        assert not (nobody and any(its for (family, _), its in whom.items() if family == "value-shares"))
    assert min(seen["fairer"], seen["less fair"], seen["no clear difference"]) > 2, seen


@pytest.mark.skipif(not ARRANGED, reason="no family asks what gaps follow")
def test_orders_name_the_thirds_that_follow_them_and_compare_nothing(audits):
    seen = Counter()
    for audit in audits:
        if not audit.orders:
            continue
        assert not audit.votes
        assert not audit.differences
        (check,) = ARRANGED.values()
        seen.update(check(audit, prose(page(audit))))
    assert min(seen["place", True], seen["place", False], seen["documents", False]) > 2, seen


def test_examples_show_the_value_that_is_named_on_the_side_that_is_said(audits):
    n_shown = Counter()
    for audit in audits:
        for found in audit.represented:
            for each in audit.examples:
                if (each.system, each.family) != (found.system, found.family) or not (found.under or found.over):
                    continue
                first = (found.under or found.over)[0]
                assert each.measure.startswith(f"gap of {first} to")
                assert each.unfairness <= 1e-9 if found.under else each.unfairness >= -1e-9
                n_shown[found.family] += 1
    assert set(n_shown) == set(VERBS)


def test_tables_have_the_verdicts_of_the_headline(audits):
    for audit in audits:
        shown = [table for table in tables(page(audit).body) if table.name == "which system is fairer"]
        place = [column.name for column in shown[0].columns].index("verdict") if shown else 0
        assert [row.cells[place].text for table in shown for row in table.rows] == [v.verdict for v in audit.votes]
        told = [vote for vote in audit.votes if audit.title.endswith(f"; {vote.system} is {vote.verdict}")]
        assert (not told) == (re.search(r"; \S+ is (?:fairer|less fair)$", audit.title) is None), audit.title
