"""Every kind of page in a browser: a quiet console, nothing wider than a phone, readable by all in both colours and on paper."""

from pathlib import Path
from typing import Any

import pytest
from audit_inputs import make_input, shares_of, two_sided
from browsing import EVIL, look_at
from conformance import of_plugins

from evenhand.config.judges import RougeJudge
from evenhand.evaluation.audit.build import build_audit
from evenhand.evaluation.audit.named import AUDIT_PAGE
from evenhand.evaluation.audit.page import page as audit_page
from evenhand.evaluation.audit.plan import AuditPlan
from evenhand.evaluation.gate.decide import gated
from evenhand.evaluation.gate.limits import GateRequest, parse_limit
from evenhand.evaluation.pages import html
from evenhand.evaluation.pages.blocks import Page
from evenhand.evaluation.report.checkpoint.build import build_report
from evenhand.evaluation.report.checkpoint.page import page as report_page
from evenhand.evaluation.report.comparison.build import build_comparison
from evenhand.evaluation.report.comparison.entries import NamedRecipe, read_entries
from evenhand.evaluation.report.comparison.page import page as comparison_page
from evenhand.resampling import Bootstrap

pytestmark = pytest.mark.slow
DRAWS = Bootstrap(resamples=100)
RECALL = RougeJudge(kind="rouge", measure="recall")


def report(run: Any, folder: Path) -> Page:
    return report_page(build_report(run.recipe, None))


def comparison(run: Any, folder: Path) -> Page:
    other = run.recipe.model_copy(update={"name": "other"})
    entries = read_entries([NamedRecipe(EVIL, run.recipe), NamedRecipe("other", other)])
    return comparison_page(build_comparison(entries))


def audit(run: Any, folder: Path) -> Page:
    given = make_input(two_sided(6), **{EVIL: ["Apple berry. River."] * 6, "mine": ["Cherry."] * 5 + [None]})
    plan = AuditPlan(bootstrap=DRAWS, least_group=3)
    shares = shares_of(given.values, mode=plan.mode, tau=plan.tau, target=plan.target)
    return audit_page(build_audit(given, plan, [shares]))


def gate(run: Any, folder: Path) -> Page:
    given = make_input(two_sided(6), **{EVIL: ["Apple berry. River."] * 6, "mine": ["Cherry."] * 5 + [None]})
    plan = AuditPlan(bootstrap=DRAWS, least_group=3)
    shares = shares_of(given.values, mode=plan.mode, tau=plan.tau, target=plan.target)
    limits = (parse_limit("worst_gap(shares) < -0.1", name=EVIL), parse_limit("opinion_graph < 0"))
    return audit_page(gated(build_audit(given, plan, [shares]), AUDIT_PAGE, GateRequest(limits)))


PAGES = {make.__name__: make for make in (report, comparison, audit, gate)} | of_plugins("PAGES")


@pytest.mark.parametrize("name", PAGES)
def test_page_is_quiet_fits_a_phone_and_is_readable_in_both_colours_and_on_paper(
    name: str, small_run: Any, chromium: Any, tmp_path: Path
):
    made = PAGES[name](small_run, tmp_path)
    pages = {"index.html": made}
    if isinstance(made, Page):
        assert made.overview is not None
        pages = {"index.html": html.overview(made, made.overview), "details.html": html.render(made)}
    for file, text in pages.items():
        (tmp_path / file).write_text(text, encoding="utf-8")
        look_at(chromium, tmp_path / file)
    if isinstance(made, Page):
        first_screen(chromium, tmp_path / "index.html")


def first_screen(chromium: Any, path: Path) -> None:
    """The first page is short, and its one picture begins on the first screen, the fitting drawing of the two."""
    for width, height, shown, hidden in ((1280, 800, "wide", "narrow"), (390, 844, "narrow", "wide")):
        page = chromium.new_page(viewport={"width": width, "height": height})
        page.goto(path.as_uri())
        drawn = page.locator(f"svg.picture.{shown}")
        if drawn.count():
            assert drawn.count() == 1 and drawn.is_visible() and not page.locator(f"svg.picture.{hidden}").is_visible()
            assert drawn.bounding_box()["y"] < height
        assert len(page.inner_text("body").split()) <= 900
        assert width == 390 or page.evaluate("document.documentElement.scrollHeight") <= 3000
        page.close()
