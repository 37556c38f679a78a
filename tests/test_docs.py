"""The documentation: what it points to is there, and what the package cites is written in it."""

import importlib.util
import json
import os
import re
import shlex
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from sources import ROOT, modules
from typer.testing import CliRunner

from evenhand.cli.app import app
from evenhand.config import GenerateSection, Recipe
from evenhand.config.generate import METHOD_SECTIONS
from evenhand.config.judges import JUDGE_SECTIONS
from evenhand.config.plain_yaml import parse_yaml
from evenhand.config.recipe_file import load_recipe
from evenhand.errors import RecipeError
from evenhand.generate.methods import METHODS
from evenhand.judges import JUDGES

PAPERS = re.compile(r"docs/papers\.md((?:#[\w-]+)(?: and #[\w-]+)*)")


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
        whole = [schema] if root is not Recipe else []
        for section in (*whole, *schema["$defs"].values()):
            if section.get("properties"):
                further = GenerateSection.further_sections() if section["title"] == "GenerateSection" else {}
                assert {*section["properties"], *further} in [set(table) for table in tables], section["title"]
    for section in (*JUDGE_SECTIONS.values(), *filter(lambda each: each.model_fields, METHOD_SECTIONS.values())):
        assert set(section.model_fields) in [set(table) for table in tables], section
    assert not [row for table in tables for row in table.values() if row.endswith("|  |")]


def test_each_key_of_a_run_is_under_one_thing_that_one_wants_to_do(generated):
    keys = [key for goal in generated.GOALS.values() for key in goal[0]] + list(generated.OTHER_KEYS)
    assert sorted(keys) == sorted(Recipe.model_fields)
    page = generated.recipe_keys()
    headings = {generated._anchor(line.lstrip("# ")) for line in page.splitlines() if line.startswith("#")}
    assert {*re.findall(r"\]\(#([\w-]+)\)", page)} <= headings


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
    """A command, in this process where it is evenhand's; what it ends with stands in its comment if it is not 0."""
    words = shlex.split(line, comments=True)
    if words[0] == "evenhand":
        found = CliRunner().invoke(app, words[1:])
        code = re.search(r"# exit code (\d)$", line.rstrip())
        assert getattr(found.exception, "exit_code", found.exit_code) == int(code[1] if code else 0), (
            f"{line}: {found.output}"
        )
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


@pytest.mark.usefixtures("quick_commands")
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


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_parts_of_recipes_that_a_page_shows_have_keys_and_values_of_the_right_kind(page, tmp_path):
    recipe = tmp_path / "recipe.yaml"
    for block in blocks(page):
        values = parse_yaml(block.text) if block.language == "yaml" else None
        if not isinstance(values, dict) or not values.keys() <= {*Recipe.model_fields, "extends"}:
            continue
        recipe.write_text(("" if "extends" in values else f"extends: {ROOT}/recipes/quickstart.yaml\n") + block.text)
        try:
            load_recipe(recipe)
        except RecipeError as error:
            # a part may not go with the rest of the recipe that it is put into here
            assert not re.search(r"is not known|is missing|needs an? |should be ", str(error)), f"{page.name}: {error}"


@pytest.mark.slow
@pytest.mark.usefixtures("quick_python")
def test_the_training_that_is_taught_runs_with_a_model_of_two_layers(tiny_model, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ACCELERATE_MIXED_PRECISION", "no")
    shown = blocks(ROOT / "docs/train-your-topics.md")
    for block in shown:
        if block.language in {"python", "yaml"}:
            run_block(block, tmp_path)
    # a random model's own words never end, and make no pairs
    changes = {
        "model.name": tiny_model, "model.dtype": "float32", "generate.backend": "scripted", "generate.engine.tokenize": "true",
        "corpus.train.limit": 2, "corpus.test.limit": 2, "pairs.least_margin": 0, "pairs.most_length_ratio": "null",
        # an encoder takes longer to open than all else; `validate` has read the page's own judges
        **{f"judges.{name}": f"{{kind: rouge, type: rouge2, measure: {name}}}" for name in ("precision", "recall")},
    }  # fmt: skip
    quick = [word for key, value in changes.items() for word in ("--set", f"{key}={value}")]
    loop, pairs = (block.text.strip() for block in shown if block.reason)
    for command in ([*loop.split(), *quick], pairs.split()):
        done = subprocess.run(
            [sys.executable, "-m", *command], capture_output=True, text=True, timeout=1200, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
    run = tmp_path / "runs/topics"
    made = ("report/index.html", "report/report.json", "report/pairs-round-00.html", "round-00/pairs.jsonl")
    assert all((run / each).is_file() for each in (*made, "round-00/adapter/adapter_model.safetensors"))


def test_recipe_that_is_taught_has_the_lines_that_the_page_promises():
    recipe = next(block for block in blocks(ROOT / "docs/train-your-topics.md") if block.file == "topics.yaml")
    assert len(recipe.text.splitlines()) <= 25


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


# pages in which things are looked up, and the page that another issue rewrites
REFERENCES = {"papers"}
MOST_WORDS = 2000


@pytest.mark.parametrize("page", sorted((ROOT / "docs").glob("*.md")), ids=lambda page: page.stem)
def test_a_page_can_be_read_at_one_sitting(page):
    if page.stem not in REFERENCES:
        # lines of tables are no words
        assert sum(map(bool, map(re.compile(r"\w").search, page.read_text("utf-8").split()))) <= MOST_WORDS


def test_what_is_taught_first_is_short_and_is_linked_from_the_first_page():
    first = (ROOT / "docs/index.md").read_text("utf-8")
    for name in ("check-summaries", "train-your-topics", "judge-your-way", "consultations"):
        prose = re.sub(
            r"^```.*?^```$", "", (ROOT / f"docs/{name}.md").read_text("utf-8"), flags=re.MULTILINE | re.DOTALL
        )
        assert len(prose.split()) <= 650, name
        assert first.index(f"({name}.md)") < first.index("| you want to |")


SEARCHED = {
    "own judge": "own-judge.md", "csv": "documents.md", "resume": "run-folder.md", "push to hub": "cards.md", "gate": "gate.md",
    "glossary": "glossary.md",
}  # fmt: skip


@pytest.mark.parametrize(("words", "page"), SEARCHED.items())
def test_what_people_search_for_is_a_heading_of_its_page(words, page):
    headings = [line.lower() for line in (ROOT / "docs" / page).read_text("utf-8").splitlines() if line.startswith("#")]
    assert any(all(word in heading for word in words.split()) for heading in headings)


def test_search_looks_into_the_public_face_of_python_alone():
    assert "exclude: true" in (ROOT / "docs/python-more.md").read_text("utf-8").split("---")[1]
    shown = re.findall(r"^::: (\S+)", (ROOT / "docs/python.md").read_text("utf-8"), re.MULTILINE)
    assert shown == ["evenhand.api", "evenhand.api.results", "evenhand.errors"]


def test_the_picture_of_the_first_page_fits_a_phone():
    picture, *_ = (block.text for block in blocks(ROOT / "docs/index.md") if block.language == "text")
    # letters of 8.2 px in a page of 390 px that has 16 px on either side
    assert max(map(len, picture.splitlines())) <= 43


def test_the_readme_stays_short():
    assert len((ROOT / "README.md").read_text("utf-8").splitlines()) <= 150
