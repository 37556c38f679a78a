"""Content tokens."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.fairness.content_tokens import content_tokens, share_borderless


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", []),
        ("see WWW.example.org/a?b=c and HTTP://x.y now", []),
        ("the mayor\u2019s dogs' bowls", ["mayor", "dogs", "bowls"]),
        ("they won't, we're, I'd, she'll, you've, I'm", []),
        ("word\u00b9 10\u00b2 \u00bd", ["word"]),
        ("a1b 42 snake_case x", ["snake", "case"]),
        ("@some_one said#tag", ["said", "tag"]),
        ("Straße STRASSE", ["strasse", "strasse"]),
        # an accent of its own; vowel signs; joiners, with and without; two letters a token where words have no borders
        ("cafe\u0301 caf\u00e9", ["caf\u00e9", "caf\u00e9"]),
        ("करों में वृद्धि", ["करों", "में", "वृद्धि"]),
        ("שָׁלוֹם עוֹלָם", ["שָׁלוֹם", "עוֹלָם"]),
        ("क\u094d\u200dष कर", ["क\u094dष", "कर"]),
        ("税太高。AI技术", ["税太", "太高", "ai", "技术"]),
        ("タワーへ", ["タワ", "ワー", "ーへ"]),
        ("ที่ดี", ["ที่ดี"]),
        ("\u00c9lan \u041c\u043e\u0441\u043a\u0432\u0430", ["\u00e9lan", "\u043c\u043e\u0441\u043a\u0432\u0430"]),
    ],
)
def test_what_counts_as_content(text, tokens):
    assert content_tokens(text) == tokens


@given(st.text())
def test_tokens_are_their_own_content_tokens(text):
    tokens = content_tokens(text)
    assert content_tokens(" ".join(tokens)) == [again for token in tokens for again in content_tokens(token)]
    assert all(len(token) > 1 and not token.endswith("n't") for token in tokens)


@given(st.text(st.characters(codec="ascii")) | st.lists(st.sampled_from("aS'. @/")).map("".join))
def test_plain_english_is_read_by_the_rules_of_all_scripts(text):
    # a dash behind it, which is no token, has them read it
    assert content_tokens(text) == content_tokens(f"{text} \u2014")


def test_letters_of_scripts_without_borders_are_counted():
    # three of six letters; digits and punctuation are none
    assert share_borderless(["税太高。", "abc 12!"]) == 0.5
    assert share_borderless(["한국어"]) == 0
    assert share_borderless(["12!"]) == 0
