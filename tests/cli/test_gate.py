from xml.etree import ElementTree

import pytest
from typer.testing import CliRunner

from evenhand.cli.app import app
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
