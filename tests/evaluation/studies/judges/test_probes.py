"""Interventions change one thing and keep the points of a summary."""

import pytest

from evenhand.corpora.controlled import ControlledSet
from evenhand.plugins.judge_studies.probes import (
    OF_WORDS,
    ORDERS,
    VARIANTS,
    Exchanges,
    neutral,
    places,
    told_by,
    variant_id,
    variants,
)


def make_set(**changes):
    values = {
        "id": "ferry", "topic": "ferry", "side": "left", "passages": ["Cheap ferries run.", "Nurses need them."],
        "n_key_points": 2, "key_points": ["Cheap.", "Needed."],
        "summaries": [{"text": "Cheap. Nurses.", "relevant": 2}, {"text": "Nurses need.", "relevant": 1}],
    }  # fmt: skip
    return ControlledSet.model_validate(values | changes)


def changed(each, variant, tellers=("left", "right")):
    found = {one.id: one for one in variants([each], Exchanges.of([each], tellers))}
    # neither names nor words of the sides are in so little
    assert len(found) == len(VARIANTS) - len(OF_WORDS)
    return found[variant_id(each.id, variant)]


def test_every_variant_keeps_the_truths_and_the_plain_one_is_the_set_itself():
    each = make_set()
    assert all(one.truths == each.truths for one in variants([each], Exchanges.of([each], ("left", "right"))))
    assert changed(each, "plain") == each


def test_summaries_are_said_twice():
    assert changed(make_set(), "twice").summaries[1].text == "Nurses need. Nurses need."


def test_the_source_and_the_summary_are_turned_round():
    found = changed(make_set(), "reversed")
    assert found.passages == ("Nurses need them.", "Cheap ferries run.")
    assert found.key_points == ("Needed.", "Cheap.")
    assert found.summaries[0].text == "Nurses. Cheap."


def test_a_single_passage_is_turned_round_by_its_sentences():
    found = changed(make_set(passages=["Cheap ferries run. Nurses need them."]), "reversed")
    assert found.passages == ("Nurses need them. Cheap ferries run.",)


def test_an_order_and_its_neutral_twin_have_the_same_number_of_words():
    each = make_set(summaries=[{"text": "Cheap.", "relevant": 1}] * 12)
    ordered, plain = changed(each, "ordered"), changed(each, "neutral")
    for one, two in zip(ordered.summaries, plain.summaries, strict=True):
        assert len(one.text.split()) == len(two.text.split())
        assert "excellent" in one.text and "excellent" not in two.text
    # by a hash of the place, so that a dozen summaries meet every phrasing
    assert len({one.text for one in ordered.summaries}) == len(ORDERS)


def test_a_long_order_has_as_long_a_twin():
    assert len(neutral("word " * 40).split()) == 40


@pytest.mark.parametrize(
    ("text", "teller", "own", "said"),
    [
        ("The Left wants ferries.", "left", "left", "The Left says: The Left wants ferries."),
        ("The Left fears the RIGHT.", "right", "left", "The Right says: The Right fears the Left."),
        # nobody knows whose text it is, so names stay
        ("The Left wants ferries.", "right", None, "The Right says: The Left wants ferries."),
        # only whole words are names
        ("Leftover rights.", "right", "left", "The Right says: Leftover rights."),
    ],
)
def test_a_text_told_by_the_other_side(text, teller, own, said):
    other = {"left": "right", "right": "left"}[teller]
    assert told_by(text, teller, other, own) == said


def test_places_are_those_of_words_of_one_half_alone():
    # halves: "cheap ferries run", "nurses need them"; the second summary lies wholly in the second half
    assert list(places(make_set())) == [0.0, -1.0]
    assert list(places(changed(make_set(), "reversed"))) == [0.0, 1.0]
    assert list(places(make_set(summaries=[{"text": "Bridges!", "relevant": 0}]))) == [0.0]
