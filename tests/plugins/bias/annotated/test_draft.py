"""Drafting rules on texts whose tokens, tags and persons are given: no model."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.plugins.bias.annotated import TaggedText, draft_document
from evenhand.plugins.bias.demographic.inputs.document import Token

TAGS = {"he": "PRP", "she": "PRP", "him": "PRP", "his": "PRP$", "her": "PRP$"}


def tagged(text):
    """Tokens by blanks; {Name Name} is a PERSON span; a full stop of its own ends a sentence."""
    words, persons, sentence, number = [], [], [], 0
    for word in text.split():
        if word.startswith("{"):
            persons.append(len(words))
        words.append(word.strip("{}"))
        sentence.append(number)
        if word.endswith("}"):
            persons[-1] = (persons[-1], len(words))
        number += word == "."
    tokens = tuple(
        Token(text=word, pos=TAGS.get(word.casefold(), "NNP" if word[0].isupper() else "X")) for word in words
    )
    return TaggedText(tokens=tokens, persons=tuple(persons), sentence=tuple(sentence))


def chains(text):
    """Chains as texts of their mentions, and the words left open."""
    document = draft_document("d", tagged(text))
    words = [token.text for token in document.tokens]
    found = [[" ".join(words[m.start : m.end]) for m in chain.mentions] for chain in document.chains]
    return found, [words[i] for i in document.meta["unresolved"]]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # last name alone, then first name alone
        ("{Ida Vey} came . {Vey} left . {Ida} slept .", [["Ida Vey", "Vey", "Ida"]]),
        # the most recent of two with one last name
        ("{Ida Vey} met {Rolf Vey} . {Vey} left .", [["Ida Vey"], ["Rolf Vey", "Vey"]]),
        # absent first name, then an initial of it, then another first name
        ("{Vey} met {I. Vey} and {Ida Vey} and {Rolf Vey} .", [["Vey", "I. Vey", "Ida Vey"], ["Rolf Vey"]]),
        # suffixes do not count, case does not either
        ("{Ida Vey Jr.} came . {VEY} left .", [["Ida Vey Jr.", "VEY"]]),
        # the mention reaches over one title; titles and a closing 's are no part of the name
        ("{Mrs. Ida Vey} came . Mrs. {Vey 's} mill .", [["Mrs. Ida Vey", "Mrs. Vey"]]),
        ("{Mrs.} said so .", []),
        # titles tell two of one name apart
        ("Mr. {Orr} met Mrs. {Orr} . Mr. {Orr} left .", [["Mr. Orr", "Mr. Orr"], ["Mrs. Orr"]]),
    ],
)
def test_names_are_grouped(text, expected):
    assert chains(text) == (expected, [])


@pytest.mark.parametrize(
    ("text", "linked", "left_open"),
    [
        ("{Ida Vey} sold her mill .", [["Ida Vey", "her"]], []),
        ("{Ida Vey} came . She left .", [["Ida Vey", "She"]], []),
        # two in the sentence, two in the sentence before
        ("{Ida Vey} told {Rolf Orr} she left .", [["Ida Vey"], ["Rolf Orr"]], ["she"]),
        ("{Ida Vey} met {Rolf Orr} . She left .", [["Ida Vey"], ["Rolf Orr"]], ["She"]),
        # nobody near, one person in the document
        ("She left . Snow fell . {Ida Vey} slept .", [["She", "Ida Vey"]], []),
        # a title, and an earlier pronoun, tell the gender
        ("Mr. {Vey} came . She left .", [["Mr. Vey"]], ["She"]),
        ("{Vey} sold his mill . She left .", [["Vey", "his"]], ["She"]),
    ],
)
def test_pronoun_is_linked_to_the_only_person_it_can_mean(text, linked, left_open):
    assert chains(text) == (linked, left_open)


def test_draft_says_that_it_is_one():
    meta = draft_document("d", tagged("{Ida Vey} came .")).meta
    assert meta == {"source": "draft", "reviewed": False, "unresolved": []}


WORDS = st.sampled_from(["{Ida Vey}", "{Rolf Orr}", "{Vey}", "{Mr. Orr}", "she", "his", "her", "met", "."])


@given(st.lists(WORDS, min_size=1, max_size=30))
def test_every_pronoun_is_linked_once_or_open_and_every_name_is_in_one_chain(parts):
    document = draft_document("d", tagged(" ".join(parts)))
    mentioned = [(m.start, m.end) for chain in document.chains for m in chain.mentions]
    assert len(mentioned) == len(set(mentioned))
    pronouns = {i for i, token in enumerate(document.tokens) if token.text in TAGS}
    linked = {start for start, _ in mentioned if start in pronouns}
    assert linked | set(document.meta["unresolved"]) == pronouns
    assert not linked & set(document.meta["unresolved"])
    assert len(mentioned) - len(linked) == len(document.named_entities)
