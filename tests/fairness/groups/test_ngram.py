from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.fairness.groups import Masses, Unscored, ngram_masses, text_masses
from evenhand.fairness.groups.ngram import common_tokens

tokens = st.lists(st.sampled_from("abcdef"), max_size=8)


def test_shared_token_counts_for_each_value_and_each_time():
    # c twice for both, a once for the first, z for none; the sources count all their tokens
    assert ngram_masses([["a", "b", "c"], ["c", "d"]], ["c", "c", "a", "z"]) == Masses((3, 2), (3, 2))


def test_repetition_in_the_source_does_not_count_in_the_summary():
    assert ngram_masses([["a"] * 6, ["b"]], ["a", "b"]) == Masses((6, 1), (1, 1))


def test_overlap_begins_anew_after_an_empty_intersection():
    # {a b} & {b} = {b}; {b} & {c} = {}; begins anew with {c d}: so b stays although two values have it
    values = [["a", "b"], ["b"], ["c"], ["c", "d"]]
    assert common_tokens(values) == {"c", "d"}
    assert ngram_masses(values, ["b", "c"], remove_overlap=True) == Masses((2, 1, 0, 0), (1, 1, 0, 0))


def test_blank_summary_is_unscored():
    assert text_masses(["a", "b"], " \n", str.split) == Unscored("empty summary")


def test_any_function_from_text_to_tokens_will_do():
    assert text_masses(["a b", ""], "b b", str.split) == Masses((2, 0), (2, 0))


@settings(max_examples=60, deadline=None)
@given(st.lists(tokens, min_size=1, max_size=4), tokens)
def test_matches_are_pairs_of_a_summary_token_and_a_value_that_has_it(values, summary):
    found = ngram_masses(values, summary)
    assert sum(found.target) == sum(token in value for token in summary for value in values)
