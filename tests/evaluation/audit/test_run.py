"""What an audit refuses before a matcher or an entailer is opened."""

import pytest
from audit_inputs import ATTRIBUTE, make_set, write_sets, write_summaries

from evenhand.errors import DataError
from evenhand.evaluation.audit import run
from evenhand.evaluation.audit.families import MEASURES
from evenhand.evaluation.audit.input import AuditFiles, read_input
from evenhand.evaluation.audit.run import ask, run_audit

TEXTS = ("The ferry is cheap.", "Nurses need the ferry.")
ONE_SIDED = [make_set(f"set-{k}", *(("left", f"{text} {k}") for text in TEXTS)) for k in range(6)]
LONE = [make_set(f"set-{k}", (("left", "right")[k % 2], f"{TEXTS[0]} {k}")) for k in range(6)]


def audited(tmp_path, sets, measures):
    documents = write_sets(tmp_path / "docs.jsonl", sets)
    out = write_summaries(tmp_path / "out.jsonl", {each.id: "The ferry is cheap." for each in sets})
    wanted = AuditFiles(documents, ATTRIBUTE, summaries=(("out", out),))
    return run_audit(ask({"measures": measures, "matcher": None}), lambda: read_input(wanted), None)


@pytest.mark.needs("plugins/order")
@pytest.mark.parametrize(
    ("sets", "measures", "said"),
    [
        (
            ONE_SIDED,
            None,
            "all documents have stance 'left', so value-shares and coverage have nothing to compare; name",
        ),
        (ONE_SIDED, "value-shares,order", "so value-shares has nothing to compare"),
        (ONE_SIDED, "coverage", "so coverage has nothing to compare"),
        (
            LONE,
            None,
            "every set has a single document, .* so value-shares, coverage and order have nothing to compare; put",
        ),
        (LONE, "order", "so order has nothing to compare"),
    ],
)
def test_documents_with_nothing_to_compare_are_refused_before_anything_is_opened(
    tmp_path, monkeypatch, sets, measures, said
):
    opened = []
    monkeypatch.setattr(run, "open_tools", lambda *_: opened.append(1))
    with pytest.raises(DataError, match=said) as caught:
        audited(tmp_path, sets, measures)
    assert not opened
    # and what it says to measure instead can be measured
    others = str(caught.value).partition("or measure ")[2].partition(",")[0]
    assert others in MEASURES


@pytest.mark.needs("plugins/bias")
def test_measures_that_compare_no_values_take_documents_of_one(tmp_path):
    found = audited(tmp_path, ONE_SIDED, "word-lists")
    assert found.n_sets == 6
