"""Control characters are written visibly, and ordinary texts as they are."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.text.controls import CONTROL, visible

ORDINARY = {
    "lines and columns": "a\n\tb\r\nc",
    "emoji with joiners": "\U0001f469\u200d\U0001f4bb\ufe0f \U0001f468\u200d\U0001f469\u200d\U0001f467",
    "a flag of tags": "\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
    "Arabic with marks of direction": "\u0645\u0631\u062d\u0628\u0627\u200f (\u200eabc\u200e) \u061c\u0662",
    "Persian with a non-joiner": "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",
    "Hindi with joiners": "\u0915\u094d\u200d\u0937 \u0915\u094d\u200c\u0937",
    "Khmer with zero width spaces": "\u1797\u17b6\u179f\u17b6\u200b\u1781\u17d2\u1798\u17c2\u179a",
    "soft hyphens and hard spaces": "Donau\u00addampf\u00a0schiff",
    "a path of Windows": "C:\\x1b\\u202e",
}


@pytest.mark.parametrize("text", ORDINARY.values(), ids=ORDINARY)
def test_ordinary_text_is_unchanged(text):
    assert visible(text) == text


@pytest.mark.parametrize(
    "number", [*range(0x20), *range(0x7F, 0xA0), *range(0x202A, 0x202F), *range(0x2066, 0x206A), 0xDCFF]
)
def test_control_characters_are_written_as_escapes(number):
    if chr(number) in "\n\t":
        return
    shown = visible(f"a{chr(number)}b")
    assert shown.isascii()
    assert shown.isprintable()
    assert shown.encode().decode("unicode_escape") == f"a{chr(number)}b"


@given(st.text(st.characters(codec=None, exclude_categories=())))
def test_what_is_shown_has_no_control_left_and_is_shown_once(text):
    shown = visible(text)
    assert not CONTROL.search(shown)
    assert not {"Cc", "Cs"} & {
        unicodedata.category(each) for each in shown.replace("\r\n", "").translate({9: "", 10: ""})
    }
    assert visible(shown) == shown
