"""Pages as a browser shows them: nothing on the console, nothing wider than a phone, folded parts open on request."""

import shutil
from typing import Any

import pytest

from evenhand.evaluation.checkpoint.build import build_report
from evenhand.evaluation.checkpoint.page import page
from evenhand.evaluation.pages.write import write_page

playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright: pip install playwright")
CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome") or shutil.which("chromium-browser")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium: apt-get install chromium"),
]
WIDER = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
COLOURS = "[getComputedStyle(document.body).color, getComputedStyle(document.body).backgroundColor]"


def test_page_is_quiet_and_fits_from_phone_to_desk_in_both_colours(small_run: Any, tmp_path: Any):
    write_page(page(build_report(small_run.recipe, None)), tmp_path, "report.md")
    complaints: list[str] = []
    colours = []
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        for width, scheme in ((390, "light"), (390, "dark"), (1200, "light")):
            context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
            shown = context.new_page()
            shown.on("console", lambda message: complaints.append(message.text))
            shown.on("pageerror", lambda error: complaints.append(str(error)))
            shown.goto((tmp_path / "index.html").as_uri())
            assert shown.evaluate(WIDER) == 0
            shown.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")
            assert shown.evaluate(WIDER) == 0
            for link in shown.locator("nav a").all():
                assert shown.locator(str(link.get_attribute("href"))).count() == 1
            colours.append(tuple(shown.evaluate(COLOURS)))
        browser.close()
    assert complaints == []
    assert colours[0] == colours[2] != colours[1]
