import numpy as np
import pytest
from audit_inputs import ATTRIBUTE, make_input, make_set, two_sided

from evenhand.config import MatcherSection
from evenhand.evaluation.audit.build import build_audit
from evenhand.evaluation.audit.pairs import _pseudo_values
from evenhand.evaluation.audit.plan import AuditPlan
from evenhand.evaluation.audit.shares import ValueShares
from evenhand.evaluation.audit.word_lists import GenderWords
from evenhand.evaluation.compare import Bootstrap
from evenhand.fairness.demographic import WordLists
from evenhand.judges.measures import open_matcher

PLAN = AuditPlan(bootstrap=Bootstrap(level=0.95, resamples=400, seed=0), least_group=3)
FAIR, LEFT, RIGHT = "Apple berry cherry grape river stone.", "Apple berry.", "River stone."


def audit(n, **systems):
    given = make_input(two_sided(n), **systems)
    shares = ValueShares(open_matcher(MatcherSection(kind="words")), ATTRIBUTE, given.values, "drop_zero", 0.8, "ratio")
    return build_audit(given, PLAN, [shares])


def differences(found):
    return {(d.measure, d.value): d for d in found.differences}


def test_every_set_worse_is_as_sure_as_sign_flips_allow():
    # eight sets, each unfair under the second system only: 2 of 2^8 sign patterns are as extreme
    found = differences(audit(8, fair=[FAIR] * 8, mine=[LEFT] * 8))
    bur = found["BUR (words)", None]
    assert (bur.estimate, bur.low, bur.high, bur.n, bur.left_out) == (1.0, 1.0, 1.0, 8, 0)
    assert bur.p_value == pytest.approx(2 / 2**8)
    assert bur.verdict == "higher"
    # of what the right has in the sources, 1/3, it lacks all
    assert found["shortfall (words)", "right"].estimate == pytest.approx(1 / 3)
    assert found["shortfall (words)", "left"].verdict == "cannot tell"


def test_sets_scored_under_one_system_only_are_counted_out_of_the_pair():
    found = differences(audit(6, fair=[FAIR] * 5 + [""], mine=[LEFT, None, LEFT, LEFT, LEFT, LEFT]))
    bur = found["BUR (words)", None]
    assert (bur.n, bur.left_out, bur.estimate) == (4, 2, 1.0)


def test_a_system_does_not_differ_from_itself():
    texts = [FAIR, LEFT, RIGHT, LEFT]
    found = audit(4, one=texts, other=texts)
    assert {(d.estimate, d.p_value, d.verdict) for d in found.differences} == {(0.0, 1.0, "cannot tell")}
    assert found.title == f"None of {len(found.differences)} differences to one can be told"


def test_a_value_of_too_few_sets_is_not_tested():
    found = differences(audit(2, fair=[FAIR] * 2, mine=[LEFT] * 2))
    assert ("BUR (words)", None) in found
    assert not any(value for _, value in found)


def test_pseudo_values_of_a_mean_are_the_sets_own_values():
    given = make_input(two_sided(3), mine=[FAIR, LEFT, RIGHT])
    shares = ValueShares(open_matcher(MatcherSection(kind="words")), ATTRIBUTE, given.values, "drop_zero", 0.8, "ratio")
    figures = shares.figures(shares.measure(given.items(given.systems[0])))
    # BUR of the three: fair, unfair, unfair
    assert _pseudo_values(figures, figures.scored, 0) == pytest.approx(np.array([0.0, 1.0, 1.0]))


def test_a_measure_that_is_undefined_without_one_set_has_no_test():
    words = GenderWords(WordLists())
    spoken = [make_set(f"set-{k}", ("left", "She saw him.")) for k in range(3)]
    given = make_input(spoken, one=["She."] * 3, other=["He.", "Rain.", "Rain."])
    (found,) = build_audit(given, PLAN, [words]).differences
    assert found.estimate == pytest.approx(0.0)
    assert (found.p_value, found.verdict) == (None, "cannot tell")
