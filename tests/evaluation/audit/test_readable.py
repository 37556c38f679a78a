import pytest
from audit_inputs import ATTRIBUTE, make_input, make_set

from evenhand.config.fairness import EntailerSection, MatcherSection
from evenhand.evaluation.audit.build import build_audit
from evenhand.evaluation.audit.coverage import UnitCoverage
from evenhand.evaluation.audit.plan import AuditPlan
from evenhand.evaluation.audit.shares import ValueShares
from evenhand.judges.measures import open_entailer, open_matcher
from evenhand.resampling import Bootstrap

PLAN = AuditPlan(bootstrap=Bootstrap(level=0.95, resamples=100, seed=0), least_group=3)
# "the ferry is cheap, the fare two yuan" and "the bridge is dear, it costs three billion"
FERRY, BRIDGE = "渡轮很便宜,票价只要两元。", "大桥太贵,造价三十亿。"


def audit(sets, texts, with_coverage=False):
    given = make_input(sets, mine=texts)
    families = [
        ValueShares(open_matcher(MatcherSection(kind="words")), ATTRIBUTE, given.values, "drop_zero", 0.8, "ratio")
    ]
    if with_coverage:
        families.append(UnitCoverage(open_entailer(EntailerSection(kind="words")), ATTRIBUTE, given.values, "released"))
    return build_audit(given, PLAN, families)


def test_a_value_whose_documents_have_no_word_is_named_for_that():
    sets = [make_set(f"set-{k}", ("left", "apple"), ("right", "river"), ("mid", "It is so.")) for k in range(4)]
    found = audit(sets, ["Apple river."] * 4)
    (shortfall,) = [n for n in found.by_value if (str(n.measure), n.value) == ("shortfall (words)", "mid")]
    assert shortfall.left_out == {"documents of this value, but none with a word that counts": 4}
    assert [w for w in found.warnings if "mid" in w] == [
        "mid: in 4 sets no document of this stance has a word that counts; there it takes no part in BUR, UER, AUC and SOF."
    ]


def test_both_reasons_are_told_apart():
    sets = [
        make_set(f"set-{k}", ("left", "apple"), ("right", "river"), *((("mid", "It is so."),) if k else ()))
        for k in range(4)
    ]
    (shortfall,) = [
        n for n in audit(sets, ["Apple."] * 4).by_value if (str(n.measure), n.value) == ("shortfall (words)", "mid")
    ]
    assert shortfall.left_out == {
        "no document of this value": 1,
        "documents of this value, but none with a word that counts": 3,
    }


def test_chinese_is_read_and_the_reader_is_told_how():
    sets = [make_set(f"set-{k}", ("left", FERRY), ("right", BRIDGE)) for k in range(4)]
    # another wording of the ferry's text, and none of the bridge's
    found = audit(sets, ["渡轮便宜,只要两元。"] * 4, with_coverage=True)
    by_name = {(str(n.measure), n.value): n.estimate for n in found.by_value}
    assert by_name["share in summaries (words)", "left"] == pytest.approx(1)
    assert by_name["under-represented (words)", "right"] == 1
    (said,) = [warning for warning in found.warnings if "without borders" in warning]
    assert said.startswith("100 % of the documents' letters")
    assert "coverage by words, value-shares by words compare pairs of neighbouring characters" in said


def test_a_foreign_name_is_no_foreign_script():
    sets = [
        make_set(f"set-{k}", ("left", f"apple berry cherry grape {FERRY[:2]}"), ("right", "river")) for k in range(4)
    ]
    assert not [warning for warning in audit(sets, ["Apple."] * 4).warnings if "without borders" in warning]
