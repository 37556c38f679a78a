"""Sheets that meet in one browser: files older, newer and other than what is here, and several windows."""

import json
from itertools import product

import pytest
from page_use import KEPT, answer, exported, file_of, status

pytestmark = pytest.mark.slow
WIDER = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
MARKS = "countMarks(state.items)"


@pytest.fixture
def anna(open_page, sample_page):
    """The page with Anna's sheet."""
    page = open_page(sample_page[0])
    page.fill("#annotator", "Anna")
    page.press("#annotator", "Tab")
    return page


def take(page, path, expected):
    page.set_input_files("#file", path)
    page.wait_for_function("(text) => document.getElementById('status').textContent.includes(text)", arg=expected)


def earlier(page):
    """(whose, how many marks) of each earlier sheet."""
    return page.evaluate("earlierSheets().map((each) => [each.annotator, countMarks(each.items)])")


def bring_back(page, words):
    page.evaluate("document.querySelector('#earlier details').open = true")
    page.get_by_role("button", name=words).click()


def test_an_older_file_of_the_same_name_replaces_nothing_and_can_be_taken_after_all(anna, tmp_path):
    anna.check("#without-0")
    older = exported(anna, tmp_path, "older.json")
    for box in ("#without-1", "#none-0", "#none-1"):
        anna.check(box)
    # a mark taken back: what is here does not have all that the file has, but came of it
    anna.uncheck("#without-0")
    take(anna, older, "The file is older and replaces nothing")
    assert "the file has 1 mark, revision 1" in status(anna)
    assert "here \u201cAnna\u201d has 3 marks, revision 5" in status(anna)
    anna.reload()
    assert anna.evaluate(MARKS) == 3
    bring_back(anna, "1 mark, revision 1")
    assert (anna.evaluate(MARKS), anna.is_checked("#without-0")) == (1, True)
    anna.reload()
    assert anna.evaluate(MARKS) == 1
    bring_back(anna, "3 marks, revision 5")
    assert (anna.evaluate(MARKS), anna.is_checked("#without-0")) == (3, False)
    anna.click("#undo")
    assert anna.evaluate(MARKS) == 1
    assert anna.evaluate("state.revision") == 8


def test_a_newer_file_replaces_and_what_was_here_comes_back_after_a_reload(open_page, anna, sample_page, tmp_path):
    anna.check("#without-0")
    first = exported(anna, tmp_path, "first.json")
    other = open_page(sample_page[0])
    take(other, first, "Imported.")
    other.uncheck("#without-0")
    other.check("#without-1")
    second = exported(other, tmp_path, "second.json")
    take(anna, second, "Imported. Undo brings back")
    assert (anna.is_checked("#without-0"), anna.is_checked("#without-1")) == (False, True)
    assert exported(anna, tmp_path, "again.json").read_text() == second.read_text()
    anna.reload()
    bring_back(anna, "Anna”: 1 mark, revision 1")
    assert (anna.is_checked("#without-0"), anna.is_checked("#without-1")) == (True, False)


def test_an_equal_file_is_no_import(anna, tmp_path):
    anna.check("#without-0")
    same = exported(anna, tmp_path, "same.json")
    before = anna.evaluate("JSON.stringify(localStorage)")
    take(anna, same, "has the same marks as the sheet that is here: nothing to import")
    assert anna.evaluate("JSON.stringify(localStorage)") == before
    assert earlier(anna) == []
    # also when it comes from before there were revisions
    old = {
        key: value for key, value in json.loads(same.read_text()).items() if key not in ("revision", "time", "exports")
    }
    same.write_text(json.dumps(old))
    take(anna, same, "nothing to import")


@pytest.mark.parametrize("agrees", [True, False])
def test_a_file_that_went_another_way_is_asked_about_and_neither_is_lost(
    anna, open_page, sample_page, tmp_path, agrees
):
    anna.check("#without-0")
    first = exported(anna, tmp_path, "first.json")
    other = open_page(sample_page[0])
    take(other, first, "Imported.")
    other.check("#without-1")
    second = exported(other, tmp_path, "second.json")
    anna.check("#none-0")
    anna.check("#none-1")
    asked = answer(anna, agrees=agrees)
    take(anna, second, "Imported." if agrees else "What is here stays")
    assert "Neither came of the other: the file has 2 marks" in asked[0]
    assert "has 3 marks" in asked[0]
    anna.reload()
    assert anna.evaluate(MARKS) == (2 if agrees else 3)
    assert earlier(anna) == [["Anna", 3 if agrees else 2]]


def begin(page, name, *boxes):
    page.click("#begin")
    page.fill("#annotator", name)
    page.press("#annotator", "Tab")
    for box in boxes:
        page.check(box)


def test_an_older_file_of_another_name_opens_the_newer_sheet_of_that_name(anna, tmp_path):
    anna.check("#none-0")
    begin(anna, "Ben", "#without-0")
    older = exported(anna, tmp_path, "ben.json")
    anna.check("#without-1")
    anna.fill("#annotator", "Anna")
    anna.press("#annotator", "Tab")
    answer(anna, agrees=True)
    take(anna, older, "The file is older")
    assert (anna.input_value("#annotator"), anna.evaluate(MARKS)) == ("Ben", 2)
    assert earlier(anna) == [["Ben", 1]]
    anna.reload()
    anna.fill("#annotator", "Anna")
    anna.press("#annotator", "Tab")
    assert anna.is_checked("#none-0")


def test_undo_of_an_import_brings_back_every_name_that_it_touched(anna, sample_page, tmp_path):
    begin(anna, "Ben", "#without-0")
    begin(anna, "Anna", "#none-0")
    answer(anna, agrees=True)
    value = sample_page[1].model_dump(mode="json")
    value["items"][0]["summaries"][1]["none"] = True
    take(anna, file_of("Ben", sample_page[1], tmp_path, items=value["items"]), "Imported.")
    assert (anna.is_checked("#none-1"), anna.is_checked("#without-0")) == (True, False)
    anna.click("#undo")
    assert (anna.input_value("#annotator"), anna.is_checked("#none-0")) == ("Anna", True)
    anna.reload()
    anna.fill("#annotator", "Ben")
    anna.press("#annotator", "Tab")
    assert (anna.is_checked("#none-1"), anna.is_checked("#without-0")) == (False, True)
    # and the imported one is not lost either
    assert ["Ben", 1] in earlier(anna)
    assert len(earlier(anna)) == 2


def test_a_sheet_without_a_name_that_an_import_leaves_can_be_had_back(open_page, sample_page, tmp_path):
    page = open_page(sample_page[0])
    page.check("#without-0")
    answer(page, agrees=True)
    take(page, file_of("Ben", sample_page[1], tmp_path), "Imported.")
    page.reload()
    bring_back(page, "somebody without a name: 1 mark")
    assert (page.input_value("#annotator"), page.is_checked("#without-0")) == ("", True)


def test_marks_that_the_browser_could_not_keep_are_not_left_for_another_sheet(anna, tmp_path):
    begin(anna, "Ben", "#without-0")
    older = exported(anna, tmp_path, "ben.json")
    begin(anna, "Cleo")
    anna.evaluate(
        "() => { Storage.prototype.setItem = () => { throw new DOMException('full', 'QuotaExceededError'); }; }"
    )
    anna.check("#none-0")
    anna.fill("#annotator", "Ben")
    anna.press("#annotator", "Tab")
    assert status(anna).startswith("Export first")
    # the file is opened, but not at the price of the marks
    asked = []
    anna.on("dialog", lambda each: (asked.append(each.message), each.accept() if len(asked) == 1 else each.dismiss()))
    take(anna, older, "Nothing was imported.")
    assert "The sheet of \u201cCleo\u201d (1 mark" in asked[1]
    assert (anna.input_value("#annotator"), anna.is_checked("#none-0")) == ("Cleo", True)


def test_when_there_is_no_room_the_oldest_goes_only_if_one_agrees(anna, sample_page, tmp_path):
    anna.evaluate(
        """() => {
            for (let n = 0; n < MOST_EARLIER; n += 1) {
                const items = blank().items;
                items[0].without = [passagesOf(SHEET.items[0].document)[0]];
                archive({ ...sheet(), annotator: `person ${n}`, items }, "filled");
            }
        }"""
    )
    anna.check("#none-0")
    asked = answer(anna, agrees=False)
    value = sample_page[1].model_dump(mode="json")
    value["items"][0]["summaries"][0]["none"] = value["items"][0]["summaries"][1]["none"] = True
    path = file_of("Anna", sample_page[1], tmp_path, items=value["items"])
    take(anna, path, "Nothing was imported.")
    assert [question.split(".")[0] for question in asked] == [
        "There is no room for another earlier sheet",
        "The sheet of \u201cAnna\u201d (1 mark, revision 1, " + asked[1].split("revision 1, ")[1].split(".")[0],
    ]
    assert "cannot be kept in this browser" in asked[1]
    assert (anna.evaluate(MARKS), len(earlier(anna))) == (1, 20)


def test_a_revision_or_time_that_is_none_is_refused(anna, sample_page, tmp_path):
    for changes in (
        {"revision": -1},
        {"revision": "3"},
        {"time": "yesterday"},
        {"exports": [{"revision": 1}]},
        {"exports": 3},
    ):
        anna.evaluate("document.getElementById('status').textContent = ''")
        take(
            anna, file_of("Anna", sample_page[1], tmp_path, **changes), "revision or time is none that this page writes"
        )


def state_of(sheet, marks, **changes):
    """A state of a sheet in which some of two passages and a summary are marked."""
    value = sheet.model_dump(mode="json") | {"annotator": "Anna"} | changes
    item = value["items"][0]
    passages = sheet.items[0].passages
    item["without"] = [passages[place].model_dump() for place in (0, 1) if str(place) in marks]
    item["summaries"][0]["none"] = "s" in marks
    return value


def stamp(revision):
    return {"revision": revision, "time": f"2026-03-01T10:00:{revision:02d}Z"}


@pytest.mark.parametrize(
    ("file", "here", "expected"),
    [
        # (marks, revision, revisions exported); marks by their places
        (("0", 1, [1]), ("0", 1, [1]), "same"),
        (("0", 0, []), ("0", 4, [4]), "same"),
        (("0", 4, [4]), ("0", 9, []), "same"),
        (("0", 1, [1]), ("01", 2, [1]), "older"),
        (("0", 1, [1]), ("1", 3, [1]), "older"),
        (("0", 1, []), ("01", 2, []), "older"),
        (("0", 0, []), ("01", 2, []), "older"),
        (("0", 0, []), ("01", 0, []), "older"),
        (("", 0, []), ("01", 2, []), "older"),
        (("1", 3, [1, 3]), ("0", 1, [1]), "newer"),
        (("01", 2, [2]), ("0", 1, []), "newer"),
        (("01", 0, []), ("0", 1, []), "newer"),
        (("01", 0, []), ("0", 0, []), "newer"),
        (("0", 1, [1]), ("", 0, []), "newer"),
        (("0", 1, [1]), ("", 2, [1]), "newer"),
        (("0", 5, [5]), ("1", 5, []), "apart"),
        (("0", 5, [5]), ("1", 9, [9]), "apart"),
        (("0", 9, [9]), ("1", 0, []), "apart"),
        (("0", 0, []), ("1", 0, []), "apart"),
        (("01", 2, [2]), ("0s", 3, [3]), "apart"),
        # fewer marks after more changes: others were taken back there
        (("0", 9, [1, 9]), ("01", 2, [1]), "apart"),
        (("01", 2, [2]), ("0", 9, []), "apart"),
        (("01", 3, [3]), ("0", 3, []), "apart"),
    ],
)
def test_what_a_file_is_to_what_is_here(function_page, sample_page, file, here, expected):
    page, sheet = function_page, sample_page[1]
    states = [
        state_of(sheet, marks, exports=[stamp(each) for each in exports], **(stamp(revision) if revision else {}))
        for marks, revision, exports in (file, here)
    ]
    assert (
        page.evaluate(
            "(texts) => relation(...texts.map((text) => readSheet(text).other))", list(map(json.dumps, states))
        )
        == expected
    )


def test_of_any_two_states_one_is_newer_as_the_other_is_older_and_no_unknown_mark_is_replaced(
    function_page, sample_page
):
    page, sheet = function_page, sample_page[1]
    marks, revisions = ["0", "1", "01", "0s", "01s"], [0, 1, 2]
    states = [(m, r, e) for m, r, e in product(marks, revisions, [[], [1]]) if r or not e]
    texts = [
        json.dumps(state_of(sheet, m, exports=[stamp(n) for n in e], **(stamp(r) if r else {}))) for m, r, e in states
    ]
    relations = page.evaluate(
        """(texts) => {
            const states = texts.map((text) => readSheet(text).other);
            return states.map((file) => states.map((here) => relation(file, here)));
        }""",
        texts,
    )
    turned = {"same": "same", "newer": "older", "older": "newer", "apart": "apart"}
    for a, (file, file_revision, file_exports) in enumerate(states):
        for b, (here, here_revision, here_exports) in enumerate(states):
            assert (relations[a][b] == "same") == (file == here)
            knows = here_revision in file_exports, file_revision in here_exports
            if not all(knows):
                assert relations[b][a] == turned[relations[a][b]], (states[a], states[b])
            if not set(here) <= set(file) and not knows[0]:
                assert relations[a][b] != "newer"


# ---- windows


# a window in a process of its own may hear late of what another one wrote; this one never does
DEAF = """() => {
    const add = window.addEventListener;
    window.addEventListener = (name, ...rest) => name === 'storage' || add.call(window, name, ...rest);
}"""


def open_second(page, *, is_deaf=False):
    second = page.context.new_page()
    if is_deaf:
        second.add_init_script(f"({DEAF})()")
    second.goto(page.url)
    return second


def test_a_window_that_is_behind_overwrites_nothing(anna):
    anna.check("#without-0")
    second = open_second(anna, is_deaf=True)
    anna.check("#without-1")
    anna.check("#none-1")
    anna.wait_for_timeout(100)
    assert not second.is_checked("#without-1")
    second.check("#none-0")
    assert second.evaluate(MARKS) == 4
    anna.reload()
    assert anna.evaluate(MARKS) == 4


def test_marks_of_a_window_without_a_name_are_found_after_a_reload(open_page, sample_page):
    nobody = open_page(sample_page[0])
    second = open_second(nobody)
    second.fill("#annotator", "Anna")
    second.check("#none-0")
    nobody.check("#without-0")
    second.check("#none-1")
    second.reload()
    assert (second.input_value("#annotator"), second.evaluate(MARKS)) == ("Anna", 2)
    assert earlier(second) == [["", 1]]


def test_a_decision_in_a_window_that_is_behind_is_taken_and_shown(anna):
    anna.evaluate("change((old) => addPoint(item(), old, 'document', [{ start: 0, end: 3 }])[0]); render();")
    second = open_second(anna, is_deaf=True)
    anna.check("#none-0")
    anna.wait_for_timeout(100)
    second.evaluate("document.getElementById('omitted-0-0-yes').click()")
    assert second.is_checked("#omitted-0-0-yes")
    assert second.is_checked("#none-0")
    assert second.evaluate(MARKS) == 3


def test_marks_made_in_two_windows_at_the_same_moment_are_all_kept(anna):
    anna.check("#without-0")
    second = open_second(anna)
    second.click("#next")
    second.wait_for_timeout(100)
    moment = anna.evaluate("Date.now()") + 300
    at = """([moment, boxes]) => boxes.forEach((box, n) => setTimeout(
        () => document.getElementById(box).click(), moment + 2 * n - Date.now()))"""
    anna.evaluate(at, [moment, ["without-1", "none-0", "none-1"]])
    second.evaluate(at, [moment, ["without-0", "without-1", "none-0", "none-1"]])
    anna.wait_for_timeout(1000)
    assert [page.evaluate(MARKS) for page in (anna, second)] == [8, 8]
    anna.reload()
    if not anna.evaluate("localStorage.length") and second.evaluate("localStorage.length"):
        # on a busy machine Chromium shows one page in fifty an empty storage, and the next one all of it
        anna.reload()
    assert anna.evaluate(MARKS) == 8


def test_a_decision_on_a_key_point_that_another_window_changed_is_not_taken(anna):
    anna.evaluate("change((old) => addPoint(item(), old, 'document', [{ start: 0, end: 3 }])[0]); render();")
    second = open_second(anna, is_deaf=True)
    anna.click("#remove-document-0")
    anna.wait_for_timeout(100)
    second.evaluate("document.getElementById('omitted-0-0-yes').click()")
    assert "that key point is another one now" in status(second)
    assert second.evaluate(MARKS) == 0


@pytest.mark.parametrize(
    ("one", "two", "expected", "n_lost"),
    [
        ("change((old) => setNone(old, 0, true))", "change((old) => setNone(old, 1, true))", 2, 0),
        ("change((old) => setWithout(old, passagesOf(item().document)[0], true))",
         "change((old) => setWithout(old, passagesOf(item().document)[1], true))", 2, 0),
        # two key points at once have one number: one stands, the other is an earlier sheet
        ("change((old) => addPoint(item(), old, 'document', [{ start: 0, end: 3 }])[0])",
         "change((old) => addPoint(item(), old, 'document', [{ start: 5, end: 6 }])[0])", 1, 1),
        # no key point in the summary, and one of it
        ("change((old) => setNone(old, 0, true))",
         "change((old) => addPoint(item(), old, 0, [{ start: 0, end: 3 }])[0])", 1, 1),
    ],
)  # fmt: skip
def test_what_two_windows_wrote_unseen_is_put_together_or_kept_as_an_earlier_sheet(anna, one, two, expected, n_lost):
    anna.add_init_script(f"({DEAF})()")
    anna.reload()
    second = open_second(anna, is_deaf=True)
    # neither sees the other's writing before its own; each gets the other's text afterwards, as events bring it
    texts = []
    for page, edit in ((anna, one), (second, two)):
        page.evaluate(f"() => {{ const real = catchUp; catchUp = () => false; {edit}; catchUp = real; }}")
        texts.append(page.evaluate("localStorage.getItem(place('sheet'))"))
    for page, text in ((anna, texts[1]), (second, texts[0])):
        page.evaluate("(text) => { takeOver(readSheet(text).other, text); }", text)
    assert anna.evaluate("JSON.stringify(state.items)") == second.evaluate("JSON.stringify(state.items)")
    assert anna.evaluate(MARKS) == expected
    assert len(earlier(anna)) == n_lost


def test_earlier_sheets_fit_and_break_no_rule_of_accessibility(anna, tmp_path):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    anna.check("#without-0")
    older = exported(anna, tmp_path, "older.json")
    anna.check("#without-1")
    take(anna, older, "older")
    anna.evaluate("document.querySelector('#earlier details').open = true")
    for width in (1280, 390):
        anna.set_viewport_size({"width": width, "height": 900})
        assert anna.evaluate(WIDER) == 0
        found = axe.run(anna)
        grave = [each for each in found.response["violations"] if each["impact"] in ("serious", "critical")]
        assert not grave, found.generate_report()
    assert anna.evaluate(f"Boolean(localStorage.getItem(`{KEPT}:${{SHEET.page}}:sheet:Anna`))")
