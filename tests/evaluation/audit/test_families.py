import pytest
from audit_inputs import make_input, two_sided

from evenhand.config.fairness import EntailerSection
from evenhand.evaluation.audit.families import open_tools
from evenhand.evaluation.audit.plan import AuditPlan


@pytest.mark.parametrize(("measures", "n_notes"), [(("coverage",), 0), (("coverage", "value-shares"), 1)])
def test_only_an_audit_of_shares_warns_that_they_are_by_words(measures, n_notes, tmp_path, monkeypatch):
    monkeypatch.setenv("EVENHAND_NLTK", str(tmp_path / "nowhere"))
    plan = AuditPlan(measures=measures)
    tools = open_tools(make_input(two_sided(1), mine=["Apple."]), plan, None, EntailerSection(kind="words"))
    assert len(tools.notes) == n_notes
    assert (tools.words is not None) == ("value-shares" in measures)
