"""The documentation: what it points to is there, and what the package cites is written in it."""

import re
from collections.abc import Iterator
from pathlib import Path

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
