import json

import pytest
from audit_inputs import ATTRIBUTE, listed_words, make_input, two_sided

from evenhand.evaluation.audit.build import build_audit
from evenhand.evaluation.audit.contents import SCHEMA
from evenhand.evaluation.audit.plan import AuditPlan
from evenhand.evaluation.audit.report import AUDIT, key_of, write_audit
from evenhand.resampling import Bootstrap


@pytest.mark.needs("plugins/order", "plugins/bias")
def test_the_audit_that_is_replaced_is_named_unless_it_is_the_same(tmp_path):
    plan = AuditPlan(bootstrap=Bootstrap(level=0.95, resamples=100, seed=0))
    given, other = make_input(two_sided(3), base=["He."] * 3), make_input(two_sided(3), tuned=["He."] * 3)
    assert AUDIT.replaced(tmp_path, key_of(given)) == ""
    write_audit(build_audit(given, plan, [listed_words()]), tmp_path)
    assert AUDIT.replaced(tmp_path, key_of(given)) == ""
    assert AUDIT.replaced(tmp_path, key_of(other)) == (
        f"{tmp_path} holds the audit of base on docs.jsonl, by {ATTRIBUTE}; it will be replaced."
    )


@pytest.mark.needs("plugins/order", "plugins/bias")
@pytest.mark.parametrize("key", ["format", "schema_name"])
@pytest.mark.parametrize("schema", ["evenhand-audit/7", "evenhand-audit/8", "evenhand-audit/99"])
def test_another_versions_audit_is_replaced_and_named_with_its_version(tmp_path, schema, key):
    plan = AuditPlan(bootstrap=Bootstrap(level=0.95, resamples=100, seed=0))
    given = make_input(two_sided(3), base=["He."] * 3)
    made = build_audit(given, plan, [listed_words()])
    write_audit(made.model_copy(update={"format": schema, "versions": {"evenhand": "0.1.0"}}), tmp_path)
    assert AUDIT.replaced(tmp_path, key_of(given)) == (
        f"{tmp_path} holds the audit of base on docs.jsonl, by {ATTRIBUTE}, in the format {schema} of evenhand 0.1.0; it will be "
        "replaced."
    )
    (tmp_path / "audit.json").write_text(json.dumps({key: schema, "systems": [1]}))
    assert AUDIT.replaced(tmp_path, key_of(given)) == (
        f"{tmp_path} holds an earlier audit, in the format {schema}; it will be replaced."
    )
    write_audit(made, tmp_path)
    assert json.loads((tmp_path / "audit.json").read_text())["format"] == SCHEMA == "evenhand-audit/9"
