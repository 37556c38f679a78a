from evenhand.fairness.demographic.inputs import AnnotatedDocument
from evenhand.fairness.demographic.inputs.linking import Segment, find_persons, lay_out


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
        "inner": (Segment(1, 2, False), Segment(2, 4, True), Segment(4, 6, False), Segment(7, 8, False)),
    }


def test_mention_that_took_two_spans_keeps_none_but_other_mentions_keep_theirs():
    found = persons_of(9, {"c": [(0, 4), (6, 7)]}, [(0, 1), (2, 4), (6, 7)])
    assert found == {
        "c": (Segment(0, 4, False), Segment(6, 7, True)),
        "NE_0": (Segment(0, 1, True),),
        "NE_1": (Segment(2, 4, True),),
    }


def test_spans_are_numbered_in_document_order():
    assert list(persons_of(6, {}, [(4, 5), (0, 1)])) == ["NE_0", "NE_1"]


def test_chains_without_a_name_are_left_out_unless_asked_for():
    chains = {"c": [(0, 1), (2, 3)], "a": [(4, 5, {"type": "APPOS", "subtype": "HEAD"})]}
    assert persons_of(6, chains, []) == {}
    assert list(persons_of(6, chains, [], include_unnamed=True)) == ["c"]
