import json
import os
import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
from method_runs import make_recipe
from typer.testing import CliRunner

from evenhand.cli.app import app
from evenhand.config.plain_yaml import parse_yaml
from evenhand.corpora.bundled import DOCUMENTS, SUMMARIES, file_of
from evenhand.errors import EvenhandError
from tests.audit_inputs import ATTRIBUTE, two_sided, write_sets, write_summaries

ONE_SIDED = "Apple berry. Cherry grape. Apple grape."


def evenhand(*arguments):
    """Exit code and what was said; in this process."""
    found = CliRunner().invoke(app, list(map(str, arguments)), env={"COLUMNS": "100"})
    if isinstance(found.exception, EvenhandError):
        return found.exception.exit_code, f"{found.stdout}\n{found.exception}"
    return found.exit_code, found.stdout + found.stderr


@pytest.fixture
def inputs(tmp_path):
    sets = two_sided(24)
    documents = write_sets(tmp_path / "docs.jsonl", sets)
    summaries = write_summaries(tmp_path / "sided.jsonl", {each.id: ONE_SIDED for each in sets})
    named = ("--documents", documents, "--attribute", ATTRIBUTE, "--summaries", summaries)
    return ("audit", *named, "--measures", "value-shares", "--matcher", "words", "--resamples", 100)


def test_a_breach_ends_with_code_4_after_everything_is_written(inputs, tmp_path):
    out, files = tmp_path / "out", ("--junit", tmp_path / "gate.xml", "--markdown", tmp_path / "gate.md")
    code, said = evenhand(*inputs, "--out", out, "--fail-if", "worst_gap(shares) < -0.1", *files)
    assert (code, "breach" in said) == (4, True)
    assert {"audit.json", "index.html"} <= {path.name for path in out.iterdir()}
    assert ElementTree.parse(tmp_path / "gate.xml").getroot()[0].get("failures") == "1"  # noqa: S314 (our own file)
    assert "breach" in (tmp_path / "gate.md").read_text()
    again = ("--fail-if", "worst_gap(shares) < -0.02", "--baseline", out)
    assert evenhand(*inputs, "--out", tmp_path / "again", *again)[0] == 0
    # a measure that was not taken
    assert evenhand(*inputs, "--out", tmp_path / "third", "--fail-if", "equal_coverage > 0.5")[0] == 4


@pytest.mark.parametrize(
    "wrong",
    [
        ("--fail-if", "__import__('os')"),
        ("--fail-if", "bur < nan"),
        ("--fail-if", "bru < 1"),
        ("--fail-if", "bur < 1", "--baseline", "absent.json"),
        ("--profile", "absent.yaml"),
        ("--strict",),
        ("--junit", "gate.xml"),
        ("--fail-if", "bur < 1", "--junit", "/proc/gate.xml"),
        ("--fail-if", "bur < 1", "--markdown", "/proc"),
    ],
)
def test_mistakes_are_told_before_any_work(inputs, tmp_path, wrong):
    code, said = evenhand(*inputs, "--out", tmp_path / "out", *wrong)
    assert (code, any(str(each) in said for each in wrong)) == (2, True)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("verb", ["audit", "report", "compare"])
def test_names_are_told_without_anything_else(verb):
    code, said = evenhand(verb, "--fail-if", "help")
    assert code == 0
    assert "worst_gap" in said


ABSENT = 'raise ModuleNotFoundError("No module named {0!r}", name={0!r})\n'
WITHOUT_DATA = {"EVENHAND_NLTK": "", "NLTK_DATA": "/nowhere", "HOME": "/nowhere"}


@pytest.fixture(scope="module")
def bare(tmp_path_factory):
    """The environment of a machine that has neither a sentence encoder nor NLTK's data."""
    hidden = tmp_path_factory.mktemp("hidden")
    (hidden / "sentence_transformers.py").write_text(ABSENT.format("sentence_transformers"))
    return {**os.environ, **WITHOUT_DATA, "PYTHONPATH": f"{hidden}:{os.environ.get('PYTHONPATH', '')}"}


@pytest.fixture(scope="module")
def documented(tmp_path_factory):
    """A folder as docs/gate.md has it, and its commands: what makes the baseline, and the step of the workflow."""
    folder = tmp_path_factory.mktemp("repository")
    text = (Path(__file__).parents[2] / "docs" / "gate.md").read_text("utf-8")
    in_ci = text[text.index("## In CI") :]
    blocks = dict(re.findall(r"```(bash|yaml)\n(.*?)```", in_ci, re.DOTALL))
    profile = re.search(r"<!-- file: gate.yaml -->\n```yaml\n(.*?)```", text, re.DOTALL)
    (step,) = (s for s in parse_yaml(blocks["yaml"])["jobs"]["audit"]["steps"] if s.get("name") == "Gate")
    (folder / "test").mkdir()
    (folder / "test" / "gate.yaml").write_text(profile[1])
    (folder / "bin").mkdir()
    command = folder / "bin" / "evenhand"
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -m evenhand "$@"\n')
    command.chmod(0o755)
    documents = file_of(Path("reviews"), DOCUMENTS).read_text("utf-8").replace('"sentiment"', f'"{ATTRIBUTE}"')
    (folder / "test" / "documents.jsonl").write_text("".join(documents.splitlines(keepends=True)[:24]))
    summaries = file_of(Path("even-handed"), SUMMARIES).read_text("utf-8")
    (folder / "summaries.jsonl").write_text("".join(summaries.splitlines(keepends=True)[:24]))
    return folder, blocks["bash"], step["run"]


def shell(folder, command, environment):
    path = f"{folder / 'bin'}:{environment['PATH']}"
    return subprocess.run(
        ["/bin/sh", "-ec", command],
        cwd=folder,
        env={**environment, "PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_documented_workflow_passes_on_a_machine_without_an_encoder(documented, bare):
    folder, baseline, gate = documented
    made = shell(folder, baseline, dict(os.environ))
    assert made.returncode == 0, made.stderr
    done = shell(folder, gate, bare)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "passed" in (folder / "gate.md").read_text()


@pytest.fixture
def audited(tmp_path):
    """Audits with these options, into a folder of this name: exit code, and what was said."""
    named = ("--documents", "reviews", "--attribute", "sentiment", "--limit", 24, "--resamples", 100)

    def run(out, *options, environment=None):
        line = ["audit", *named, "--summaries", "even-handed", "--out", tmp_path / out, *options]
        if environment is None:
            return evenhand(*line)
        done = subprocess.run(
            [sys.executable, "-m", "evenhand", *map(str, line)],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        return done.returncode, done.stdout + done.stderr

    return run


def made_by_encoder(folder):
    """The audit in a folder, as if its coverage were by an encoder."""
    file = folder / "audit.json"
    text = file.read_text().replace('"coverage|words|', '"coverage|encoder|model:embedded:mini|')
    file.write_text(re.sub(r'("family": "coverage",\s*"by": )"words"', r'\1"encoder"', text))


LIMIT = ("--fail-if", "worst_gap(coverage) < -0.5")
COVERAGE, SHARES = ("--measures", "coverage"), ("--measures", "coverage,value-shares", "--matcher", "words")


def test_a_default_that_differs_between_machines_is_named(audited, tmp_path, bare):
    assert audited("base", *COVERAGE, "--entailer", "words")[0] == 0
    made_by_encoder(tmp_path / "base")
    code, said = audited("new", *COVERAGE, *LIMIT, "--baseline", tmp_path / "base", environment=bare)
    assert (code, "measuring" in said, (tmp_path / "new").exists()) == (2, False, False)
    assert "coverage is by 'words' now (the default of --entailer here, because entailer 'encoder' needs" in said
    assert (
        "was by 'encoder'; give --entailer words to both, or --entailer encoder here, once what it needs is installed"
        in said
    )
    # what was asked for by its name depends on no machine
    code, said = audited("new", *COVERAGE, *LIMIT, "--entailer", "words", "--baseline", tmp_path / "base")
    assert (code, "by 'words' now and was by 'encoder'" in said, (tmp_path / "new").exists()) == (2, True, False)


def test_a_measure_that_no_limit_is_about_may_be_taken_otherwise(audited, tmp_path):
    assert audited("base", *SHARES, "--entailer", "words")[0] == 0
    made_by_encoder(tmp_path / "base")
    options = (*SHARES, "--entailer", "words", "--baseline", tmp_path / "base")
    assert audited("new", *options, "--fail-if", "worst_gap(shares) < -0.5")[0] == 0
    # of the number itself, no baseline is needed
    assert audited("new", *options, "--fail-if", "now worst_coverage_difference < -0.9")[0] == 0
    assert audited("third", *options, "--fail-if", "worst_coverage_difference < -0.5")[0] == 2


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--tau", 0.5), "value-shares is value-shares|words"),
        (("--limit", 20), "is about 24 document sets, and this is about 20"),
        (("--attribute", "style"), "its attribute is 'sentiment', and it is 'style' now"),
    ],
)
def test_another_baseline_is_told_before_anything_is_measured(inputs, tmp_path, options, said):
    documents = file_of(Path("reviews"), DOCUMENTS).read_text("utf-8")
    (tmp_path / "both.jsonl").write_text(re.sub(r'("sentiment": ("\w+"))', r'\1, "style": \2', documents))
    usual = {"--attribute": "sentiment", "--limit": 24, "--tau": 0.8}

    def line(out, *more, **changes):
        given = usual | changes
        named = [str(part) for option in given.items() for part in option]
        summaries = (
            "--summaries",
            "even-handed",
            "--measures",
            "value-shares",
            "--matcher",
            "words",
            "--resamples",
            100,
        )
        return evenhand(
            "audit", "--documents", tmp_path / "both.jsonl", *named, *summaries, "--out", tmp_path / out, *more
        )

    assert line("base")[0] == 0
    gate = ("--fail-if", "worst_gap(shares) < -0.5", "--baseline", tmp_path / "base")
    assert line("same", *gate)[0] == 0
    code, text = line("new", *gate, **dict([options]))
    assert (code, said in text, (tmp_path / "new").exists()) == (2, True, False)


@pytest.mark.usefixtures("quick_commands")
def test_reports_and_comparisons_look_at_their_baseline_before_anything_is_run(tmp_path):
    values = make_recipe("zero-shot").model_dump(mode="json", exclude_unset=True)
    values |= {"corpus": {"path": "sample", "test": {"split": "test"}}, "output": str(tmp_path / "run")}
    recipe = tmp_path / "plain.yaml"
    recipe.write_text(json.dumps(values))
    compared = ("compare", recipe, "--out", tmp_path / "out", "--budgets", "1")
    assert evenhand("loop", recipe)[0] == evenhand(*compared)[0] == 0
    verbs = {
        ("report", recipe): tmp_path / "run" / "report" / "report.json",
        compared: tmp_path / "out" / "comparison.json",
    }
    for verb, file in verbs.items():
        earlier = tmp_path / file.name
        earlier.write_bytes(file.read_bytes())
        limit = ("--fail-if", "mean(overlap) < -1", "--baseline", earlier)
        code, said = evenhand(*verb, *limit)
        assert code == 0, said
        before = sorted(path for path in tmp_path.rglob("*") if path.is_file())
        for change, why in (
            ("corpus.test.limit=3", "other documents"),
            ("judges.overlap.type=rouge2", "overlap is rouge2"),
        ):
            code, said = evenhand(*verb, *limit, "--set", change)
            assert (code, why in said) == (2, True)
        assert sorted(path for path in tmp_path.rglob("*") if path.is_file()) == before


def test_a_result_that_is_there_is_held_to_limits_as_by_the_command_that_made_it(inputs, tmp_path):
    out = tmp_path / "out"
    assert evenhand(*inputs, "--out", out)[0] == 0
    before = (out / "audit.json").read_bytes()
    for limit in ("worst_gap(shares) < -0.1", "worst_gap(shares) < -0.9", "equal_coverage > 0.5"):
        files = [tmp_path / f"{name}.xml" for name in "ab"]
        made, said = evenhand(*inputs, "--out", tmp_path / "again", "--fail-if", limit, "--junit", files[0])
        held, said_of_it = evenhand("gate", out, "--fail-if", limit, "--junit", files[1])
        assert (made, files[0].read_text()) == (held, files[1].read_text())
        assert said.splitlines()[-1] == said_of_it.splitlines()[-1] if made else "Gate passed" in said_of_it
    change = ("--fail-if", "worst_gap(shares) < -0.02", "--baseline", out)
    assert evenhand("gate", out / "audit.json", *change)[0] == 0
    assert (out / "audit.json").read_bytes() == before


def test_a_gate_by_itself_refuses_what_is_no_result(inputs, tmp_path):
    out, limit = tmp_path / "out", ("--fail-if", "worst_gap(shares) < -0.1")
    assert evenhand(*inputs, "--out", out)[0] == 0
    result = json.loads((out / "audit.json").read_text())
    (tmp_path / "broken.json").write_text("{")
    (tmp_path / "comparison.json").write_text('{"format": "evenhand-comparison/3"}')
    (tmp_path / "older.json").write_text(json.dumps(result | {"format": "evenhand-audit/1"}))
    (tmp_path / "report.json").write_text('{"format": "evenhand-report/11"}')
    units = [note | {"signature": "coverage|llm(x)"} for note in result["measures"]]
    (tmp_path / "units.json").write_text(json.dumps(result | {"measures": units}))
    for words, why in (
        ([tmp_path / "absent.json", *limit], "cannot be read"),
        ([tmp_path / "broken.json", *limit], "is no audit.json and no report.json"),
        ([out / "tables", *limit], "has no audit.json and no report.json; name the folder"),
        ([tmp_path / "comparison.json", *limit], "`evenhand compare` takes limits itself"),
        ([tmp_path / "older.json", *limit], "an audit of another version"),
        ([tmp_path / "report.json", "--fail-if", "mean(coverage) < 0.1"], "report.json: "),
        ([out], "add --fail-if"),
        ([out, "--fail-if", "bru < 1"], "'bru' is not known"),
        ([tmp_path / "units.json", "--fail-if", "gap(coverage) < -0.1"], "units that a language model makes"),
    ):
        code, said = evenhand("gate", *words)
        assert (code, why in said, "Traceback" in said) == (2, True, False), said


@pytest.mark.usefixtures("quick_commands")
def test_a_run_is_held_to_limits_by_its_recipe(tmp_path):
    values = make_recipe("zero-shot").model_dump(mode="json", exclude_unset=True)
    values |= {"corpus": {"path": "sample", "test": {"split": "test"}}, "output": str(tmp_path / "run")}
    (tmp_path / "plain.yaml").write_text(json.dumps(values))
    assert evenhand("loop", tmp_path / "plain.yaml")[0] == 0
    # twelve sets are too few to tell
    for options, code in (((), 0), (("--strict",), 4)):
        assert evenhand("gate", tmp_path / "run", "--fail-if", "mean(overlap) > -1", *options)[0] == code
    (tmp_path / "alone.json").write_bytes((tmp_path / "run/report/report.json").read_bytes())
    code, said = evenhand("gate", tmp_path / "alone.json", "--fail-if", "mean(overlap) < -1")
    assert (code, "lies in no run's folder" in said) == (2, True), said
