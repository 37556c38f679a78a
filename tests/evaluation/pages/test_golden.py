"""The words of every kind of result, as Markdown: its first page whole, and all sentences of the pages behind it.

EVENHAND_GOLDEN=write writes them anew. Other tests hold numbers, names and verdicts, and leave the wording to these files.
"""

import io
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from audit_inputs import ATTRIBUTE, make_input, make_set, shares_of, two_sided
from conformance import of_plugins
from rich.console import Console

from evenhand.config.fairness import EntailerSection
from evenhand.evaluation.audit.build import build_audit
from evenhand.evaluation.audit.coverage import UnitCoverage
from evenhand.evaluation.audit.named import AUDIT_PAGE
from evenhand.evaluation.audit.page import page as audit_page
from evenhand.evaluation.audit.plan import AuditPlan
from evenhand.evaluation.gate.decide import gated
from evenhand.evaluation.gate.limits import GateRequest, parse_limit
from evenhand.evaluation.pages import markdown, terminal
from evenhand.evaluation.pages.blocks import Page
from evenhand.evaluation.report.checkpoint.build import build_report
from evenhand.evaluation.report.checkpoint.page import page as report_page
from evenhand.evaluation.report.comparison.build import build_comparison
from evenhand.evaluation.report.comparison.entries import NamedRecipe, read_entries
from evenhand.evaluation.report.comparison.page import page as comparison_page
from evenhand.judges.measures import open_entailer
from evenhand.resampling import Bootstrap


def report(run: Any, folder: Path) -> Page:
    return report_page(build_report(run.recipe, None))


def comparison(run: Any, folder: Path) -> Page:
    other = run.recipe.model_copy(update={"name": "other"})
    return comparison_page(
        build_comparison(read_entries([NamedRecipe("small", run.recipe), NamedRecipe("other", other)]), n_examples=2)
    )


def audit(run: Any, folder: Path) -> Page:
    made = make_input(two_sided(12), fair=["Apple berry. River stone."] * 12, mine=["Apple."] * 12)
    plan = AuditPlan(bootstrap=Bootstrap(resamples=100), least_group=3)
    shares = shares_of(made.values, mode=plan.mode, tau=plan.tau, target=plan.target)
    limits = (parse_limit("worst_gap(shares) < -0.1"),)
    return audit_page(gated(build_audit(made, plan, [shares]), AUDIT_PAGE, GateRequest(limits)))


def odd_audit(run: Any, folder: Path) -> Page:
    """An audit of which most of what can be warned of is true."""
    odd = make_set(
        "odd", ("left", "apple 渡轮很便宜票价只要两元"), ("right", "river"), ("mid", "It is so."), ("third", "lake")
    )
    corpus = make_input([*two_sided(9), odd], fair=[ALL] * 9 + [""], mine=["Apple."] * 9 + ["Snow."])
    fair, mine = corpus.systems
    corpus = replace(corpus, systems=(replace(fair, by_order=True), replace(mine, n_thoughts=2)))
    entailer = open_entailer(EntailerSection(kind="words"))
    families = [shares_of(corpus.values), UnitCoverage(entailer, ATTRIBUTE, corpus.values, "released")]
    return audit_page(build_audit(corpus, AuditPlan(bootstrap=Bootstrap(resamples=100), least_group=3), families))


ALL = "Apple berry. Cherry grape. River stone."
FOLDER = Path(__file__).parent / "golden"
# how a page is made of a run, and the file of its words
PAGES = {make.__name__: (make, FOLDER / f"{make.__name__}.md") for make in (report, comparison, audit)} | of_plugins(
    "GOLDEN"
)


@pytest.mark.parametrize("name", PAGES)
def test_first_pages_say_what_they_said(name: str, small_run: Any, tmp_path: Path):
    make, path = PAGES[name]
    page = make(small_run, tmp_path)
    assert page.overview is not None
    text = markdown.render(page).partition(f"\n\n{page.title}\n")[0].replace(str(tmp_path), "FOLDER") + "\n"
    console = Console(width=100, file=io.StringIO(), markup=False)
    console.print(terminal.render(page))
    shown = console.file.getvalue()  # type: ignore[attr-defined]
    assert len(shown.splitlines()) <= 25
    assert len(page.overview.headline.split()) <= 15 and len(page.overview.sure.split()) == 3
    assert text == golden(path, text)


def golden(path: Path, text: str) -> str:
    """What the file says, which is the text itself where golden pages are to be written."""
    if os.environ.get("EVENHAND_GOLDEN") == "write":
        path.write_text(text, encoding="utf-8")
    return path.read_text(encoding="utf-8")


@pytest.mark.parametrize("make", [report, comparison, odd_audit], ids=lambda make: make.__name__)
def test_sentences_behind_the_first_page_say_what_they_said(make: Any, small_run: Any, tmp_path: Path):
    page = make(small_run, tmp_path)
    body = markdown.render(page).partition(f"\n\n{page.title}\n")[2].partition("\n## How it was made\n")[0]
    # numbers of tables are held by the tests of those tables, and examples are the texts of the input
    lines = [line for line in body.splitlines() if len(line.split()) >= 5 and not line.startswith(("|", "#", "<", "!"))]
    text = "\n".join(lines) + "\n"
    assert text == golden(FOLDER / f"{make.__name__}_sentences.md", text)
