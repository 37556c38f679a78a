"""Baselines of other subjects: what is refused, and what helps."""

from evenhand.evaluation.gate.baseline import _unlike
from evenhand.evaluation.gate.subject import Subject


def test_a_baseline_of_other_groups_is_refused_with_what_helps():
    then = Subject("digest", ("one",), "stars", groups="low=1; high=*")
    now = Subject("digest", ("one",), "stars", groups="low=1,2; high=*")
    (mistake,) = _unlike(then, now)
    assert "'low=1; high=*'" in mistake and "'low=1,2; high=*' now" in mistake
    assert mistake.endswith("; make the baseline again with the same options")
    assert not list(_unlike(then, then))
