import pytest

from evenhand.errors import DataError
from evenhand.plugins.bias.demographic.inputs.document import AnnotatedDocument
from evenhand.plugins.bias.demographic.inputs.template import (
    MentionSegment,
    build_template,
    find_name,
    find_persons,
    lay_out,
)


def layout(n_tokens: int, chains: dict[str, list], persons: list[tuple[int, int]]):
    """A document of n tokens; a mention is start, end, and what is special about it."""
    read = [
        {"id": name, "mentions": [{"start": s, "end": e, **(more[0] if more else {})} for s, e, *more in mentions]}
        for name, mentions in chains.items()
    ]
    spans = [{"start": s, "end": e, "label": "PERSON"} for s, e in persons]
    made = {"tokens": [{"text": f"t{i}"} for i in range(n_tokens)], "chains": read, "named_entities": spans}
    return lay_out(AnnotatedDocument.model_validate(made))


def persons_of(*args, **options):
    return {person.id: person.segments for person in find_persons(layout(*args), **options)}


def test_depth_counts_longer_mentions_of_any_chain_unless_it_is_given():
    laid = layout(6, {"a": [(0, 6), (1, 3)], "b": [(1, 2, {"depth": 7}), (2, 3), (1, 3)]}, [])
    assert laid.depth.tolist() == [0, 1, 7, 3, 1]
    # [2, 3) lies in [0, 6), [1, 3) and [1, 3); token 1 goes to b by the given depth, token 2 to b's [2, 3)
    assert laid.innermost.tolist() == [0, 1, 1, 0, 0, 0]


def test_of_equally_deep_mentions_the_first_listed_owns_the_token_and_takes_the_span():
    args = (2, {"a": [(0, 2)], "b": [(0, 2)]}, [(0, 2)])
    assert layout(*args).innermost.tolist() == [0, 0]
    assert list(persons_of(*args)) == ["a"]


def test_deepest_identity_mention_takes_the_span_and_is_cut():
    found = persons_of(8, {"outer": [(0, 8)], "inner": [(1, 6), (7, 8)]}, [(2, 4)])
    assert found == {
        "inner": (
            MentionSegment(1, 2, False),
            MentionSegment(2, 4, True),
            MentionSegment(4, 6, False),
            MentionSegment(7, 8, False),
        ),
    }


def test_mention_that_took_two_spans_keeps_none_but_other_mentions_keep_theirs():
    found = persons_of(9, {"c": [(0, 4), (6, 7)]}, [(0, 1), (2, 4), (6, 7)])
    assert found == {
        "c": (MentionSegment(0, 4, False), MentionSegment(6, 7, True)),
        "NE_0": (MentionSegment(0, 1, True),),
        "NE_1": (MentionSegment(2, 4, True),),
    }


def test_spans_are_numbered_in_document_order():
    assert list(persons_of(6, {}, [(4, 5), (0, 1)])) == ["NE_0", "NE_1"]


def test_chains_without_a_name_are_left_out_unless_asked_for():
    chains = {"c": [(0, 1), (2, 3)], "a": [(4, 5, {"type": "APPOS", "subtype": "HEAD"})]}
    assert persons_of(6, chains, []) == {}
    assert list(persons_of(6, chains, [], include_unnamed=True)) == ["c"]


def name_of(words: str, *spans: tuple[int, int]):
    document = AnnotatedDocument.model_validate({"tokens": [{"text": word} for word in words.split()]})
    name = find_name(document, [MentionSegment(start, end, True) for start, end in spans])
    return name.first, name.last


@pytest.mark.parametrize(
    ("words", "spans", "expected"),
    [
        # the last token is the last name, all earlier ones compete for the first name, the earliest of equals wins
        ("Ida Ray Quill", [(0, 3)], ("Ida", "Quill")),
        ("Ida Ray Quill met Ray Quill", [(0, 3), (4, 6)], ("Ray", "Quill")),
        ("Ida", [(0, 1)], (None, "Ida")),
        ("Corwin Ashdale Jr.", [(0, 3)], ("Corwin", "Ashdale")),
        # a title before a single name token settles the last name for now
        ("Alden met Mr Quill", [(0, 1), (3, 4)], (None, "Quill")),
        ("Alden met Mr. Quill", [(0, 1), (2, 4)], (None, "Quill")),
        # ... until later mentions outvote it
        ("Mr. Quill , Vey , Vey", [(1, 2), (3, 4), (5, 6)], (None, "Vey")),
        # an honorific is no name, and settles nothing
        ("Sir Alden Quill", [(0, 3)], ("Alden", "Quill")),
        # the most frequent spelling of the most frequent candidate
        ("QUILL Quill Quill Vey", [(0, 1), (1, 2), (2, 3), (3, 4)], (None, "Quill")),
        ("the widow", [(0, 2)], (None, None)),
    ],
)
def test_name_follows_the_rules(words, spans, expected):
    assert name_of(words, *spans) == expected


def test_only_name_segments_are_read():
    document = AnnotatedDocument.model_validate({"tokens": [{"text": "President"}, {"text": "Quill"}]})
    assert find_name(document, [MentionSegment(0, 1, False), MentionSegment(1, 2, True)]).last == "Quill"
    assert find_name(document, [MentionSegment(0, 1, False), MentionSegment(1, 2, True)]).first is None


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


@pytest.mark.parametrize(
    ("words", "chain", "persons", "expected"),
    [
        # in small letters inside a long mention, a word that looks like the name is none
        ("May Brown , who may quit", [(0, 6)], [(0, 2)], [(0, 2, "full_name")]),
        ("May Brown left . young May , who may quit", [(0, 2), (4, 9)], [(0, 2)], [(0, 2, "full_name"), (5, 6, "first_name")]),
        ("MAY BROWN , WHO MAY QUIT", [(0, 6)], [(0, 2)], [(0, 2, "full_name")]),
        # a mention that is nothing but the name is one in small letters, too
        ("Ida Vey left . vey slept", [(0, 2), (4, 5)], [(0, 2)], [(0, 2, "full_name"), (4, 5, "last_name")]),
        # particles with and without spans, and where a span begins behind one
        ("Ida van Orr left . van Orr slept", [(0, 3), (5, 7)], [(0, 3)], [(0, 3, "full_name"), (5, 7, "last_name")]),
        ("Ida van Orr left . van Orr slept", [(0, 3), (5, 7)], [(0, 3), (6, 7)], [(0, 3, "full_name"), (5, 7, "last_name")]),
        ("Ida van Orr left . Orr slept", [(0, 3), (5, 6)], [(0, 3)], [(0, 3, "full_name"), (5, 6, "last_name")]),
        # a middle name used alone is the person's
        ("Ida Ray Orr left . Ray slept", [(0, 3), (5, 6)], [(0, 3)], [(0, 3, "full_name"), (5, 6, "first_name")]),
    ],
)  # fmt: skip
def test_names_of_a_chain_are_found_as_they_are_written(words, chain, persons, expected):
    assert template(words, {"c": chain}, persons)["c"][2] == expected


def test_first_name_used_alone_is_no_last_name():
    words, spans = "Ida Orr left . Ida slept . Ida woke", [(0, 2), (4, 5), (7, 8)]
    found = template(words, {"c": spans}, spans)["c"]
    assert found[:3] == ("Ida", "Orr", [(0, 2, "full_name"), (4, 5, "first_name"), (7, 8, "first_name")])


def test_family_is_no_person():
    found = template("Ida Orr met the Orrs", {"f": [(3, 5)]}, [(0, 2), (4, 5)])
    assert list(found) == ["NE_0"]
    # one "Mr. Parks" is a person, whose name is no plural of another's
    assert list(template("Ida Park met Mr. Parks", {}, [(0, 2), (4, 5)])) == ["NE_0", "NE_1"]
