"""The documentation: what it points to is there, and what the package cites is written in it."""

import importlib.util
import json
import os
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from evenhand.cli.app import app
from evenhand.config import GenerateSection
from evenhand.config.generate import METHOD_SECTIONS
from evenhand.config.judges import JUDGE_SECTIONS
from evenhand.config.plain_yaml import parse_yaml
from evenhand.generate.methods import METHODS
from evenhand.judges import JUDGES

ROOT = Path(__file__).parents[1]
PAPERS = re.compile(r"docs/papers\.md((?:#[\w-]+)(?: and #[\w-]+)*)")


def modules() -> Iterator[Path]:
    for path in ROOT.rglob("*.py"):
        if not any(part.startswith(".") for part in path.relative_to(ROOT).parts):
            yield path


def test_every_cited_anchor_of_the_papers_page_is_there():
    anchors = set(re.findall(r'<a id="([\w-]+)"', (ROOT / "docs/papers.md").read_text("utf-8")))
    dangling = {
        f"{path.relative_to(ROOT)}: #{name}"
        for path in modules()
        for cited in PAPERS.finditer(path.read_text("utf-8"))
        for name in re.findall(r"[\w-]+", cited[1].replace(" and ", " "))
        if name not in anchors
    }
    assert not dangling


def test_no_citation_leads_to_a_text_that_is_not_here():
    elsewhere = [
        str(path)
        for path in modules()
        if re.search(r"specification\s+of\s+(the\s+seed|group|opinion|demog)", path.read_text("utf-8"))
    ]
    assert not elsewhere


@pytest.fixture(scope="module")
def generated() -> Any:
    """The module that makes pages from the code."""
    found = importlib.util.spec_from_file_location("generated", ROOT / "docs/generated.py")
    assert found is not None and found.loader is not None
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


def test_a_reader_that_has_seen_enough_of_a_page_is_no_error():
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(
        [sys.executable, ROOT / "docs/generated.py", "keys.md"],
        stdout=write,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    os.close(write)
    assert (done.returncode, done.stderr) == (0, "")


def test_page_of_recipe_keys_has_every_key_with_its_meaning(generated):
    tables = [
        {key: row for row in part.splitlines() for key in re.findall(r"^\| `(\w+)` \|", row)}
        for part in generated.recipe_keys().split("| key | type | default | meaning |")[1:]
    ]
    for root in generated.RECIPES.values():
        schema = root.model_json_schema()
        for section in (schema, *schema["$defs"].values()):
            if section.get("properties"):
                further = GenerateSection.further_sections() if section["title"] == "GenerateSection" else {}
                assert {*section["properties"], *further} in [set(table) for table in tables], section["title"]
    for section in (*JUDGE_SECTIONS.values(), *filter(lambda each: each.model_fields, METHOD_SECTIONS.values())):
        assert set(section.model_fields) in [set(table) for table in tables], section
    assert not [row for table in tables for row in table.values() if row.endswith("|  |")]


def test_the_notebook_runs_and_is_a_page_with_what_it_shows(generated, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    cells = list(generated.run_notebook())
    shown = [value for _, value in cells if value is not None]
    documents, candidates, judgements, best, pairs, audit, aggregates = shown
    assert all("<table" in each._repr_html_() for each in shown[:-1])
    assert len(candidates) == 9 * len(documents) == 9 * len(best) and len(judgements) == 2 * len(candidates)
    assert len(pairs) and {row["system"] for row in aggregates} == {"first", "best of 9"} and audit.folder is None
    # rewards are means of z-scores within a request, whose best is not below their mean
    assert all(row["reward"] >= 0 for row in best.rows())
    page = generated.notebook(cells)
    assert page.startswith("# evenhand in fifteen lines\n") and "<48 document sets" in page and "UER (words)" in page
    assert page.count("```python") == page.count("```text") == len(shown)


def test_command_reference_has_every_command_and_option(generated):
    page = generated.command_reference()
    for words in ("loop", "human score", "import polisum", "judges convert bleurt", "recipes", "recipes copy"):
        assert f"\n## {words}\n" in page
    assert "| `--dry-run` |" in page and "| `RECIPE` | required |" in page


PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
# a block, and the comment above it that names its file or says why it is not run
BLOCK = re.compile(r"^(?:<!-- (file|not run): ([^\n]+) -->\n)?```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SHOWN_ONLY = {"", "text"}


@dataclass(frozen=True)
class Block:
    """A code block of a page."""

    language: str
    text: str
    # where it is written to, or why it is not run; "" for neither
    file: str
    reason: str


def blocks(page: Path) -> list[Block]:
    text = page.read_text("utf-8")
    found = [
        Block(each[3], each[4], each[2] if each[1] == "file" else "", each[2] if each[1] == "not run" else "")
        for each in BLOCK.finditer(text)
    ]
    assert 2 * len(found) == len(re.findall(r"^\s*```", text, re.MULTILINE)), f"{page.name}: a block is not seen"
    return found


def run_line(line: str, folder: Path) -> None:
    """A command, in this process where it is evenhand's."""
    words = shlex.split(line, comments=True)
    if words[0] == "evenhand":
        found = CliRunner().invoke(app, words[1:])
        assert found.exit_code == 0, f"{line}: {found.output}"
    else:
        subprocess.run(line, shell=True, cwd=folder, check=True)  # noqa: S602


def run_block(block: Block, folder: Path) -> None:
    if block.file:
        (folder / block.file).write_text(block.text, "utf-8")
    match block.language:
        case "bash":
            for line in block.text.replace("\\\n", " ").splitlines():
                if line.split("#")[0].strip():
                    run_line(line, folder)
        case "python":
            subprocess.run([sys.executable, "-c", block.text], cwd=folder, check=True, capture_output=True)
        case "yaml":
            assert parse_yaml(block.text)
        case "json":
            assert all(json.loads(line) for line in block.text.splitlines())
        case "toml":
            assert tomllib.loads(block.text)
        case "csv":
            assert len({line.count(",") for line in block.text.splitlines()}) == 1
        case _:
            assert block.language in SHOWN_ONLY, f"blocks of {block.language!r} are not read here"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_code_block_runs(page, tmp_path, monkeypatch):
    for name in ("recipes", "requirements"):
        (tmp_path / name).symlink_to(ROOT / name)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setenv("PATH", os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]))
    for block in blocks(page):
        if not block.reason:
            run_block(block, tmp_path)


def test_a_command_that_is_not_run_is_one_of_evenhands_all_the_same(generated):
    commands = {line[3:] for line in generated.command_reference().splitlines() if line.startswith("## ")}
    for page in PAGES:
        for block in blocks(page):
            for line in re.findall(r"^evenhand ([\w-]+(?: [\w-]+)?)", block.text, re.MULTILINE):
                if block.language == "bash":
                    assert commands & {line, line.split()[0]} or line.split()[0] == "recipes", (
                        f"{page.name}: evenhand {line}"
                    )


def test_every_judge_and_every_method_has_its_entry():
    judges = (ROOT / "docs/judges.md").read_text("utf-8")
    entries = {part.split("`")[0]: part for part in judges.split("\n### `")[1:]}
    assert set(entries) == set(JUDGES)
    for kind, text in entries.items():
        assert f"| [`{kind}`](#{kind}) |" in judges
        assert all(f"**{each}**" in text for each in ("Range", "Blind to", "Run with its released weights?")), kind
    methods = (ROOT / "docs/methods.md").read_text("utf-8")
    assert all(f"| `{method}` |" in methods for method in METHODS)


def test_every_relative_link_resolves(generated):
    made = {f"docs/{name}" for name in generated.PAGES}
    dangling = []
    for page in [*PAGES, ROOT / "CHANGELOG.md", ROOT / "SECURITY.md"]:
        for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text("utf-8")):
            if re.match(r"\w+:", target):
                continue
            path, _, anchor = target.partition("#")
            there = (page.parent / path).resolve() if path else page
            if str(there.relative_to(ROOT)) in made:
                continue
            if not there.exists() or (anchor and anchor not in anchors(there)):
                dangling.append(f"{page.name}: {target}")
    assert not dangling


def anchors(page: Path) -> set[str]:
    """What a link may point to: headings, as both GitHub and mkdocs name them, and anchors of our own."""
    text = page.read_text("utf-8")
    headings = re.findall(r"^#+ (.+)$", re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL), re.MULTILINE)
    named = {re.sub(r"\s+", "-", re.sub(r"[^\w\s-]", "", each.lower()).strip()) for each in headings}
    return named | set(re.findall(r'<a id="([\w-]+)"', text))


def test_the_readme_stays_short():
    assert len((ROOT / "README.md").read_text("utf-8").splitlines()) <= 150
