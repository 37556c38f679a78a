"""Articles of one topic, whatever it is called."""

from itertools import permutations

import pytest

from evenhand.corpora.annotated import AnnotatedArticle
from evenhand.corpora.controlled import topics_of

FERRY, BRIDGE, TAXES = "The ferry is cheap.", "A bridge pays for itself.", "Taxes rise."


def article(name, topic, *passages):
    return AnnotatedArticle(id=name, topic=topic, passages=passages)


@pytest.mark.parametrize(
    ("second", "is_one"),
    [
        (article("b", "Ferries", BRIDGE), True),
        (article("b", " ferries  ", BRIDGE), True),
        (article("b", "Ships", FERRY), True),
        (article("b", "Ships", BRIDGE, "the  FERRY is cheap."), True),
        (article("b", "Fer\u00adries.", BRIDGE), True),
        (article("b", "Ships", "\u201cThe ferry is cheap\u201d"), True),
        (article("b", "Ships", "The ferry is cheap. Very."), False),
        (article("b", "Ships", BRIDGE), False),
        (article("b", "Ferries of the north", BRIDGE), False),
    ],
    ids=["title", "spelling", "same article", "same passage", "signs", "quotes", "more", "another", "a longer title"],
)
def test_one_title_or_one_passage_is_one_topic(second, is_one):
    first = article("a", "Ferries", FERRY)
    assert topics_of([first, second]) == ["Ferries", "Ferries" if is_one else second.topic]
    # a judge that was trained on one of a topic has seen the other
    assert bool(first.marks & second.marks) == is_one


def test_marks_that_judges_of_earlier_versions_have_are_still_marks():
    # sha256 of '{"source":"The ferry is cheap."}' and '{"topic":"ferries"}', by sha256sum
    assert {"a5d7ff2374ffeee3", "1691947dfe998f99"} < article("a", "Ferries", FERRY).marks


def test_topics_are_joined_by_way_of_others_in_any_order():
    # a and c have nothing in common but b
    chain = (article("a", "Ferries", FERRY), article("b", "Ships", FERRY, TAXES), article("c", "Money", TAXES))
    apart = article("d", "Bridges", BRIDGE)
    for order in permutations((*chain, apart)):
        topics = dict(zip((each.id for each in order), topics_of(order), strict=True))
        assert topics["a"] == topics["b"] == topics["c"] != topics["d"]


def test_titles_of_signs_alone_and_no_titles_are_not_one():
    assert topics_of([article("a", "+", FERRY), article("b", "-", BRIDGE)]) == ["+", "-"]
