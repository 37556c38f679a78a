import pytest

from evenhand.errors import DataError
from evenhand.fairness.demographic.inputs import AnnotatedDocument, build_template


def template(
    words: str, chains: dict[str, list[tuple[int, int]]], persons: list[tuple[int, int]], meta=None, **options
):
    """Each entity as id -> (first name, last name, mentions, gendered)."""
    document = AnnotatedDocument.model_validate({
        "tokens": [{"text": word} for word in words.split()],
        "chains": [
            {"id": name, "mentions": [{"start": s, "end": e} for s, e in spans]} for name, spans in chains.items()
        ],
        "named_entities": [{"start": s, "end": e, "label": "PERSON"} for s, e in persons],
        "meta": meta or {},
    })  # fmt: skip
    return {
        entity.id: (
            entity.first_name, entity.last_name, [(m.start, m.end, m.kind) for m in entity.mentions], entity.gendered,
        )
        for entity in build_template(document, **options)
    }  # fmt: skip


def test_pronoun_in_nested_mentions_of_one_chain_is_listed_once():
    # outer mention: "Rolf Vey , who loved his mother"; inner: "his"
    found = template("Rolf Vey , who loved his mother", {"c": [(0, 7), (5, 6)]}, [(0, 2)])
    assert found == {"c": ("Rolf", "Vey", [(0, 2, "full_name"), (5, 6, "pron_poss")], True)}


def test_pronoun_without_a_mention_of_its_own_belongs_to_the_innermost_around_it():
    found = template("Rolf Vey and his dog", {"c": [(0, 5)]}, [(0, 2)])
    assert found["c"][2] == [(0, 2, "full_name"), (3, 4, "pron_poss")]


def test_title_inside_another_chains_mention_belongs_to_the_name_after_it():
    # "Mrs. Quill" is a singleton within the long mention of c, which names Ivo
    found = template("Mrs. Quill 's son Ivo Vey", {"c": [(0, 6)]}, [(1, 2), (4, 6)])
    assert found["NE_0"] == (None, "Quill", [(0, 1, "title"), (1, 2, "last_name")], True)
    assert found["NE_1"] == ("Ivo", "Vey", [(4, 6, "full_name")], True)


def test_title_before_a_name_is_nobody_elses():
    # c's long mention holds two names, so it keeps none and is plain; its title stands before the name of another
    found = template("Mrs. Quill 's son Ivo ; Ivo Vey left", {"c": [(0, 5), (6, 8)]}, [(1, 2), (4, 5), (6, 8)])
    assert found["c"] == ("Ivo", "Vey", [(6, 8, "full_name")], True)
    assert found["NE_0"][2] == [(0, 1, "title"), (1, 2, "last_name")]


def test_name_in_another_persons_span_is_not_taken():
    # Rufus is no mention of c, though his last name stands in a mention of c and is c's last name too
    found = template("Ida and Rufus Vey sang ; Vey left", {"c": [(0, 4), (6, 7)]}, [(0, 1), (2, 4), (6, 7)])
    assert found["c"][2] == [(6, 7, "last_name")]
    assert found["NE_1"][2] == [(2, 4, "full_name")]


def test_honorific_alone_makes_an_entity_gendered():
    assert template("Sir Quill spoke", {}, [(1, 2)]) == {
        "NE_0": (None, "Quill", [(0, 1, "honorific"), (1, 2, "last_name")], True)
    }


def test_title_inside_the_span_is_a_mention_of_its_own():
    assert template("Mr. Quill spoke", {}, [(0, 2)])["NE_0"][2] == [(0, 1, "title"), (1, 2, "last_name")]


def test_entities_come_in_order_of_first_mention():
    # b is listed first, a is mentioned first
    found = template("He met Ida Orr , said Ivo Vey", {"b": [(2, 4)], "a": [(6, 8), (0, 1)]}, [(2, 4), (6, 8)])
    assert list(found) == ["a", "b"]


def test_name_in_a_plain_mention_of_the_chain_is_found():
    # the second mention has no PERSON span, but holds the last name
    found = template("Ivo Vey spoke ; young Vey left", {"c": [(0, 2), (4, 6)]}, [(0, 2)])
    assert found["c"][2] == [(0, 2, "full_name"), (5, 6, "last_name")]


def test_unnamed_chains_are_persons_only_on_request_and_only_when_a_gendered_word_mentions_them():
    words, chains = "the coach said he saw the farm and its owner", {"c": [(0, 2), (3, 4)], "f": [(5, 7), (8, 9)]}
    assert template(words, chains, []) == {}
    assert template(words, chains, [], include_unnamed=True) == {"c": (None, None, [(3, 4, "pron_nom")], True)}


def test_entity_that_nothing_mentions_is_dropped():
    assert template("the widow spoke", {}, [(0, 2)]) == {}


def test_drafts_with_unresolved_pronouns_are_refused_unless_allowed():
    meta = {"source": "draft", "unresolved": [1]}
    with pytest.raises(DataError, match=r"tokens \[1\] belong to no chain"):
        template("Vey he", {}, [(0, 1)], meta)
    assert list(template("Vey he", {}, [(0, 1)], meta, allow_unresolved=True)) == ["NE_0"]
