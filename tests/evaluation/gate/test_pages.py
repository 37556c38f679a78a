"""What a gate finds on an audit, and what it writes."""

import json
from xml.etree import ElementTree

import pytest

from evenhand.config.fairness import EntailerSection, MatcherSection
from evenhand.errors import DataError
from evenhand.evaluation.audit.build import build_audit
from evenhand.evaluation.audit.contents import SCHEMA, Audit
from evenhand.evaluation.audit.families import families, open_tools
from evenhand.evaluation.audit.named import AUDIT_PAGE
from evenhand.evaluation.audit.page import page
from evenhand.evaluation.audit.plan import AuditPlan
from evenhand.evaluation.gate.baseline import Baseline, read_baseline
from evenhand.evaluation.gate.decide import gated
from evenhand.evaluation.gate.limits import GateRequest, parse_limit
from evenhand.evaluation.gate.names import check_names, meant, told
from evenhand.evaluation.gate.page import gate_blocks, gate_warnings, junit, verdict
from evenhand.evaluation.gate.subject import MeasureMethod, Subject
from evenhand.evaluation.pages import markdown
from evenhand.evaluation.report.named import COMPARISON_PAGE, REPORT_PAGE
from evenhand.resampling import Bootstrap
from evenhand.text.formats import FORMATS
from tests.audit_inputs import make_input, two_sided

ONE_SIDED = "Apple berry. Cherry grape. Apple grape."
MORE = "Apple berry. Cherry grape. River apple."
EVEN = "Apple berry. River stone. Stone cherry."


def audited(measures=("value-shares", "coverage"), tau=0.8, **systems):
    plan = AuditPlan(measures=measures, n_examples=0, tau=tau, bootstrap=Bootstrap(resamples=200))
    given = make_input(two_sided(len(next(iter(systems.values())))), **systems)
    tools = open_tools(given, plan, MatcherSection(kind="words"), EntailerSection(kind="words"))
    return build_audit(given, plan, families(given, plan, tools))


@pytest.fixture(scope="module")
def audit():
    return audited(even=[EVEN] * 24, sided=[ONE_SIDED, ONE_SIDED, MORE] * 8)


def verdicts(found, *limits, baseline=None, strict=False):
    gate = gated(found, AUDIT_PAGE, GateRequest(tuple(map(parse_limit, limits)), strict), baseline).gate
    return gate, [row.outcome for row in gate.rows]


def test_every_number_of_an_audit_can_be_named(audit):
    names = {each.functions[0] for each in AUDIT_PAGE.read(audit).numbers}
    assert {"gap", "bur", "share in summaries", "coverage difference", "equal coverage", "difference"} <= names
    # what is not known beforehand would be refused: means of absolute gaps alone
    assert {name for name in names if name not in AUDIT_PAGE.functions} == {"sof", "coverage parity"}


def test_what_sets_say_adds_up_to_the_number(audit):
    for each in (*audit.aggregates, *audit.by_value):
        said = [value for value in each.by_set if value is not None]
        if each.value is not None and not each.kind.grows_by_chance:
            assert sum(said) / len(said) == pytest.approx(each.value, abs=0.02), each.measure


def test_the_last_system_is_meant_unless_one_is_named(audit):
    gate, outcomes = verdicts(audit, "worst_gap(shares) < -0.1", "gap(shares, even, right) < 0")
    assert outcomes == ["breach", "passed"]
    assert "right, sided" in gate.rows[0].number


def test_no_other_system_stands_in_for_the_last_one():
    # no word of its summaries is in a document: it has no gaps
    found = audited(measures=("value-shares",), even=[EVEN] * 24, foreign=["Zebra quagga. Lemur indri."] * 24)
    gate, outcomes = verdicts(found, "worst_gap(shares) < -0.9", "worst_gap(shares, even) < -0.9", "bur > 2")
    assert outcomes == ["missing", "passed", "passed"]
    assert "foreign has no such number" in gate.rows[0].note


def test_what_is_not_on_the_page_fails_closed(audit):
    gate, outcomes = verdicts(audit, "opinion_graph < 0", "gap(shares, rihgt) < -1", "gap(opinions) < -1")
    assert outcomes == ["missing"] * 3
    assert "did you mean 'right'" in gate.rows[1].note
    assert len(gate.failed) == 3


def test_what_cannot_be_told_fails_only_if_strict(audit):
    # as often below its mean as above
    (gap,) = (
        n.gap.value
        for n in audit.by_value
        if (n.system, n.side, n.family) == ("sided", "right", "value-shares") and n.gap.reference
    )
    limit = f"gap(shares, right) < {gap}"
    (lax, outcomes), (strict, _) = verdicts(audit, limit), verdicts(audit, limit, strict=True)
    assert (outcomes, lax.failed, len(strict.failed), len(gate_warnings(lax))) == (["cannot tell"], (), 1, 1)
    assert verdict(lax) == ""


def test_coverage_names_nobody_and_its_difference_can_be_held_to_a_limit():
    found = audited(few=[ONE_SIDED] * 24)
    assert not [each for each in found.by_value if each.family == "coverage" and each.gap.reference]
    _, outcomes = verdicts(
        found, "worst_gap(coverage) < -0.05", "worst_coverage_difference < -0.05", "worst_gap(coverage) < -0.9"
    )
    assert outcomes == ["breach", "breach", "passed"]


def test_a_mistyped_worst_name_is_answered_with_the_right_one():
    with pytest.raises(DataError, match="'wurst gap' is not known; did you mean 'worst_gap'"):
        check_names([parse_limit("wurst_gap(shares) < -0.05")], AUDIT_PAGE)


def test_unknown_names_are_refused_before_any_work():
    with pytest.raises(DataError, match=r"did you mean 'bur'.*\n.*grows by chance.*\n.*says not of what"):
        check_names([parse_limit(each) for each in ("bru < 1", "worst_difference(sof) < 1", "gap < 1")], AUDIT_PAGE)
    check_names([parse_limit("mean(sof) < 1")], REPORT_PAGE)
    assert all(name.replace(" ", "_") in told(AUDIT_PAGE) for name in AUDIT_PAGE.functions)


def test_a_baseline_of_the_same_documents_counts_the_change(audit, tmp_path):
    (tmp_path / "audit.json").write_text(audited(release=[EVEN] * 24).model_dump_json())
    baseline = read_baseline(tmp_path, AUDIT_PAGE)
    gate, outcomes = verdicts(
        audit, "gap(shares, right) < -0.1", "gap(shares, right, even) < 0", "now bur > 0.9", baseline=baseline
    )
    assert outcomes == ["breach", "passed", "cannot tell"]
    assert gate.rows[0].number.startswith("change of")


def test_a_baseline_of_something_else_is_refused(audit, tmp_path):
    path = tmp_path / "audit.json"
    before = audited(release=[EVEN] * 24)
    others = {
        "other documents": before.model_copy(update={"documents_digest": "2" * 16}),
        "23 document sets": audited(release=[EVEN] * 23),
        "its attribute": before.model_copy(update={"attribute": "gender"}),
        "same options": audited(release=[EVEN] * 24, tau=0.7),
    }
    for said, other in others.items():
        path.write_text(other.model_dump_json())
        with pytest.raises(DataError, match=said):
            verdicts(audit, "bur > 0", baseline=read_baseline(path, AUDIT_PAGE))
    path.write_text(before.model_copy(update={"sets": ()}).model_dump_json())
    with pytest.raises(DataError, match="single document sets"):
        read_baseline(path, AUDIT_PAGE)
    for text in ("", "{}", "[1"):
        path.write_text(text)
        with pytest.raises(DataError, match=r"with this version .*evenhand loop"):
            read_baseline(path, AUDIT_PAGE)
    with pytest.raises(DataError, match="cannot be read"):
        read_baseline(tmp_path / "absent.json", AUDIT_PAGE)


@pytest.mark.parametrize("schema", ["evenhand-audit/5", "evenhand-annotated-document/1", ""])
def test_a_baseline_that_calls_itself_otherwise_is_refused_though_its_keys_fit(audit, tmp_path, schema):
    path = tmp_path / "audit.json"
    path.write_text(audit.model_copy(update={"format": schema}).model_dump_json())
    with pytest.raises(DataError, match=f"{schema}.*{SCHEMA}"):
        read_baseline(path, AUDIT_PAGE)


def test_a_baseline_of_another_kind_is_called_what_it_is(audit, tmp_path):
    path = tmp_path / "page.json"
    path.write_text(audit.model_dump_json())
    for kind in (REPORT_PAGE, COMPARISON_PAGE):
        noun = FORMATS[kind.format.partition("/")[0]].noun
        expected = f"^--baseline [^:]*: is an audit, not {noun}; .* name an earlier {kind.file_name}"
        with pytest.raises(DataError, match=expected):
            read_baseline(path, kind)
        (tmp_path / "other.json").write_text(json.dumps({"format": kind.format}))
        with pytest.raises(DataError, match=f"is {noun}, not an audit"):
            read_baseline(tmp_path / "other.json", AUDIT_PAGE)


@pytest.mark.parametrize("kind", [AUDIT_PAGE, REPORT_PAGE, COMPARISON_PAGE], ids=lambda kind: kind.verb)
def test_a_baseline_of_an_earlier_format_is_refused_with_what_to_do(kind, tmp_path):
    name = kind.format.partition("/")[0]
    # under the key of today, and under that of before
    for key in ("format", "schema_name"):
        (tmp_path / kind.file_name).write_text(json.dumps({key: f"{name}/0"}))
        expected = f"is {FORMATS[name].noun} of another version .*{kind.format}.*of this version"
        with pytest.raises(DataError, match=expected):
            read_baseline(tmp_path, kind)
    # before files said what they are
    (tmp_path / kind.file_name).write_text('{"scores": [{"subject": "rerank", "mean": 0.5}]}')
    with pytest.raises(DataError, match=r"make it again with this version.*evenhand loop") as told:
        read_baseline(tmp_path, kind)
    assert "key" not in str(told.value)
    (tmp_path / kind.file_name).write_text('{"format": "evenhand-bias-study/5", "scores": []}')
    with pytest.raises(DataError, match=f"is a bias study, not {FORMATS[name].noun}"):
        read_baseline(tmp_path, kind)


def test_a_measure_that_the_baseline_lacks_fails_closed(audit, tmp_path):
    path = tmp_path / "audit.json"
    path.write_text(audited(measures=("coverage",), release=[EVEN] * 24).model_dump_json())
    _, outcomes = verdicts(audit, "bur > 0.9", baseline=read_baseline(path, AUDIT_PAGE))
    assert outcomes == ["missing"]


def test_the_page_and_the_files_say_the_same(audit):
    named = parse_limit("worst_gap(shares) < -0.1", name="<no side>\x00")
    asked = GateRequest((named, parse_limit("opinion_graph < 0"), parse_limit("bur > 2")))
    found = gated(audit, AUDIT_PAGE, asked)
    assert Audit.model_validate_json(found.model_dump_json()).gate == found.gate
    assert [block.name for block in page(found).body if getattr(block, "name", "") == "gate"] == ["gate"]
    suite = ElementTree.fromstring(junit(found.gate, "audit"))[0]  # noqa: S314 (our own text)
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors"), suite.get("skipped")) == (
        "3",
        "1",
        "1",
        "0",
    )
    assert suite[0].get("name") == "<no side>\ufffd"
    lines = markdown.fragment(gate_blocks(found.gate)).splitlines()
    assert sum(line.startswith("| ") for line in lines) == 2 + 3
    assert verdict(found.gate).count("\n") == 2


@pytest.mark.needs("plugins/order", "plugins/opinions")
def test_gaps_of_two_families_are_told_apart_in_differences():
    found = audited(("value-shares", "coverage", "order"), even=[EVEN] * 24, sided=[ONE_SIDED, ONE_SIDED, MORE] * 8)
    numbers = AUDIT_PAGE.read(found).numbers
    for asked, named in (("order", ("gap", "order")), ("shares", ("share gap", "shares"))):
        (family,) = {each.measures for each in meant(parse_limit(f"worst_difference({asked}) < -0.05"), numbers)}
        assert family == named
    # each number has a name of its own, by which a baseline finds it again
    named = [(each.functions[0], each.measures, each.side, each.system) for each in numbers]
    assert len(set(named)) == len(named)


def test_a_day_in_a_signature_makes_no_other_measure_and_another_model_does(audit, tmp_path):
    baseline, limits = (
        Baseline(tmp_path / "audit.json", AUDIT_PAGE, AUDIT_PAGE.read(audit)),
        [parse_limit("worst_gap(shares) < -0.05")],
    )
    taken = next(each for each in audit.measures if each.family == "value-shares")

    def subject(signature):
        methods = {taken.family: MeasureMethod(signature, taken.by)}
        return Subject(audit.documents_digest, audit.sets, audit.attribute, methods=methods)

    baseline.refuse_before(limits, subject(f"{taken.signature}|date:2026-11-28"))
    with pytest.raises(DataError, match="another-model now and was"):
        baseline.refuse_before(limits, subject("another-model"))


def test_a_measure_or_a_system_that_the_baseline_lacks_is_told_before_anything_is_measured(tmp_path):
    two = audited(("value-shares",), v1=[EVEN] * 24, v2=[ONE_SIDED] * 24)
    one = audited(("value-shares",), v1=[EVEN] * 24)
    methods = {each.family: MeasureMethod(each.signature, each.by) for each in two.measures}

    def refused(then, limit, systems, **more):
        now = Subject(then.documents_digest, then.sets, then.attribute, systems=systems, methods=methods | more)
        try:
            Baseline(tmp_path / "audit.json", AUDIT_PAGE, AUDIT_PAGE.read(then)).refuse_before(
                [parse_limit(limit)], now
            )
        except DataError as error:
            return str(error)
        return ""

    coverage = MeasureMethod("coverage|words", "words")
    assert "was made without coverage" in refused(two, "worst_gap(coverage) < -0.1", ("v2",), coverage=coverage)
    for limit in ("worst_gap(shares) < -0.1", "gap(shares, left) < -0.1", "worst_gap(shares, v3) < -0.1"):
        assert "has no system 'v3'" in refused(two, limit, ("v2", "v3"))
    # the last is another's, and the named one is there; one system is whatever it is called
    assert not refused(two, "worst_gap(shares, v2) < -0.1", ("v2", "v3"))
    assert not refused(two, "worst_gap(shares) < -0.1", ("v3", "v2"))
    assert not refused(one, "worst_gap(shares) < -0.1", ("v3",))
    # what is asked of the number itself needs no baseline
    assert not refused(two, "now worst_gap(coverage) < -0.1", ("v3",), coverage=coverage)


def test_what_the_page_accuses_the_gate_does_not_pass_however_few_the_sets():
    """Twelve sets are too few for the gate alone, and enough for the page."""
    found = audited(measures=("value-shares",), sided=[ONE_SIDED, ONE_SIDED, MORE] * 4)
    accused = [each for each in found.by_value if each.gap.verdict == "lower"]
    assert accused
    (gate, outcomes) = verdicts(found, "worst_gap(shares) < -0.05")
    assert outcomes == ["breach"] and "by the page's own test" in gate.rows[0].note
    assert verdicts(found, "worst_gap(shares) < -0.9")[1] != ["breach"]


@pytest.mark.parametrize(("limits", "outcomes"), [
    (["worst_gap(shares) < -0.9"], ["breach"]),
    (["worst_gap(shares) < -0.9", "summarised < 80 %"], ["passed"]),
    (["worst_gap(shares) < -0.9", "summarised < 95 %"], ["breach"]),
])  # fmt: skip
def test_sets_without_a_summary_count_against_the_release_unless_a_limit_says_otherwise(audit, limits, outcomes):
    last = audit.systems[-1]
    assert verdicts(audit, "worst_gap(shares) < -0.9")[1] == verdicts(audit, "summarised < 1", limits[0])[1][1:]
    lacking = audit.model_copy(
        update={
            "systems": (*audit.systems[:-1], last.model_copy(update={"missing": audit.sets[: len(audit.sets) // 10]}))
        }
    )
    gate, found = verdicts(lacking, *limits)
    assert found[1:] == outcomes and gate.rows[-1].number == "summarised(sided)"
