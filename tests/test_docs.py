"""The documentation: what it points to is there, and what the package cites is written in it."""

import importlib.util
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

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


def test_page_of_recipe_keys_has_every_key_with_its_meaning(generated):
    tables = [
        {key: row for row in part.splitlines() for key in re.findall(r"^\| `(\w+)` \|", row)}
        for part in generated.recipe_keys().split("| key | type | default | meaning |")[1:]
    ]
    for root in generated.RECIPES.values():
        schema = root.model_json_schema()
        for section in (schema, *schema["$defs"].values()):
            if section.get("properties"):
                assert set(section["properties"]) in [set(table) for table in tables], section["title"]
    assert not [row for table in tables for row in table.values() if row.endswith("|  |")]


def test_command_reference_has_every_command_and_option(generated):
    page = generated.command_reference()
    for words in ("loop", "human score", "import polisum", "convert bleurt", "recipes", "recipes copy"):
        assert f"\n## {words}\n" in page
    assert "| `--dry-run` |" in page and "| `RECIPE` | required |" in page
