"""What an encoder learns from annotated articles."""

import numpy as np

from evenhand.corpora.annotated import AnnotatedArticle, Excerpt
from evenhand.plugins.trained_encoders.triples import Triple, triples

LEFT = AnnotatedArticle(
    id="left",
    topic="ferry",
    side="left",
    passages=("The ferry is cheap for all the nurses. It runs at night when nobody else does. Good.",),
    excerpts=(Excerpt(passage=0, text="cheap for all the nurses"),),
    key_points=("The ferry is cheap.",),
)
RIGHT = AnnotatedArticle(
    id="right",
    topic="ferry",
    side="right",
    passages=("The ferry costs the town a fortune. Nurses could drive to work at night.",),
    excerpts=(Excerpt(passage=0, text="costs the town a fortune"),),
    key_points=("The ferry is dear.",),
    adversarial=("The ferry pays for itself.",),
)


def found(*articles):
    return triples(articles, np.random.default_rng(0))


def test_points_have_a_contrary_by_people_or_by_rules_and_a_point_of_the_other_side():
    points = [
        each for each in found(LEFT, RIGHT) if each.near.startswith(("The ferry is cheap.", "The ferry is dear."))
    ]
    assert points == [
        Triple("ferry", "contrary", "cheap for all the nurses", "The ferry is cheap.", "The ferry is not cheap."),
        Triple("ferry", "side", "cheap for all the nurses", "The ferry is cheap.", "The ferry is dear."),
        Triple("ferry", "contrary", "costs the town a fortune", "The ferry is dear.", "The ferry pays for itself."),
        Triple("ferry", "side", "costs the town a fortune", "The ferry is dear.", "The ferry is cheap."),
    ]


def test_passages_alone_give_arguments_against_the_nearest_words_of_the_other_side():
    plain = [each.model_copy(update={"excerpts": (), "key_points": (), "adversarial": None}) for each in (LEFT, RIGHT)]
    arguments = [each for each in found(*plain) if each.kind == "argument"]
    first, night = "The ferry is cheap for all the nurses.", "It runs at night when nobody else does."
    # "Good." is too short to argue; "the ferry" is in the other side's first sentence, "nurses" in its second
    assert [(each.text, each.near, each.far) for each in arguments] == [
        (first, night, "The ferry costs the town a fortune."),
        ("The ferry costs the town a fortune.", "Nurses could drive to work at night.", first),
    ]
    assert {each.kind for each in found(plain[0])} == {"negation"}


def test_what_both_sides_say_is_no_argument_of_the_other_side():
    plain = [each.model_copy(update={"excerpts": (), "key_points": (), "adversarial": None}) for each in (LEFT, RIGHT)]
    quoted = "The ferry is cheap for all the nurses, he said."
    theirs = plain[1].model_copy(update={"passages": (f"{quoted} {plain[1].passages[0]}",)})
    of_left = [each for each in found(plain[0], theirs) if each.kind == "argument"][:1]
    assert [each.far for each in of_left] == ["The ferry costs the town a fortune."]
    # nothing else is said there
    assert not [
        each for each in found(plain[0], theirs.model_copy(update={"passages": (quoted,)})) if each.kind == "argument"
    ]


def test_contraries_that_are_not_one_for_each_point_are_not_taken_for_them():
    more = RIGHT.model_copy(update={"adversarial": ("The ferry pays for itself.", "The ferry runs on hope.")})
    assert [each.far for each in found(more) if each.kind == "contrary"] == ["The ferry is not dear."]
    # a side that is not told is no other side
    assert {
        each.kind for each in found(LEFT, RIGHT.model_copy(update={"side": None})) if each.text.startswith("cheap")
    } == {"contrary"}


def test_sentences_without_a_contrary_give_none():
    negations = [each for each in found(RIGHT) if each.kind == "negation"]
    # no rule fits the first sentence
    assert [(each.text, each.near, each.far) for each in negations] == [
        (
            "Nurses could drive to work at night.",
            "The article argues that Nurses could drive to work at night.",
            "The article argues that Nurses could not drive to work at night.",
        )
    ]
