"""Names and the sides' words are read off texts, and give way to others without a change of what is covered."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.plugins.judge_studies.exchange import (
    FAMILY_NAMES,
    SideWords,
    names_of,
    side_words,
    without_names,
)

TEXT = (
    "Yesterday the mayor met Quillon in Ostra. She told Quillon's brother that the Senate and Velda agree. Velda left."
)


def test_names_have_a_capital_within_a_sentence_and_no_article_before_them():
    assert list(names_of([TEXT])) == ["Quillon", "Velda"]


@pytest.mark.parametrize("after", ["", "'s", "\u2019s", ",", ".", " said", "\u201d"])
@pytest.mark.parametrize("before", ["and ", "that ", "to ", "by \u201c", "whom (", "then, "])
def test_a_name_is_one_whatever_stands_around_it(before, after):
    assert list(names_of([f"It was said {before}Quillon{after} again."])) == ["Quillon"]


@pytest.mark.parametrize(
    "text",
    [
        "Ferries run. Ferries sink.",
        "the ferry and The Ferry",
        "on a Monday in the May of it",
        "she and I went",
        "\u6e21\u8f6e\u5f88\u4fbf\u5b9c",
        "",
        # in German every noun has a capital
        "Und dann kam ein alter Mann mit seinem Hund durch jenen Wald und die Frau sah ihrem Kind beim Spiel zu. " * 4,
    ],
)
def test_what_tells_no_name_gives_none(text):
    assert names_of([text], but=("left",)) == {}


def test_what_belongs_together_gets_the_same_other_names_that_no_text_has():
    source, summary = without_names(
        [f"Asked, {FAMILY_NAMES[0]} met Quillon and Velda.", "It says Velda met Quillon."], ["Velda", "Quillon"]
    )
    assert source == f"Asked, {FAMILY_NAMES[0]} met {FAMILY_NAMES[2]} and {FAMILY_NAMES[1]}."
    assert summary == f"It says {FAMILY_NAMES[1]} met {FAMILY_NAMES[2]}."


def of_sides(n=8):
    common = "boats and trains run on time"
    left = [("left", f"{common} says welfare union solidarity commons equity tenant{chr(97 + k)}") for k in range(n)]
    return left + [
        ("Right", f"{common} says liberty thrift market heritage order owner{chr(97 + k)}") for k in range(n)
    ]


def test_words_of_a_side_are_those_that_far_more_of_its_documents_use():
    found = side_words(of_sides(), ("left", "right"))
    assert set(found.first) == {"welfare", "union", "solidarity", "commons", "equity"}
    assert set(found.second) == {"liberty", "thrift", "market", "heritage", "order"}
    assert found.lean("Welfare, welfare and thrift") == pytest.approx(1 / 3) and found.lean("boats") == 0.0


@pytest.mark.parametrize(
    "documents",
    [of_sides(5), [("left", text) for _, text in of_sides()], [], [(s, "boats run") for s, _ in of_sides()]],
)
def test_words_of_few_documents_one_side_or_alike_documents_are_not_known(documents):
    assert side_words(documents, ("left", "right")) is None


@settings(max_examples=50, deadline=None)
@given(st.text(max_size=60), st.permutations(["union", "equity", "thrift", "market"]))
def test_exchanged_twice_a_text_is_as_it_was(text, mine):
    words = SideWords(tuple(mine[:2]), tuple(mine[2:]))
    whole = f"{text} {' '.join(mine)} Union, THE market's equity"
    assert words.exchanged(words.exchanged(whole)) == whole and words.lean(words.exchanged(whole)) == -words.lean(whole)
