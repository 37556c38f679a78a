"""Measures that another package brings: by their name in an audit, shown with intervals, and refused or unscored when wrong."""

import sys
from textwrap import dedent

import pytest
from audit_inputs import ATTRIBUTE, make_set, write_sets, write_summaries
from made_packages import install

from evenhand import doors
from evenhand.errors import DataError, MissingExtra, PluginError
from evenhand.evaluation.audit import contents
from evenhand.evaluation.audit.families import MEASURES, measure_names
from evenhand.evaluation.audit.input import AuditFiles, read_input
from evenhand.evaluation.audit.named import AUDIT_PAGE
from evenhand.evaluation.audit.options import read_measures, read_option_entries
from evenhand.evaluation.audit.page import page
from evenhand.evaluation.audit.run import ask, run_audit
from evenhand.evaluation.audit.supplements import SUPPLEMENTS
from evenhand.evaluation.gate.decide import gated
from evenhand.evaluation.gate.limits import GateRequest, parse_limit
from evenhand.evaluation.pages import markdown

SETS = [
    make_set(f"set-{k}", ("left", f"The ferry is cheap {k}. Is it?"), ("right", f"The bridge is dear {k}. It is."))
    for k in range(12)
]
# of two sentences one is a question in every other set
SUMMARIES = {
    each.id: f"The ferry{' is it' * (k % 2)}. {'Is it?' if k % 2 else 'It is.'}" for k, each in enumerate(SETS)
}
QUESTIONS = """\
    from evenhand.evaluation.audit.kinds import NumberKind
    from evenhand.evaluation.audit.own import own_measure
    from evenhand.text import sentences


    def questions(item):
        said = sentences(item.summary)
        return sum(each.endswith("?") for each in said) / len(said)


    FAMILY = own_measure(NumberKind("share of questions"), questions, means="Of the sentences {point} % are questions.")
    """


@pytest.fixture
def bring(tmp_path, monkeypatch):
    """Put a package on the path whose module has a family of the audit, and forget it afterwards."""

    brought = []

    def installed(code, name="questions", package="mine", door="measures"):
        site = tmp_path / package
        points = f"[evenhand.{door}]\n{name} = {package}:FAMILY\n"
        files = {f"{package}-1.0.dist-info/entry_points.txt": points, f"{package}/__init__.py": dedent(code)}
        install(site, package, "1.0", {path: text.encode() for path, text in files.items()})
        monkeypatch.syspath_prepend(str(site))
        brought.append(package)
        _forget()

    yield installed
    for package in brought:
        sys.modules.pop(package, None)
    _forget()


def _forget():
    for door in (MEASURES, SUPPLEMENTS):
        vars(door).pop("_points", None)
    contents.read_measure.cache_clear()


def audited(tmp_path, measures="questions", sets=SETS, out=None, **systems):
    documents = write_sets(tmp_path / "docs.jsonl", sets)
    systems = systems or {"made": SUMMARIES}
    files = tuple((label, write_summaries(tmp_path / f"{label}.jsonl", texts)) for label, texts in systems.items())
    wanted = AuditFiles(documents, ATTRIBUTE, summaries=files)
    options = {"measures": measures, "resamples": 100, "least_group": 2}
    return run_audit(ask(options), lambda: read_input(wanted), out)


def test_a_function_of_ten_lines_is_measured_by_its_name_with_an_interval_and_names_nobody(bring, tmp_path):
    bring(QUESTIONS)
    assert "questions" in measure_names()
    found = audited(tmp_path, out=tmp_path / "audit")
    (number,) = found.numbers
    # six of twelve summaries have one question in two sentences
    assert (number.measure, number.value, number.n_sets, number.left_out) == ("share of questions", 0.25, 12, 0)
    assert 0 < number.low < 0.25 < number.high < 1
    assert not found.represented
    said = markdown.render(page(found))
    assert "25.0 % are questions" in said and "Which number is" in said
    assert (tmp_path / "audit" / "audit.json").is_file()
    again = contents.Audit.model_validate_json((tmp_path / "audit" / "audit.json").read_text())
    assert again.numbers == found.numbers


def test_it_stands_beside_other_measures_and_changes_none_of_them(bring, tmp_path):
    alone = audited(tmp_path, "value-shares,coverage").numbers
    bring(QUESTIONS)
    both = audited(tmp_path, "value-shares,coverage,questions")
    assert [each.family for each in both.measures] == ["value-shares", "coverage", "questions"]
    assert tuple(each for each in both.numbers if each.family != "questions") == alone
    assert "of questions, of" in markdown.render(page(both)).split("is fair", 1)[1]


def test_it_is_measured_only_where_it_is_asked_for(bring):
    bring(QUESTIONS)
    assert "questions" not in ask({}).measures


def test_a_limit_can_name_it(bring, tmp_path):
    bring(QUESTIONS)
    limits = tuple(map(parse_limit, ("share_of_questions > 90 %", "share_of_questions > 1 %")))
    sets = [each.model_copy(update={"id": f"{each.id}-{k}"}) for k in range(2) for each in SETS]
    found = audited(tmp_path, sets=sets, made={each.id: SUMMARIES[each.id[:-2]] for each in sets})
    rows = gated(found, AUDIT_PAGE, GateRequest(limits)).gate.rows
    assert [row.outcome for row in rows] == ["passed", "breach"]


LEFT = """\
    from evenhand.evaluation.audit.kinds import NumberKind
    from evenhand.evaluation.audit.own import own_measure


    def words(item, of):
        of_value = {d.value: set(d.text.lower().split()) for d in item.documents}
        said = of.lower().split()
        return {value: sum(word in its for word in said) / len(said) for value, its in of_value.items()}


    def given(item):
        return words(item, item.summary)


    def even(item):
        return words(item, " ".join(d.text for d in item.documents))


    """
BY_VALUE = LEFT + 'FAMILY = own_measure(NumberKind("share of shared words"), given, by_value=True)\n'
NAMING = (
    LEFT
    + """FAMILY = own_measure(
        NumberKind("share of shared words", only_names=True), given, by_value=True, expected=even,
        null="a summary that is all documents",
    )
    """
)
LEANING = {each.id: "The ferry is cheap. Is it?" for each in SETS}


def test_numbers_by_value_stand_in_the_table_of_values_and_name_nobody(bring, tmp_path):
    bring(BY_VALUE)
    found = audited(tmp_path, leaning=LEANING)
    assert [each.side for each in found.numbers] == ["left", "right"]
    # of six words the left's document has all, and the right's "the" and "is"
    assert [each.value for each in found.numbers] == [pytest.approx(5 / 6), pytest.approx(3 / 6)]
    assert not found.represented
    assert found.title.endswith(" words: left 83.3 %, right 50.0 %")
    assert "of shared words" in markdown.render(page(found))


def test_values_are_named_where_the_measure_says_what_would_be_expected(bring, tmp_path):
    bring(NAMING)
    found = audited(tmp_path, leaning=LEANING)
    (named,) = found.represented
    assert (named.family, named.over, named.under) == ("questions", ("left",), ("right",))
    assert all(each in markdown.render(page(found)) for each in ("measured lower", "is all documents"))


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (
            "raise ValueError('no such word')",
            r"measure 'questions' of package mine 1\.0, set 'set-0', raised ValueError: no such word \(.*mine/__init__\.py:6\)",
        ),
        ("raise SystemExit(0)", "set 'set-0', raised SystemExit: 0"),
        ("return [0.5]", r"set 'set-0': gives '\[0.5\]' \(list\), and must give numbers"),
        ("return {'left': 0.5}", "must give a number"),
        ("return True", "must give numbers"),
        ("return 1.5", "must give shares from 0 to 1"),
        ("return -0.5", "must give shares from 0 to 1"),
        ("return 1j", "must give numbers"),
        ("return item", "must give numbers"),
    ],
)
def test_what_is_no_number_is_refused_in_one_message(bring, tmp_path, body, said):
    bring(_returning(body))
    with pytest.raises(PluginError, match=said):
        audited(tmp_path)


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("return float('nan')", "the measure gives nan"),
        ("return float('inf')", "the measure gives inf"),
        ("return None", "the measure gives no number"),
        ("return ''", "the measure gives no number"),
        ("return 'no verb'", "no verb"),
    ],
)
def test_a_summary_without_a_number_is_left_out_with_the_reason(bring, tmp_path, body, why):
    bring(_returning(f"if item.id == 'set-3':\n            {body}\n        return 0.5"))
    (number,) = audited(tmp_path).numbers
    assert (number.value, number.n_sets, number.reasons) == (0.5, 11, {why: 1})


def test_where_no_summary_has_a_number_nothing_is_left_to_audit(bring, tmp_path):
    bring(_returning("return float('nan')"))
    with pytest.raises(DataError, match=r"questions: the measure gives nan \(12 sets\)"):
        audited(tmp_path)


def _returning(body, kind='NumberKind("share of questions")', more=""):
    return f"""\
    from evenhand.evaluation.audit.kinds import NumberKind
    from evenhand.evaluation.audit.own import own_measure


    def score(item):
        {body}


    FAMILY = own_measure({kind}, score{more})
    """


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("return 0.5", "must give a dict of attribute values"),
        ("return {'nowhere': 0.5}", "must give numbers of left, right alone"),
        ("return {'left': 'much'}", "must give numbers"),
    ],
)
def test_numbers_by_value_of_another_shape_are_refused(bring, tmp_path, body, said):
    bring(_returning(body, more=", by_value=True"))
    with pytest.raises(PluginError, match=said):
        audited(tmp_path)


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("import nowhere_at_all", "cannot be imported from mine:FAMILY: ModuleNotFoundError"),
        ("FAMILY = len", "is builtin_function_or_method and no measure"),
        (_returning("return 0.5", 'NumberKind("BUR")'), "has a number 'BUR', as measure 'value-shares' has"),
        (_returning("return 0.5", 'NumberKind("bur")'), "has a number 'bur', as measure 'value-shares' has"),
        (_returning("return 0.5", 'NumberKind("a (b)")'), "names without brackets"),
        (
            _returning("return 0.5", 'NumberKind("a", only_names=True)'),
            "a measure that names values gives shares by_value",
        ),
        (_returning("return 0.5", 'NumberKind("a", votes=True)'), "a measure that names values gives shares by_value"),
        (_returning("return 0.5", more=", means='{of} %'"), "cannot be imported .* KeyError"),
    ],
)
def test_a_package_that_cannot_be_used_is_told(bring, tmp_path, code, said):
    bring(code)
    with pytest.raises(PluginError, match=said):
        audited(tmp_path)


@pytest.mark.parametrize("code", ["import nowhere_at_all", "raise SystemExit(3)", "FAMILY = len", "FAMILY ="])
def test_a_package_that_cannot_be_used_harms_no_other_measure(bring, tmp_path, caplog, code):
    bring(code)
    assert {each.family for each in audited(tmp_path, "value-shares").by_value} == {"value-shares"}
    assert [each.message for each in caplog.records if "measure 'questions' of package mine 1.0" in each.message]


@pytest.mark.parametrize(
    "name", ["coverage", pytest.param("opinions", marks=pytest.mark.needs("plugins/opinions")), "questions"]
)
def test_a_name_that_is_taken_is_told_with_both_packages(bring, tmp_path, name):
    bring(QUESTIONS, name)
    if name == "questions":
        bring(QUESTIONS, name, "other")
    with pytest.raises(PluginError, match=rf"measure '{name}' is brought by (mine|other|evenhand).* and by "):
        audited(tmp_path, name)


CLASS = """\
    from dataclasses import dataclass

    import numpy as np

    from evenhand.config.section import Section
    from evenhand.evaluation.audit.family import FamilyKind
    from evenhand.evaluation.audit.figures import Figures
    from evenhand.evaluation.audit.kinds import Measure, NumberKind, Quantity

    KIND = NumberKind("share of sets")


    class Options(Section):
        {option}: int = 1


    @dataclass
    class Own:
        name: str
        by = ""
        signature = "own"

        def measure(self, items):
            return {answers}

        def figures(self, found):
            n = len(found)
            made = dict(
                quantities=(Quantity(Measure(KIND)),), columns=np.ones((n, 2)), reduce=lambda sums: sums[..., :1] / sums[..., 1:],
                rests_on=np.ones((n, 1), dtype=bool), unfairness=np.zeros(n), left_out=(None,) * n,
            )
            return {figures}

        def sentence(self, kind, point, figures):
            return f"{{point}} %"

        def example(self, item, found, left_out=None):
            raise NotImplementedError


    FAMILY = FamilyKind(lambda opening: {opened}, (KIND,), options=Options)
    """


def _class(option="depth", answers="list(items)", figures="Figures(**made)", opened="Own(opening.name)"):
    return CLASS.format(option=option, answers=answers, figures=figures, opened=opened)


def test_a_class_of_a_package_is_a_family_too_and_has_options(bring, tmp_path):
    bring(_class())
    assert [each.value for each in audited(tmp_path).numbers] == [1.0]
    assert ask({"measures": "questions", "depth": 3}).measure_options["questions"].depth == 3
    with pytest.raises(DataError, match="depth"):
        ask({"measures": "questions", "depth": "deep"})
    with pytest.raises(DataError, match="--depth has no effect without measure 'questions'"):
        ask({"measures": "coverage", "depth": 3})
    with pytest.raises(DataError, match="option 'dept' is not known; did you mean 'depth'"):
        ask({"measures": "questions", "dept": 3})


def test_options_of_measures_are_given_by_name_on_the_command_line():
    assert read_option_entries(["depth=3", "word-forms={a: b}"], ["tau"]) == {"depth": 3, "word_forms": {"a": "b"}}


@pytest.mark.parametrize(
    ("entries", "said"),
    [
        (["depth"], "--option 'depth': write NAME=VALUE"),
        (["=3"], "write NAME=VALUE"),
        (["tau=1"], "--option 'tau=1': is no measure's own; write --tau VALUE"),
        (["depth=3", "depth=4"], "--option depth is given twice"),
        (["depth=[3"], "--option 'depth=.*: the value"),
        (["a", "tau=1"], "(?s)write NAME=VALUE.*is no measure's own"),
    ],
)
def test_options_that_are_written_otherwise_are_refused(entries, said):
    with pytest.raises(DataError, match=said):
        read_option_entries(entries, ["tau"])


@pytest.mark.parametrize("option", ["tau", pytest.param("opinion_units", marks=pytest.mark.needs("plugins/opinions"))])
def test_an_option_that_is_taken_is_told(bring, option):
    bring(_class(option))
    with pytest.raises(
        PluginError, match=f"measure 'questions' has an option '{option}'|measure 'opinions' .* '{option}'"
    ):
        ask({"measures": "questions"})


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"answers": "items[1:]"}, "gives 11 answers for 12 summaries"),
        ({"answers": "None"}, r"measure 'questions' of package mine 1\.0 gives NoneType for 12 summaries"),
        (
            {"answers": "1 / 0"},
            r"measure 'questions' of package mine 1\.0 raised ZeroDivisionError: .*mine/__init__\.py",
        ),
        (
            {"figures": "Figures(**made | {'reduce': lambda sums: 1 / 0})"},
            r"package mine 1\.0 raised ZeroDivisionError",
        ),
        ({"figures": "Figures(**made | {'left_out': None})"}, r"package mine 1\.0 raised TypeError"),
        ({"figures": "None"}, "gives NoneType and no Figures"),
        (
            {"figures": "Figures(**made | {'columns': np.ones((3, 2))})"},
            r"columns must be numbers of shape \(12, columns\)",
        ),
        ({"figures": "Figures(**made | {'columns': np.full((n, 2), np.nan)})"}, "columns must be finite"),
        ({"figures": "Figures(**made | {'reduce': lambda sums: sums})"}, "reduce must give 1 numbers"),
        (
            {"figures": "Figures(**made | {'reduce': lambda sums: sums[..., :1]})"},
            "'share of sets' is a share, and 12 is none",
        ),
        (
            {"figures": "Figures(**made | {'rests_on': np.ones((n, 3), dtype=bool)})"},
            r"rests_on must have shape \(12, 1\)",
        ),
        ({"figures": "Figures(**made | {'left_out': ()})"}, "left_out must be of 12 sets"),
        ({"figures": "Figures(**made | {'nulls': ('chance',)})"}, "nulls must be none, or 1 with expect"),
        (
            {"figures": "Figures(**made | {'quantities': (Quantity(Measure(NumberKind('BUR'))),)})"},
            "of the kinds that the family declares",
        ),
        ({"opened": "Own('other')"}, "is opened as Own 'other', which is no family of that name"),
        ({"opened": "opening"}, "is opened as Opening 'questions', which is no family"),
    ],
)
def test_a_class_whose_figures_do_not_hold_together_is_refused(bring, tmp_path, change, said):
    bring(_class(**change))
    with pytest.raises(PluginError, match=said):
        audited(tmp_path)


def test_a_library_that_a_measure_needs_is_named(bring, tmp_path):
    bring(_class().replace("options=Options", "options=Options, needs=('nowhere_at_all',)"))
    with pytest.raises(MissingExtra, match="measure 'questions' needs nowhere_at_all"):
        audited(tmp_path)


@pytest.mark.needs("plugins/bias", "plugins/opinions")
def test_what_a_plug_in_brings_is_refused_where_it_is_deleted(tmp_path, monkeypatch):
    monkeypatch.setattr(doors, "PLUGINS", tmp_path)
    _forget()
    assert ask({}).measures == ("value-shares", "coverage")
    with pytest.raises(
        DataError, match=r".opinions. is not known\. Measures are value-shares, coverage, FILE\.py:FUNCTION$"
    ):
        read_measures("opinions")
    for option, value in (("word_lists", "lists.yaml"), ("tone", "vader"), ("bounds", True), ("published", True)):
        with pytest.raises(DataError, match=f"option '{option}' is not known"):
            ask({option: value})
    assert {"bur", "share in summaries"} <= {*AUDIT_PAGE.functions}
    assert "opinion graph" not in AUDIT_PAGE.functions
    monkeypatch.undo()
    _forget()


SUPPLEMENT = """
from evenhand.config.section import Section
from evenhand.evaluation.audit.contents import AuditNumber
from evenhand.evaluation.audit.supplements import Supplement

class Options(Section):
    twice: bool = False

def numbers(measured, corpus, bootstrap, options):
    yield AuditNumber(measure="BUR (words)", system="made", how="by hand", value=DIVIDEND / 2, n_sets=len(corpus.sets))

FAMILY = Supplement(numbers, Options, effects={"twice": "value-shares"})
"""


def test_a_supplement_has_numbers_beside_only_where_its_option_asks(bring, tmp_path):
    bring(SUPPLEMENT.replace("DIVIDEND", "1"), name="halves", door="supplements")
    with pytest.raises(DataError, match="--twice has no effect without measure 'value-shares'"):
        ask({"measures": "coverage", "twice": True})
    options = {"measures": "value-shares", "matcher": "words", "resamples": 100}
    documents = write_sets(tmp_path / "docs.jsonl", SETS)
    files = (("made", write_summaries(tmp_path / "made.jsonl", SUMMARIES)),)
    corpus = read_input(AuditFiles(documents, ATTRIBUTE, summaries=files))
    asked = run_audit(ask(options | {"twice": True}), lambda: corpus, None)
    assert [(each.how, each.value) for each in asked.beside] == [("by hand", 0.5)]
    assert asked.options["twice"] is True
    assert run_audit(ask(options), lambda: corpus, None).beside == ()


def test_what_a_supplement_raises_says_whose_it_is(bring, tmp_path):
    bring(SUPPLEMENT.replace("DIVIDEND", "'x'"), name="halves", door="supplements")
    documents = write_sets(tmp_path / "docs.jsonl", SETS)
    files = (("made", write_summaries(tmp_path / "made.jsonl", SUMMARIES)),)
    corpus = read_input(AuditFiles(documents, ATTRIBUTE, summaries=files))
    request = ask({"measures": "value-shares", "matcher": "words", "resamples": 100, "twice": True})
    with pytest.raises(PluginError, match=r"supplement 'halves' of package mine 1\.0 raised TypeError"):
        run_audit(request, lambda: corpus, None)


@pytest.mark.needs("plugins/published", "plugins/order")
def test_a_supplement_whose_option_or_name_is_taken_is_refused(bring):
    bring(SUPPLEMENT.replace("twice", "bounds"), name="halves", door="supplements")
    with pytest.raises(PluginError, match="supplement 'published' has an option 'bounds', as supplement 'halves' has"):
        ask({})
    bring(SUPPLEMENT, name="tone", package="other", door="supplements")
    with pytest.raises(PluginError, match="supplement 'tone' has the name of a measure"):
        ask({})
