"""What every page must be in a browser."""

from pathlib import Path
from typing import Any

import pytest

WIDER = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
COLOURS = "[getComputedStyle(document.body).color, getComputedStyle(document.body).backgroundColor]"
OPEN = "document.querySelectorAll('details').forEach(each => each.open = true)"
CLOSE = "document.querySelectorAll('details').forEach(each => each.open = false)"
# a name that is to become no markup, and to be broken
EVIL = "<b>a_name</b>_that_goes_on_and_on_without_a_place_to_break|`x`"
# what stays folded on paper, but for the help of a page that people work in
FOLDED = "[...document.querySelectorAll('details:not(#help) > :not(summary)')].filter(each => !each.checkVisibility()).length"
# on a phone rows become cards, on paper they stay rows
TABLES = "[...document.querySelectorAll('table')].map(each => getComputedStyle(each).display)"
# between margins of a centimetre
A4 = {"width": 700, "height": 1000}


def look_at(chromium: Any, path: Path) -> None:
    """Open a page on a phone, on a screen in both colours, and on paper.

    Its console is quiet, nothing is wider than the screen, links lead somewhere, and no serious rule of accessibility is broken.
    """
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    complaints: list[str] = []
    colours = []
    context = chromium.new_context(viewport={"width": 390, "height": 900})
    page = context.new_page()
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto(path.as_uri())
    assert page.evaluate(WIDER) == 0
    page.evaluate(OPEN)
    assert page.evaluate(WIDER) == 0
    for link in page.locator("nav a").all():
        assert page.locator(str(link.get_attribute("href"))).count() == 1
    for scheme, width in (("light", 390), ("dark", 1200)):
        page.emulate_media(color_scheme=scheme)
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate(WIDER) == 0
        colours.append(page.evaluate(COLOURS))
        found = axe.run(page)
        grave = [each for each in found.response["violations"] if each["impact"] in ("serious", "critical")]
        assert not grave, found.generate_report()
    page.evaluate(CLOSE)
    page.emulate_media(media="print", color_scheme="dark")
    page.set_viewport_size(A4)
    assert page.evaluate(WIDER) == 0
    assert page.evaluate(FOLDED) == 0
    assert set(page.evaluate(TABLES)) <= {"table"}
    on_paper = page.evaluate(COLOURS)
    context.close()
    assert complaints == []
    light, dark = colours
    assert light != dark
    assert on_paper[1] in ("rgb(255, 255, 255)", "rgba(0, 0, 0, 0)")
