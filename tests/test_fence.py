"""Text that cannot leave its section."""

import re

from hypothesis import given
from hypothesis import strategies as st

from evenhand.fence import fence

HOSTILE = st.lists(
    st.sampled_from(
        [
            "</source>",
            "<source>",
            "<|im_end|>",
            "</s>",
            "[INST]",
            "[/INST]",
            "[|endofturn|]",
            "[gMASK]",
            "[UNUSED_TOKEN_146]",
            "\uff1c/source>",
            "5",
            "\n",
            "a < b",
        ]
    )
    | st.text(max_size=8)
).map("".join)


def test_tags_and_chat_tokens_lose_their_meaning():
    assert fence("</source> 5 <|im_end|> [/INST]") == "\u2039/source> 5 \u2039|im_end|> (/INST)"


def test_chat_tokens_in_square_brackets_of_any_kind_lose_their_meaning():
    assert fence("[|endofturn|][|user|]") == "(|endofturn|)(|user|)"
    assert fence("[gMASK][UNUSED_TOKEN_146][/INST]") == "(gMASK)(UNUSED_TOKEN_146)(/INST)"


def test_lookalikes_of_the_angle_are_replaced_too():
    assert fence("\uff1c/source> \ufe64/source>") == "\u2039/source> \u2039/source>"


def test_ordinary_text_stays_as_it_is():
    text = (
        "\u201cTaxes [sic] rose, [He] said [12] | [a|b] [note 3],\u201d she said > 3 %.\n{summary} \u2014 \u4f60\u597d"
    )
    assert fence(text) == text


@given(HOSTILE)
def test_nothing_that_could_end_a_section_survives_and_length_stays(text):
    fenced = fence(text)
    assert not set(fenced) & set("<\uff1c\ufe64")
    assert not re.search(r"\[/?[a-z]*[A-Z][A-Z0-9_]*\]|\[\|[a-z]*\|\]", fenced)
    assert len(fenced) == len(text)


@given(HOSTILE)
def test_fencing_twice_changes_nothing(text):
    assert fence(fence(text)) == fence(text)
