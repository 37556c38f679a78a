"""The annotation page used as a person would, in headless Chromium."""

import json
import re
from itertools import product

import pytest
from page_use import KEPT, answer, exported, file_of, status
from sheets import read_sheet
from typer.testing import CliRunner

from evenhand.cli.app import app
from evenhand.plugins.judge_studies.people.annotations.sheet import trimmed

pytestmark = pytest.mark.slow


def select(page, element, label):
    """Drag the mouse over `label` in an element."""
    start, end = page.evaluate(
        """([id, label]) => {
            const element = document.getElementById(id);
            const start = element.textContent.indexOf(label);
            const range = document.createRange();
            range.setStart(...placeOf(element, start));
            range.setEnd(...placeOf(element, start + label.length));
            element.scrollIntoView({ block: "center", behavior: "instant" });
            const [first, last] = [range.getClientRects()[0], [...range.getClientRects()].at(-1)];
            return [[first.left + 1, first.top + first.height / 2], [last.right - 1, last.top + last.height / 2]];
        }""",
        [element, label],
    )
    page.mouse.move(*start)
    page.mouse.down()
    page.mouse.move(*end)
    page.mouse.up()


def annotate(page, item):
    """Everything an item asks for: one key point in the first passage, the others without, all matches decided."""
    label = " ".join(item.passages[0].label.split(" ")[:3])
    select(page, "passage-0", label)
    page.keyboard.press("Enter")
    for i in range(1, len(item.passages)):
        page.check(f"#without-{i}")
    for s, summary in enumerate(item.summaries):
        select(page, f"summary-text-{s}", " ".join(summary.text.split(" ")[3:5]))
        page.click("#new")
        page.check(f"#hallucinated-{s}-0-no")
        page.check(f"#omitted-{s}-0-{'yes' if 'dpo' in summary.text else 'no'}")
    page.get_by_text("This item is finished").wait_for()


def test_five_items_are_annotated_kept_exported_imported_and_scored(open_page, sample_page, tmp_path):
    path, sheet = sample_page
    page = open_page(path)
    assert page.title() == "Annotate summaries"
    page.fill("#annotator", "Anna \U0001f600")
    for place, item in enumerate(sheet.items):
        annotate(page, item)
        if place == 2:
            page.reload()
            assert "found in this browser" in status(page)
            assert page.text_content("#count") == "3 of 5 finished"
            assert page.input_value("#annotator") == "Anna \U0001f600"
            assert page.input_value("#jump") == "2"
        if place < 4:
            page.click("#next")
    assert page.text_content("#count") == "5 of 5 finished"
    mine = exported(page, tmp_path, "anna.json")
    other = open_page(path)
    assert other.text_content("#count") == "0 of 5 finished"
    other.set_input_files("#file", mine)
    other.get_by_text("5 of 5 finished").wait_for()
    assert exported(other, tmp_path, "again.json").read_text() == mine.read_text()
    _check_scores(mine, path.with_name("page.key.json"), tmp_path / "scores.json")


def _check_scores(mine, key, out):
    sheet = read_sheet(mine)
    # the odd passage's first three words: 3 letters, a space, 1 + 3 code points of emoji, a space and the dash are 10
    (span,) = sheet.items[0].key_points[0]
    assert (span.start, span.end, span.label) == (0, 10, "Aye \U0001f6a2\U0001f469\u200d\U0001f52c \u2014")
    done = CliRunner().invoke(app, ["human", "score", str(mine), str(key), "--out", str(out)])
    assert done.exit_code == 0, done.output
    numbers = {(each["system"], each["measure"]): each for each in json.loads(out.read_text())["numbers"]}
    # one key point a document: summaries of base have it, those of dpo have not; all of their own points are supported
    measures = ("coverage", "faithfulness", "omitted")
    assert [numbers["base", each]["value"] for each in measures] == [1.0, 1.0, 0.0]
    assert [numbers["dpo", each]["value"] for each in measures] == [0.0, 1.0, 1.0]
    assert {each["n"] for each in numbers.values()} == {5}


def test_the_keyboard_alone_marks_extends_removes_and_goes_back(open_page, sample_page, tmp_path):
    path, sheet = sample_page
    page = open_page(path)
    page.fill("#annotator", "ben")
    page.focus("#passage-0")
    # first word, then the third to the fourth, into one key point
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    for key in ("ArrowRight", "ArrowRight", "Shift+ArrowRight", "+"):
        page.keyboard.press(key)
    assert status(page) == "Added to key point 1."
    words = sheet.items[0].passages[0].label.split()
    (point,) = read_sheet(exported(page, tmp_path, "ben.json")).items[0].key_points
    assert [span.label for span in point] == [words[0], f"{words[2]} {words[3]}"]
    page.focus("#passage-0")
    page.keyboard.press("Delete")
    assert page.locator("#document mark").count() == 0
    page.keyboard.press("Control+z")
    assert page.locator("#document mark").count() == 2
    page.keyboard.press("Control+z")
    assert page.locator("#document mark").count() == 1
    page.keyboard.press("Control+Shift+z")
    assert page.locator("#document mark").count() == 2
    page.keyboard.press("Alt+n")
    assert page.input_value("#jump") == "1"
    # a passage that has a key point cannot be said to have none
    page.keyboard.press("Alt+p")
    assert page.is_disabled("#without-0")


def test_a_selection_over_passages_is_one_key_point_and_white_space_is_trimmed(open_page, sample_page, tmp_path):
    path, sheet = sample_page
    page = open_page(path)
    page.fill("#annotator", "ben")
    page.evaluate(
        """() => {
            const [a, b] = [document.getElementById("passage-0"), document.getElementById("passage-1")];
            const [start, end] = [a.textContent.length - 4, b.textContent.indexOf(" ") + 1];
            getSelection().setBaseAndExtent(...placeOf(a, start), ...placeOf(b, end));
        }"""
    )
    page.click("#new")
    (point,) = read_sheet(exported(page, tmp_path, "ben.json")).items[0].key_points
    first, second = sheet.items[0].passages[:2]
    assert [span.label for span in point] == [first.label[-4:].strip(), second.label.split()[0]]
    # nothing is marked twice, and a selection over document and summary not at all
    select(page, "passage-1", second.label.split()[1])
    page.evaluate("getSelection().extend(document.getElementById('summary-text-0').firstChild, 3)")
    page.click("#new")
    assert "not of several" in status(page)


def test_foreign_and_broken_files_change_nothing(open_page, sample_page, tmp_path):
    page = open_page(sample_page[0])
    page.fill("#annotator", "ben")
    page.check("#without-0")
    before = exported(page, tmp_path, "before.json").read_text()
    good = json.loads(before)
    moved = json.loads(before)
    moved["items"][0]["without"][0]["start"] += 1
    files = {
        "not JSON": "{",
        "no sheet": '{"format": "else"}',
        "another page": json.dumps(good | {"page": "0"}),
        "do not belong to its texts": json.dumps(moved),
    }
    for expected, content in files.items():
        broken = tmp_path / "broken.json"
        broken.write_text(content)
        page.set_input_files("#file", broken)
        page.wait_for_function("(text) => document.getElementById('status').textContent.includes(text)", arg=expected)
    assert exported(page, tmp_path, "after.json").read_text() == before


def test_what_cannot_be_read_back_is_put_aside(open_page, sample_page):
    path, sheet = sample_page
    page = open_page(path)
    page.evaluate("(key) => localStorage.setItem(key, '{broken')", f"{KEPT}:{sheet.page}:sheet:")
    page.reload()
    assert "put aside" in status(page)
    kept = page.evaluate("(key) => localStorage.getItem(key)", f"{KEPT}:{sheet.page}:unreadable:")
    assert kept == "{broken"


COLOURS = """() => ["p.markable", "mark", ".lead", ".badge", "#new", "#status", ".option"].map((selector) => {
    const element = document.querySelector(selector);
    let ground = element;
    while (getComputedStyle(ground).backgroundColor === "rgba(0, 0, 0, 0)") ground = ground.parentElement;
    return [selector, getComputedStyle(element).color, getComputedStyle(ground).backgroundColor];
})"""


def test_nothing_is_wider_than_the_window_and_texts_have_contrast(open_page, sample_page):
    path, sheet = sample_page
    page = open_page(path)
    annotate(page, sheet.items[0])
    for scheme, width in product(("light", "dark"), (1280, 420)):
        page.emulate_media(color_scheme=scheme)
        page.set_viewport_size({"width": width, "height": 800})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        for selector, front, back in page.evaluate(COLOURS):
            assert _contrast(front, back) >= 4.5, (scheme, width, selector, front, back)


def _contrast(front, back):
    """WCAG 2 contrast ratio of two CSS colours."""
    lights = []
    for colour in (front, back):
        channels = [int(each) / 255 for each in re.findall(r"\d+", colour)[:3]]
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
        lights.append(0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2])
    return (max(lights) + 0.05) / (min(lights) + 0.05)


def test_the_page_counts_and_trims_as_python_does(function_page):
    text = "a\U0001f6a2 b\u00a0\U0001f469\u200d\U0001f52c\n\tc\u2028"
    places = range(len(text) + 1)
    units = [len(text[:start].encode("utf-16-le")) // 2 for start in places]
    offsets = "([text, units]) => units.map((unit) => pointOffset(text, unit, true))"
    assert function_page.evaluate(offsets, [text, units]) == [*places]
    spans = [(start, end) for start in places for end in range(start, len(text) + 1)]
    found = function_page.evaluate(
        "([text, spans]) => spans.map(([a, b]) => trimmedSpan(codePoints(text), a, b))", [text, spans]
    )
    expected = [trimmed(text, *span) for span in spans]
    assert found == [each.model_dump() if each else None for each in expected]
    # within the pair of the ship, which is code point 1 and units 1 and 2
    assert function_page.evaluate("(text) => [pointOffset(text, 2, false), pointOffset(text, 2, true)]", text) == [1, 2]


def test_overlapping_highlights_are_cut_where_one_begins_or_ends(function_page):
    page = function_page
    highlights = [[{"start": 2, "end": 6}], [{"start": 4, "end": 8}, {"start": 9, "end": 12}]]
    found = page.evaluate(
        "(highlights) => segments(0, 10, highlights).map((s) => [s.start, s.end, s.numbers])", highlights
    )
    assert found == [[0, 2, []], [2, 4, [0]], [4, 6, [0, 1]], [6, 8, [1]], [8, 9, []], [9, 10, [1]]]
    merged = page.evaluate(
        "mergedSpans(codePoints('abcdefgh'), [{start: 4, end: 6}, {start: 0, end: 2}, {start: 2, end: 3}, {start: 5, end: 7}])"
    )
    assert [(span["start"], span["end"], span["label"]) for span in merged] == [(0, 3, "abc"), (4, 7, "efg")]


BROKEN_STORAGE = "Storage.prototype.setItem = () => { throw new DOMException('full', 'QuotaExceededError'); }"
WORKING_STORAGE = "() => { Storage.prototype.setItem = window.setItemThatWorks; }"


def test_the_warning_that_nothing_is_kept_stands_until_something_is(open_page, sample_page):
    page = open_page(sample_page[0])
    page.evaluate(f"() => {{ window.setItemThatWorks = Storage.prototype.setItem; {BROKEN_STORAGE}; }}")
    page.check("#without-0")
    page.click("#next")
    assert status(page) == "Item 2 of 5."
    assert page.get_by_role("alert").text_content().startswith("This browser does not keep your work.")
    # leaving is asked about, and not any more once the work is kept
    leaves = "() => window.dispatchEvent(new Event('beforeunload', { cancelable: true }))"
    assert page.evaluate(leaves) is False
    page.evaluate(WORKING_STORAGE)
    page.click("#previous")
    assert page.get_by_role("alert").count() == 0 or page.get_by_role("alert").text_content() == ""
    assert page.evaluate(leaves) is True


def test_undo_of_an_import_brings_the_name_back_too_and_the_old_sheet_stays_kept(open_page, sample_page, tmp_path):
    path, sheet = sample_page
    page = open_page(path)
    page.fill("#annotator", "Anna")
    page.check("#without-0")
    asked = answer(page, agrees=True)
    page.set_input_files("#file", file_of("Ben", sheet, tmp_path))
    page.get_by_text("Imported.").wait_for()
    assert "the sheet of \u201cBen\u201d; this one has marks of \u201cAnna\u201d" in asked[0]
    assert (page.input_value("#annotator"), page.is_checked("#without-0")) == ("Ben", False)
    kept = page.evaluate("(key) => JSON.parse(localStorage.getItem(key))", f"{KEPT}:{sheet.page}:sheet:Anna")
    assert (kept["annotator"], len(kept["items"][0]["without"])) == ("Anna", 1)
    page.click("#undo")
    assert (page.input_value("#annotator"), page.is_checked("#without-0")) == ("Anna", True)
    page.click("#redo")
    assert page.input_value("#annotator") == "Ben"


def test_an_import_of_somebody_elses_sheet_can_be_declined(open_page, sample_page, tmp_path):
    path, sheet = sample_page
    page = open_page(path)
    page.fill("#annotator", "Anna")
    page.check("#without-0")
    asked = answer(page, agrees=False)
    page.set_input_files("#file", file_of("Ben", sheet, tmp_path))
    page.get_by_text("Nothing was imported.").wait_for()
    assert len(asked) == 1
    assert (page.input_value("#annotator"), page.is_checked("#without-0")) == ("Anna", True)


def reload_with_work(page, name, mark):
    """Reload until the work is there: the browser writes what is kept in its own time, and a page before that finds less."""
    for _ in range(30):
        page.reload()
        if f"Work of \u201c{name}\u201d was found" in status(page) and page.is_checked(mark):
            return
        page.wait_for_timeout(500)
    pytest.fail(f"the work of {name} is not there: {status(page)}")


def test_two_people_in_one_browser_keep_a_sheet_each(open_page, sample_page):
    page = open_page(sample_page[0])
    page.fill("#annotator", "Anna")
    page.check("#without-0")
    reload_with_work(page, "Anna", "#without-0")
    page.click("#begin")
    assert (page.input_value("#annotator"), page.is_checked("#without-0")) == ("", False)
    page.fill("#annotator", "Ben")
    page.check("#without-1")
    reload_with_work(page, "Ben", "#without-1")
    assert (page.is_checked("#without-0"), page.is_checked("#without-1")) == (False, True)
    page.fill("#annotator", "Anna")
    page.press("#annotator", "Tab")
    assert (page.is_checked("#without-0"), page.is_checked("#without-1")) == (True, False)


def test_writing_another_name_over_marks_is_asked_about(open_page, sample_page):
    page = open_page(sample_page[0])
    page.fill("#annotator", "Anna")
    page.check("#without-0")
    asked = answer(page, agrees=False)
    page.fill("#annotator", "Ben")
    page.press("#annotator", "Tab")
    assert "were made as \u201cAnna\u201d" in asked[0]
    assert page.input_value("#annotator") == "Anna"


def test_undo_in_one_window_leaves_the_work_of_another_alone(open_page, sample_page):
    path, _ = sample_page
    one = open_page(path)
    one.fill("#annotator", "Anna")
    one.check("#without-0")
    two = one.context.new_page()
    two.goto(path.as_uri())
    two.check("#without-1")
    # a window behind another one may be told late
    one.bring_to_front()
    one.get_by_text("Changed in another window").wait_for()
    assert one.is_disabled("#undo")
    one.focus("#passage-0")
    one.keyboard.press("Control+z")
    assert (one.is_checked("#without-0"), one.is_checked("#without-1")) == (True, True)
    one.reload()
    assert one.is_checked("#without-1")


def test_delete_removes_only_what_is_chosen_in_the_text_that_has_the_focus(open_page, sample_page):
    path, sheet = sample_page
    page = open_page(path)
    label = " ".join(sheet.items[0].passages[0].label.split(" ")[:3])
    select(page, "passage-0", label)
    page.keyboard.press("Enter")
    page.focus("#summary-text-0")
    page.keyboard.press("Delete")
    assert page.locator("#document mark").count() > 0
    page.focus("#passage-0")
    page.keyboard.press("Delete")
    assert page.locator("#document mark").count() == 0


def test_a_file_that_says_both_none_and_key_points_of_a_summary_is_refused(open_page, sample_page, tmp_path):
    path, sheet = sample_page
    value = sheet.model_dump(mode="json")
    label = value["items"][0]["summaries"][0]["text"].split()[0]
    value["items"][0]["summaries"][0] |= {
        "none": True, "points": [[{"start": 0, "end": len(label), "label": label}]], "hallucinated": [None],
    }  # fmt: skip
    page = open_page(path)
    page.set_input_files("#file", file_of("Ben", sheet, tmp_path, items=value["items"]))
    page.get_by_text("Item 1 of the file has marks that do not belong to its texts.").wait_for()
