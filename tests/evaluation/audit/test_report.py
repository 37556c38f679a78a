from audit_inputs import ATTRIBUTE, make_input, two_sided

from evenhand.evaluation.audit.build import build_audit
from evenhand.evaluation.audit.plan import AuditPlan
from evenhand.evaluation.audit.report import AUDIT, key_of, write_audit
from evenhand.evaluation.audit.word_lists import ListedWords
from evenhand.fairness.demographic.word_lists import WordLists
from evenhand.resampling import Bootstrap


def test_the_audit_that_is_replaced_is_named_unless_it_is_the_same(tmp_path):
    plan = AuditPlan(bootstrap=Bootstrap(level=0.95, resamples=100, seed=0))
    given, other = make_input(two_sided(3), base=["He."] * 3), make_input(two_sided(3), tuned=["He."] * 3)
    assert AUDIT.replaced(tmp_path, key_of(given)) == ""
    write_audit(build_audit(given, plan, [ListedWords(WordLists())]), tmp_path)
    assert AUDIT.replaced(tmp_path, key_of(given)) == ""
    assert AUDIT.replaced(tmp_path, key_of(other)) == (
        f"{tmp_path} holds the audit of base on docs.jsonl, by {ATTRIBUTE}; it will be replaced."
    )
