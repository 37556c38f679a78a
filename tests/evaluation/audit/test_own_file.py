"""A measure by a function in a file: its numbers or one message, never another number."""

import hashlib

import pytest
from audit_inputs import ATTRIBUTE, make_set

import evenhand
from evenhand.config.python_code import RUN_CODE
from evenhand.errors import DataError, PluginError, RecipeError
from evenhand.evaluation.audit.contents import Audit
from evenhand.evaluation.audit.named import AUDIT_PAGE
from evenhand.evaluation.audit.overview import overview
from evenhand.evaluation.audit.page import page
from evenhand.evaluation.audit.run import ask
from evenhand.evaluation.gate.decide import gated
from evenhand.evaluation.gate.limits import GateRequest, parse_limit
from evenhand.evaluation.pages import markdown

SETS = [make_set(f"set-{k}", ("left", "apple pear"), ("right", "bridge"), ("left", f"plum {k}")) for k in range(6)]
SUMMARIES = {"made": {each.id: f"apple bridge bridge {each.id}" for each in SETS}}
# of each value, the words of its documents that the summary has
BODY = """
    said = summary.split()
    return {value: sum(said.count(w) for w in ' '.join(texts).split()) for value, texts in documents.items()}
"""


@pytest.fixture(autouse=True)
def nothing_may_run_but_what_is_named(monkeypatch):
    monkeypatch.setenv(RUN_CODE, "")


@pytest.fixture
def write(tmp_path):
    def make(body, parameters="summary, documents"):
        path = tmp_path / "mine.py"
        path.write_text(f"import os, time\n\n\ndef words({parameters}):\n    {body}\n")
        return f"{path}:words"

    return make


def audited(measures, **options):
    return evenhand.audit(SETS, SUMMARIES, ATTRIBUTE, measures=measures, resamples=100, **options)


def test_numbers_by_value_have_intervals_and_name_nobody(write, tmp_path):
    named = write(f"print('said'){BODY}")
    found = audited(named, out=tmp_path / "audit").found
    numbers = {(n.measure, n.side): (n.value, n.n_sets) for n in found.numbers}
    assert numbers == {
        ("own measure (mine.py:words)", "left"): (1.0, 6),
        ("own measure (mine.py:words)", "right"): (2.0, 6),
    }
    assert not found.represented
    digest = hashlib.sha256((tmp_path / "mine.py").read_bytes()).hexdigest()
    assert [each.signature for each in found.measures] == [f"python|words|sha256:{digest}|v:1"]
    shown = markdown.render(page(found))
    assert "measure (mine.py:words) |" in shown and "Which number is" in shown
    # whoever has the page alone reads it
    (tmp_path / "mine.py").unlink()
    assert Audit.model_validate_json((tmp_path / "audit/audit.json").read_text()).numbers == found.numbers


def test_alone_it_heads_the_page_by_every_value_and_by_its_file_and_counts_its_own_sets(write):
    found = audited(write("return 'no pear' if 'set-3' in summary else {'left': 1.0, 'right': 2.0}")).found
    assert found.title == "own measure (mine.py:words): left 1.000, right 2.000"
    assert (overview(found).sure, overview(found).text) == ("Nothing is tested", "5 of 6 document sets.")
    few = audited(write("return {'left': 1.0, 'right': 2.0} if 'set-3' in summary else 'no pear'")).found
    assert any(warning.startswith("made, mine.py:words: rests on 1 of 6 sets") for warning in few.warnings)
    with pytest.raises(DataError, match=r"nothing is left to audit: made, mine\.py:words: never \(6 sets\)"):
        audited(write("return 'never'"))


def test_it_changes_no_other_measure_and_a_limit_can_name_it(write):
    alone = audited("value-shares").found
    both = audited(f"{write(BODY)}, value-shares").found
    assert [each.family for each in both.measures] == ["value-shares", "python"]
    assert tuple(each for each in both.numbers if each.family != "python") == alone.numbers
    limits = tuple(map(parse_limit, ("own_measure(left) > 9", "own_measure(right) > 9")))
    rows = gated(both, AUDIT_PAGE, GateRequest(limits)).gate.rows
    assert [row.value for row in rows] == [1.0, 2.0]


@pytest.mark.parametrize(
    ("outcome", "why"),
    [
        ("None", "the function gave no score"),
        ("'too short'", "too short"),
        ("{}", "the measure gives no number"),
        ("{'left': None}", "the measure gives no number"),
        ("{'left': float('nan')}", "the measure gives nan"),
    ],
)
def test_a_summary_without_a_number_is_left_out_with_the_reason(write, outcome, why):
    found = audited(write(f"if 'set-3' in summary: return {outcome}{BODY}")).found
    assert {(n.side, n.value, n.n_sets, n.reasons.get(why)) for n in found.numbers} == {
        ("left", 1.0, 5, 1),
        ("right", 2.0, 5, 1),
    }


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("raise KeyError('x')", r"the function raised KeyError \(mine\.py:5: 'x'\)"),
        ("raise SystemExit", "the function called sys.exit"),
        ("os._exit(3)", "the function's process ended with exit code 3"),
        ("return 3", "a value of type int and no dict"),
        ("return [3]", "a value of type list and no dict"),
        ("return {'left': '3'}", "a text and no number"),
        ("return {'left': True}", "a value of type bool and no number"),
        ("return {'left': -1}", "must give numbers of at least 0"),
        ("return {'middle': 1}", "must give numbers of left, right alone"),
    ],
)
def test_whatever_else_comes_of_it_is_one_message_with_the_set(write, body, said):
    with pytest.raises(PluginError, match=f"^measure 'mine.py:words', set 'set-0': .*{said}"):
        audited(write(body))


def test_one_that_hangs_is_ended(write, tmp_path):
    write("time.sleep(60)")
    keys = tmp_path / "measure.yaml"
    keys.write_text(f"kind: python\nfile: {tmp_path / 'mine.py'}\nfunction: words\nseconds: 0.3\n")
    with pytest.raises(PluginError, match=r"set 'set-0': the function's process gave no answer within 0\.3 s"):
        audited(str(keys))


def test_other_parameters_are_refused(write):
    with pytest.raises(RecipeError, match=r"has the parameters \(text\).*write \(summary, documents\)"):
        audited(write("return {}", "text"))


@pytest.mark.parametrize(
    ("measures", "said"),
    [
        ("python", "write FILE.py:FUNCTION in place of 'python'"),
        ("mine.py", "--measures mine.py: is not known. Take FILE.py:FUNCTION"),
        ("mine.py:a b", "function 'a b' is no name of a function"),
        ("mine.py:a,other.py:b", "an audit takes one function in a file; take other.py:b in another audit"),
        ("nowhere", r"Measures are value-shares, coverage, FILE\.py:FUNCTION"),
    ],
)
def test_a_function_that_is_written_otherwise_is_refused(measures, said):
    with pytest.raises(DataError, match=said):
        ask({"measures": measures})


def test_a_file_that_is_not_there_is_told(tmp_path):
    with pytest.raises(RecipeError, match=r"none\.py"):
        audited(f"{tmp_path / 'none.py'}:words")
