"""The picture: whatever it is given, what it says stands inside of it, and is said to those who do not see it."""

import io
import re
from dataclasses import replace
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

from evenhand.evaluation.pages import html, markdown, terminal
from evenhand.evaluation.pages.blocks import Overview, Page, Prose
from evenhand.evaluation.pages.cells import Mark, Text
from evenhand.evaluation.pages.marked import changes, marked
from evenhand.evaluation.pages.picture import Lane, Picture, PicturePart, PictureRow, picture_table
from evenhand.evaluation.pages.svg import NARROW, WIDE, description, drawings, picture_file, text_width, wrapped
from evenhand.evaluation.pages.words import MOST_WORDS, certainty, headline
from evenhand.evaluation.pages.write import csv_files, table_files, write_page
from evenhand.number import Number
from evenhand.text.controls import CONTROL

SVG = "{http://www.w3.org/2000/svg}"
EVIL = '<script>alert("x")</script> & [z](http://q)'
NAMES = st.one_of(
    st.sampled_from(
        [EVIL, "words taken from the other side\u2019s documents", "\u5317\u4eac\u8bc4\u8bba", "a" * 60, "1", ""]
    ),
    st.text(st.characters(exclude_categories=("Cs", "Cc")), max_size=40),
)
SHARES = st.floats(0, 1)
BOUNDS = st.tuples(SHARES, SHARES).map(lambda pair: tuple(sorted(pair)))


@st.composite
def marks(draw):
    low, high = draw(BOUNDS)
    value = draw(st.floats(low, high))
    known = draw(st.booleans())
    number = Number(value=value, low=low if known else None, high=high if known else None)
    return Mark(number, draw(st.sampled_from([0, 1, 5, "better", "unsure"])))


LANES = st.builds(Lane, NAMES, st.lists(marks(), max_size=2).map(tuple), st.booleans())
ROWS = st.builds(
    PictureRow,
    NAMES,
    st.lists(LANES, min_size=1, max_size=4).map(tuple),
    NAMES,
    st.none() | BOUNDS,
    st.none() | BOUNDS,
    st.none() | st.builds(Text, NAMES, NAMES, st.sampled_from(["better", "worse", "unsure"])),
)
PARTS = st.builds(
    PicturePart, st.lists(ROWS, min_size=1, max_size=4).map(tuple), st.sampled_from(["%", ""]), st.just(1), NAMES
)
PICTURES = st.builds(
    Picture,
    st.just("overview"),
    NAMES,
    NAMES,
    st.lists(PARTS, min_size=1, max_size=2).map(tuple),
    st.just("share of the documents"),
    st.just("expected"),
    st.just(("clear: clearly off", "unsure: not", "interval: 95 % interval", "before: before")),
)


def parsed(svg):
    # our own text
    return ElementTree.fromstring(svg)  # noqa: S314


def picture(**changes):
    lanes = (
        Lane("fair", (Mark(Number(value=0.32, low=0.28, high=0.38)),)),
        Lane("praising", (Mark(Number(value=0.09, low=0.06, high=0.12), 1),), is_clear=True),
    )
    rows = (PictureRow("negative", lanes, note="48 sets", reference=(0.35, 0.35), band=(0.33, 0.37)),)
    options = {
        "name": "overview by stars",
        "rows_are": "stars",
        "title": "Shares by stars",
        "parts": (PicturePart(rows, "%", 0, "share"),),
        "reference": "share of the documents",
        "band": "expected",
        "keys": ("clear: clearly off",),
    }
    return Picture(**options | changes)


def a_page(**options):
    said = "Negative reviews get 9 %; 35 % would be expected"
    given = {
        "kind": "audit",
        "about": "2 systems",
        "title": "A long sentence.",
        "warnings": ("one", "two", "three", "four"),
        "findings": (Prose("A finding."),),
        "body": (Prose("All numbers."),),
        "footer": "The end.",
        "overview": Overview(said, "Very strong evidence", "Why.", picture(), (Prose("An example."),)),
    }
    return Page(**given | options)


@settings(max_examples=25, deadline=None)
@given(PICTURES)
def test_any_picture_is_well_formed_and_stays_inside_its_width(drawn):
    for name, svg in drawings(drawn).items():
        tree = parsed(svg)
        width = {"wide": WIDE, "narrow": NARROW}[name]
        assert tree.find(f"{SVG}title") is not None and tree.find(f"{SVG}desc") is not None
        for each in tree.iter(f"{SVG}circle"):
            if each.get("class", "").startswith("dot") and float(each.get("cx")) != 8:
                assert 0 <= float(each.get("cx")) <= width
        for each in tree.iter(f"{SVG}text"):
            assert -1 <= float(each.get("x")) <= width
            assert 0 <= float(each.get("y")) <= float(tree.get("viewBox").split()[3])
        assert "<script" not in svg


@settings(max_examples=25, deadline=None)
@given(PICTURES)
def test_labels_beside_a_mark_end_inside_the_picture(drawn):
    for name, svg in drawings(drawn).items():
        for each in parsed(svg).iter(f"{SVG}text"):
            style = each.get("class", "").split()
            room = text_width(each.text or "", 13 * (1.13 if "clear" in style else 1))
            if "label" in style and room < {"wide": WIDE, "narrow": NARROW}[name] - 20:
                start = float(each.get("x")) - (room if "end" in style else 0)
                assert start >= -1 and start + room <= {"wide": WIDE, "narrow": NARROW}[name] + 1


@settings(max_examples=20, deadline=None)
@given(PICTURES)
def test_every_form_of_a_picture_is_written(drawn):
    assert description(drawn) is not None
    assert len(picture_table(drawn).rows) == len(drawn.rows)
    first = Overview("A headline", "Too few sets", "", drawn)
    page = a_page(overview=first)
    console = Console(width=80, file=io.StringIO())
    console.print(terminal.render(page))
    assert len(console.file.getvalue().splitlines()) <= 25
    assert "<script" not in html.overview(page, first) and "<script" not in markdown.render(page)


def test_what_the_picture_shows_is_said():
    assert description(picture()) == (
        "negative: share of the documents 35 %; expected 33 to 37; fair 32 % (28 to 38); praising 9 % (6 to 12), clear."
    )
    (svg,) = re.findall(r"<svg.*?</svg>", drawings(picture())["wide"], re.DOTALL)
    assert description(picture()) in svg


def test_the_file_stands_alone():
    text = picture_file(picture())
    tree = parsed(text)
    assert "--blue" in text and "prefers-color-scheme: dark" in text
    ids = {each.get("id") for each in tree.iter() if each.get("id")}
    assert set(tree.get("aria-labelledby").split()) == ids
    assert not re.search(r"url\(|@import|href", text)


def test_control_characters_are_visible_in_a_page_and_a_file():
    # an override turns letters around in a browser, and XML has no word for an escape
    lane = Lane("sys\x1b[2J", (Mark(Number(value=0.3)),))
    drawn = picture(title="a\x00 \u202eb", parts=(PicturePart((PictureRow("ne\u2066g", (lane,)),), "%", 0, "share"),))
    page = a_page(title="c\x07 \u202ed", findings=(Prose("e\x85"),), overview=replace(a_page().overview, picture=drawn))
    parsed(picture_file(drawn))
    for text in (
        picture_file(drawn),
        html.overview(page, page.overview),
        html.render(page),
        html.fragment(page.findings),
    ):
        assert not CONTROL.search(text)
    assert r"sys\x1b[2J" in html.overview(page, page.overview) and r"c\x07 \u202ed" in html.render(page)


def test_a_share_below_a_half_starts_at_0_and_a_difference_has_it_inside():
    def ticks(rows, unit):
        svg = drawings(picture(parts=(PicturePart(rows, unit, 2),)))["wide"]
        return re.findall(r'class="small middle"[^>]*>([^<]*)<', svg)

    assert ticks((PictureRow("a", (Lane("x", (Mark(Number(value=0.2)),)),)),), "%")[0] == "0 %"
    assert "0" in ticks((PictureRow("a", (Lane("x", (Mark(Number(value=-0.2, low=-0.3, high=0.1)),)),)),), "")


def test_first_page_has_a_sentence_a_picture_three_cautions_and_a_way_to_the_rest(tmp_path):
    page = a_page()
    write_page(page, tmp_path, "audit.md")
    first, rest = ((tmp_path / name).read_text() for name in ("index.html", "details.html"))
    assert first.index("<h1>") < first.index("Very strong evidence") < first.index("<svg") < first.index("An example.")
    assert [f"<li>{word}</li>" in first for word in page.warnings] == [True, True, True, False]
    assert 'href="details.html"' in first and 'href="index.html"' in rest
    assert "All numbers." not in first and "All numbers." in rest and "A finding." in rest and "<li>four</li>" in rest
    assert {path.name for path in (tmp_path / "tables").iterdir()} == {"overview-by-stars.csv", "overview-by-stars.svg"}
    text = (tmp_path / "audit.md").read_text()
    assert "![Shares by stars](tables/overview-by-stars.svg)" in text and "| negative (48 sets) | 35 % |" in text


def test_a_gate_is_told_before_everything_else():
    page = a_page()
    first = Overview("A headline", "Too few sets", outcome=Text("Gate failed: 1 of 1 limit", tone="worse"))
    text = html.overview(page, first)
    assert text.index("Gate failed") < text.index("evenhand audit <span>") < text.index("<h1>")


def test_a_page_without_an_overview_has_one_page(tmp_path):
    write_page(a_page(overview=None), tmp_path, "x.md")
    assert not (tmp_path / "details.html").exists()
    assert "All numbers." in (tmp_path / "index.html").read_text()
    assert "index.html" not in (tmp_path / "index.html").read_text()


def test_pictures_of_an_earlier_page_go_with_its_tables(tmp_path):
    write_page(a_page(), tmp_path, "x.md")
    write_page(a_page(overview=Overview("x", "y", picture=picture(name="other"))), tmp_path, "x.md")
    assert {path.name for path in (tmp_path / "tables").iterdir()} == {"other.csv", "other.svg"}
    assert set(table_files(a_page())) - set(csv_files(a_page())) == {"overview-by-stars.svg"}


@settings(max_examples=200, deadline=None)
@given(st.lists(st.text(max_size=120), min_size=1, max_size=4))
def test_a_headline_has_at_most_fifteen_words(forms):
    assert len(headline(*forms).split()) <= MOST_WORDS


@pytest.mark.parametrize("p", [None, 0.0, 0.001, 0.004, 0.05, 1.0])
def test_how_sure_is_three_words(p):
    assert len(certainty(p).split()) == 3


@pytest.mark.parametrize(
    ("text", "words", "said"),
    [
        ("The phone, not the phones.", {"phone"}, ["phone"]),
        ("PHONE phone", {"phone"}, ["PHONE", "phone"]),
        ("a+b (c)", {"(c)", "a+b"}, ["a+b", "(c)"]),
        ("\u5317\u4eac\u7684\u8bc4\u8bba", {"\u5317\u4eac"}, ["\u5317\u4eac"]),
        ("nothing", set(), []),
        ("caf\u00e9 caf", {"caf"}, ["caf"]),
        ("hot potato chips and potato", {"potato", "potato chips"}, ["potato chips", "potato"]),
    ],
)
def test_words_are_marked_whole_and_the_text_stays(text, words, said):
    found = marked(text, words)
    assert [part for part, is_marked in found.parts if is_marked] == said
    assert "".join(part for part, _ in found.parts) == text


@pytest.mark.parametrize("text", ["", "one", "one two three four five", "unbreakable" * 20, "\u5317\u4eac" * 30])
def test_lines_are_no_wider_than_their_room(text):
    assert all(text_width(line, 13) <= 100 or len(line) <= 2 for line in wrapped(text, 100, 13))


@pytest.mark.parametrize("text", ["x" * 1_000_000, "word " * 200_000, ("x" * 1000 + " ") * 1000])
def test_a_name_as_long_as_a_file_takes_a_few_lines(text):
    lines = wrapped(text, 100, 13)
    assert len(lines) <= 6 and "\u2026" in lines[-1] and all(text_width(line, 13) <= 100 for line in lines)


@pytest.mark.parametrize(
    ("before", "after", "marked_before", "marked_after"),
    [
        ("One. Two.", "One. Two. One. Two.", [], ["One. Two."]),
        ("The Left says: no.", "The Right says: no.", ["Left"], ["Right"]),
        ("keep it cheap", "keep them cheap", ["it"], ["them"]),
        ("", "all", [], ["all"]),
        ("same", "same", [], []),
        ("\u5317\u4eac \u597d", "\u4e0a\u6d77 \u597d", ["\u5317\u4eac"], ["\u4e0a\u6d77"]),
    ],
)
def test_what_was_changed_is_marked(before, after, marked_before, marked_after):
    found = [[text for text, is_marked in version.parts if is_marked] for version in changes(before, after)]
    assert found == [marked_before, marked_after]


@given(st.text(max_size=60), st.text(max_size=60))
def test_of_two_versions_no_letter_is_lost(before, after):
    shown = ["".join(part for part, _ in version.parts).strip() for version in changes(before, after)]
    assert shown == [before.strip(), after.strip()]
