"""Which texts are run together."""

from hypothesis import given
from hypothesis import strategies as st

from evenhand.judges.measures.neural import in_batches, in_flight

PAIRS = st.lists(st.tuples(st.sampled_from("abcd"), st.sampled_from("stuv")), unique=True)
LENGTHS = {text: n for n, text in enumerate("abcdstuv", start=1)}


@given(PAIRS, st.integers(1, 40))
def test_parts_hold_all_pairs_in_order_and_few_tokens(pairs, most):
    parts = list(in_flight(pairs, LENGTHS, most))
    assert [pair for part in parts for pair in part] == pairs
    for part in parts:
        assert len(part) == 1 or sum(LENGTHS[text] for text in {text for pair in part for text in pair}) <= most


def test_a_text_counts_once_for_all_of_its_pairs():
    # a 1, b 2, s 5: 8 tokens in both pairs
    assert list(in_flight([("a", "s"), ("b", "s")], LENGTHS, 8)) == [[("a", "s"), ("b", "s")]]
    assert list(in_flight([("a", "s"), ("b", "s")], LENGTHS, 7)) == [[("a", "s")], [("b", "s")]]


def test_texts_of_like_length_stand_together_once():
    texts = ["four", "a", "three", "a", "bb"]
    assert list(in_batches(texts, lambda text: (len(text),), 2)) == [["a", "bb"], ["four", "three"]]
