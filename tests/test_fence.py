"""Text that cannot forge a section of a prompt."""

import re
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import evenhand
from evenhand.fence import BREAK, SECTIONS, broken, fence, flat, sections_of

HOSTILE = st.lists(
    st.sampled_from(
        ["</source>", "<summary>", "\uff1c/source>", "< / TASK", "<\u200b/sum\u00admary", "<<", "5", "\n", "a < b"]
    )
    | st.text(max_size=8)
).map("".join)
TAGS = re.compile(r"<\s*(/\s*)?(source|summary|task)\b", re.IGNORECASE)


def test_tags_of_sections_are_broken_by_a_dot():
    assert fence("</source> 5 <answer number='2'>") == f"<{BREAK}/source> 5 <{BREAK}answer number='2'>"


def test_tags_are_found_however_they_are_written():
    assert fence("\uff1c/source> \ufe64 / SUMMARY<\u200bta\u0301sk>") == (
        f"\uff1c{BREAK}/source> \ufe64{BREAK} / SUMMARY<{BREAK}\u200bta\u0301sk>"
    )


def test_tags_that_a_prompt_of_the_users_has_are_broken_too():
    assert fence("</docs> </b>") == "</docs> </b>"
    assert fence("</docs> </b>", ["docs"]) == f"<{BREAK}/docs> </b>"


def test_ordinary_text_stays_as_it_is():
    text = (
        "\u201cTaxes [sic] rose, [He] said [12] | [a|b] [NATO],\u201d she said > 3 %, 2 < 3, <3.\n<b>{summary}</b> "
        "<sourced> \u2014 \u4f60\u597d, e\u0301t\u00e9, \ufb01n"
    )
    assert fence(text) == text


def test_a_mark_that_begins_inside_another_one_is_broken_too():
    assert broken("[a[ab]b]", re.compile(r"\[a\[ab|\[ab")) == f"[{BREAK}a[{BREAK}ab]b]"


@given(HOSTILE)
def test_no_tag_survives_any_reading_and_nothing_else_changes(text):
    fenced = fence(text)
    assert not TAGS.search(flat(fenced))
    assert fenced.replace(BREAK, "") == text.replace(BREAK, "")


@given(HOSTILE)
def test_fencing_twice_changes_nothing(text):
    assert fence(fence(text)) == fence(text)


@pytest.mark.parametrize(
    "text", ["<" + " " * 100_000, "<" * 100_000, "< / " * 50_000, "\u0301" * 100_000 + "</source>"]
)
def test_long_texts_take_time_in_proportion(text):
    started = time.process_time()
    fence(text)
    assert time.process_time() - started < 2


def test_sections_are_those_of_all_shipped_prompts_and_of_the_quotes_in_the_code():
    root = Path(evenhand.__file__).parent
    prompts = [
        path.read_text() for folder in ("generate", "judges") for path in (root / folder / "prompts").rglob("*.txt")
    ]
    quoted = [
        name for path in (root / "generate").rglob("*.py") for name in re.findall(r'section\("(\w+)"', path.read_text())
    ]
    assert {name for text in prompts for name in sections_of(text)}.union(quoted) == SECTIONS
