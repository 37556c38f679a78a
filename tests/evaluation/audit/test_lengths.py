import pytest
from audit_inputs import make_input, make_set

from evenhand.evaluation.audit.build import build_audit
from evenhand.evaluation.audit.headline import title
from evenhand.evaluation.audit.opinions import Opinions
from evenhand.evaluation.audit.plan import AuditPlan
from evenhand.resampling import Bootstrap

pytest.importorskip("networkx")

PLAN = AuditPlan(bootstrap=Bootstrap(level=0.95, resamples=200, seed=0), least_group=3)
FERRY = "The ferry is cheap. The cheap ferry runs at night."
SETS = [
    make_set(f"set-{k}", ("left", FERRY), ("right", "A bridge costs taxes. Bridge taxes hurt shops."))
    for k in range(10)
]
SHORT, LONG = "The ferry is cheap.", "The ferry is cheap. A bridge costs taxes."


def audit(**systems):
    return build_audit(make_input(SETS, **{label: [text] * 10 for label, text in systems.items()}), PLAN, [Opinions()])


def test_length_stands_beside_the_measures():
    (system,) = audit(mine=LONG).systems
    assert (system.n_words, system.n_sentences) == (8.0, 2.0)


def test_the_opinion_graph_does_not_make_the_headline_of_systems_of_unlike_length():
    found = audit(short=SHORT, long=LONG)
    (difference,) = found.differences
    assert difference.verdict == "lower"
    assert "fairer" not in found.title
    (said,) = [warning for warning in found.warnings if "falls as summaries grow" in warning]
    assert "short 1.0, long 2.0" in said


def test_of_like_length_it_counts():
    found = audit(one=FERRY, long=LONG)
    assert found.title == "long is fairer than one by 1 of 1 measure"
    assert not [warning for warning in found.warnings if "falls as summaries grow" in warning]


def test_what_one_of_several_systems_shows_is_no_headline():
    assert audit(short=SHORT, long=LONG).title == "short and long differ in length; nothing else can be compared"
    found = audit(short=SHORT, long=LONG, longer=f"{LONG} {FERRY}")
    assert found.title == "short, long and longer differ in length; nothing else can be compared"
    # a single system has no other to differ from
    assert audit(short=SHORT).title.startswith("What a summary shows of the opinions")


def test_several_systems_without_any_difference_have_no_headline_of_one():
    found = audit(short=SHORT, long=LONG)
    assert title(found.aggregates, (), found.systems) == "No difference to short can be tested"
